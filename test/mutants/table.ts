/**
 * All planted bugs by name; each area has a file of its own. `run.ts` plays them.
 *
 * The order says which tenth a row belongs to. A name stands once: who merges two areas with one name loses a row, which
 * test/unit/mutants/table.test.ts notices.
 */
import { AFFECTED_BUGS } from './affected.ts';
import { BATCH_BUGS } from './batches.ts';
import { EVIDENCE_BUGS } from './evidence.ts';
import { EXPLAIN_BUGS } from './explain.ts';
import { HALT_BUGS } from './halts.ts';
import { INTERLOCK_BUGS } from './interlock.ts';
import { QUIET_BUGS } from './quiet.ts';
import { ALARM_BUGS } from './alarms.ts';
import { CLAIM_BUGS } from './claims.ts';
import { BOUNDS_BUGS } from './bounds.ts';
import { COLUMN_BUGS } from './columns.ts';
import { COMPOSITION_BUGS } from './composition.ts';
import { POSITION_BUGS } from './positions.ts';
import { DIFFERENTIAL_BUGS } from './differential.ts';
import { MEETING_BUGS } from './meetings.ts';
import { MUTATION_BUGS } from './mutation.ts';
import { COPY_BUGS } from './copies.ts';
import { COPILOT_BUGS } from './copilot.ts';
import { ORDER_BUGS } from './orders.ts';
import { SHOWN_BUGS } from './shown.ts';
import { FREEZE_BUGS } from './freezes.ts';
import { FLEET_BUGS } from './fleet.ts';
import { FLEET_ATTRIBUTION_BUGS } from './fleet-attribution.ts';
import { FLEET_LOOK_BUGS } from './fleet-looks.ts';
import { FLEET_ROLLOUT_BUGS } from './fleet-rollouts.ts';
import { FLEET_STORE_BUGS } from './fleet-stores.ts';
import { FLEET_CHECK_BUGS } from './fleet-checks.ts';
import { FLEET_EDGE_BUGS } from './fleet-edges.ts';
import { FLEET_TOLD_BUGS } from './fleet-told.ts';
import { POLICY_BUGS } from './policy.ts';
import type { PlantedBug } from './planted-bug.ts';
import { PROTOBUF_BUGS } from './protobuf.ts';
import { RESTORE_BUGS } from './restores.ts';
import { STAGE_BUGS } from './stages.ts';
import { TOMBSTONE_BUGS } from './tombstones.ts';
import { SIZE_BUGS } from './sizes.ts';
import { SIMULATION_BUGS } from './simulation.ts';
import { SECURITY_CLAIM_BUGS } from './security-claims.ts';
import { TROUBLE_BUGS } from './trouble.ts';
import { UPGRADE_BUGS } from './upgrades.ts';
import { STRANGER_BUGS } from './strangers.ts';
import { MORE_STRANGERS } from './strangers-2.ts';
import { MORE_STRANGERS_ABOVE } from './strangers-above-2.ts';
import { WEEK_ONE_BUGS } from './week-one.ts';
import { WORLDS_BUGS } from './worlds.ts';

/** The rows by area. */
export const AREAS: readonly Readonly<Record<string, PlantedBug>>[] = [
  CLAIM_BUGS,
  BOUNDS_BUGS,
  SECURITY_CLAIM_BUGS,
  COMPOSITION_BUGS,
  POSITION_BUGS,
  COLUMN_BUGS,
  SIMULATION_BUGS,
  WORLDS_BUGS,
  DIFFERENTIAL_BUGS,
  STRANGER_BUGS,
  UPGRADE_BUGS,
  ALARM_BUGS,
  MORE_STRANGERS,
  MORE_STRANGERS_ABOVE,
  WEEK_ONE_BUGS,
  MUTATION_BUGS,
  AFFECTED_BUGS,
  BATCH_BUGS,
  EXPLAIN_BUGS,
  TROUBLE_BUGS,
  COPILOT_BUGS,
  ORDER_BUGS,
  SHOWN_BUGS,
  QUIET_BUGS,
  EVIDENCE_BUGS,
  POLICY_BUGS,
  FREEZE_BUGS,
  FLEET_BUGS,
  FLEET_ATTRIBUTION_BUGS,
  FLEET_ROLLOUT_BUGS,
  FLEET_LOOK_BUGS,
  SIZE_BUGS,
  INTERLOCK_BUGS,
  STAGE_BUGS,
  HALT_BUGS,
  COPY_BUGS,
  FLEET_STORE_BUGS,
  FLEET_CHECK_BUGS,
  FLEET_EDGE_BUGS,
  FLEET_TOLD_BUGS,
  RESTORE_BUGS,
  PROTOBUF_BUGS,
  TOMBSTONE_BUGS,
  MEETING_BUGS,
];

/** The rows by name. */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = Object.fromEntries(
  AREAS.flatMap((area) => Object.entries(area)),
);
