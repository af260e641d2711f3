/**
 * What the doctor knows of all FleetDaemonSets of a stack, read once for as many clusters as are examined.
 *
 * Where each is placed, and whether the function `fleet` has made the step that was due. Whoever asks first reads; a failure is every
 * asker's.
 */
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import type { FleetsFact } from '../../app/doctor/facts.ts';
import { checked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { defined } from '@rollcall/base/defined.ts';
import { missedStepSinceMs } from '../../app/fleet/rollout/find-fleet-rollout.ts';
import { listEveryRecord, fleetsOn, readEveryFleet } from '../../app/fleet/find-fleet.ts';
import type { EveryRecord, EveryFleet } from '../../app/fleet/find-fleet.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { Stack } from '../reach/stack.ts';

/** All that is read. */
type KnownFleets = EveryFleet & Pick<EveryRecord, 'records'>;

/** Asks for it. */
export type AskFleets = () => Promise<KnownFleets>;

/** Reads at the first question, and never again. */
export function openStackFleets(stack: Pick<Stack, 'fleets' | 'rollouts'>): AskFleets {
  let asked: Promise<KnownFleets> | undefined;
  return () => (asked ??= readFleets(stack));
}

async function readFleets({
  fleets,
  rollouts,
}: Pick<Stack, 'fleets' | 'rollouts'>): Promise<KnownFleets> {
  const every = await readEveryFleet({ fleets, reader: createFleetReader() });
  const { records } = await listEveryRecord(rollouts);
  return { ...every, records };
}

/** As much of it as concerns a cluster. */
export async function gatherFleets(
  registration: ClusterRegistration,
  ask: AskFleets,
  nowMs: number,
): Promise<Checked<FleetsFact>> {
  const { fleets, unreadable, records } = await ask();
  const placed = fleetsOn(registration, fleets);
  return checked({
    placed: placed.map(formatFleetKey),
    unreadable: unreadable.map(formatFleetKey),
    late: placed.flatMap((fleet) => {
      const record = records.get(formatFleetKey(fleet));
      const sinceMs = missedStepSinceMs({ head: fleet.head, ...defined({ record }) }, nowMs);
      return sinceMs === undefined ? [] : [{ fleet: formatFleetKey(fleet), sinceMs }];
    }),
  });
}
