/**
 * Notes of a plan beside its nodes: who acts, what holds it, what it waits for in the end, and what its times rest on.
 *
 * Sentences for a person, the same in every form. Nothing is decided here.
 */
import { counted } from '@rollcall/base/counted.ts';
import { describeHolding } from '../../app/fleet/rollout/holding-fleet.ts';
import type { PlannedEdit } from '../../app/what-if/plan-edit.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import { summarizeRecord } from '../../core/rollout/describe-record.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import { remedyOfGuard } from '../../core/status/outages.ts';
import { REASONS } from '../../core/status/reasons.ts';
import { STOP_MS } from '../../core/what-if/model-cluster.ts';

/** The sentences, the most important first. */
export function notesOf(plan: PlannedEdit, key: DaemonSetKey): readonly string[] {
  const notes = [
    guardNote(plan),
    deletedNote(plan),
    plan.fleet && describeHolding(plan.fleet),
    removalNote(plan, key),
    policyNote(plan),
    gateNote(plan),
    endNote(plan),
    handsNote(plan),
    comparedNote(plan),
    timesNote(plan),
  ];
  return notes.filter((note) => note !== undefined);
}

function guardNote({ guard, edit, outages }: PlannedEdit): string | undefined {
  if (guard.kind === 'act' || edit === 'delete') return undefined;
  const { title, remedy: usual } = REASONS[guard.code];
  const remedy = remedyOfGuard(guard.code, outages) ?? usual;
  const next = remedy === undefined ? '' : ` Go on: ${remedy}.`;
  return `Held, as ${title}: ${guard.message.replace(/\.?$/, '.')}${next} Of each held node the plan says what would happen without that.`;
}

function deletedNote({ edit }: PlannedEdit): string | undefined {
  if (edit !== 'delete') return undefined;
  return "The garbage collector of Kubernetes deletes a deleted DaemonSet's pods at once: no mode, freeze, policy or confirmation holds that.";
}

function removalNote({ played }: PlannedEdit, key: DaemonSetKey): string | undefined {
  if (!played.isRemovalHeld) return undefined;
  const name = `${key.cluster} ${key.namespace}/${key.name}`;
  return `So many pods would go that a person has to confirm it: rollcall rollout confirm ${name}`;
}

function policyNote({ isHeldByPolicy, guard }: PlannedEdit): string | undefined {
  if (!isHeldByPolicy || guard.kind !== 'act') return undefined;
  return 'Its policy is invalid: no pod is updated until it is repaired; rollcall rollout status names the fields.';
}

function gateNote({ played: { stages }, guard }: PlannedEdit): string | undefined {
  if (stages === undefined || guard.kind !== 'act' || stages.gate.kind === 'done') return undefined;
  return `The rollout comes to: ${summarizeRecord(stages.record, stages.gate)}.`;
}

function endNote({ played }: PlannedEdit): string | undefined {
  if (played.end === 'rest') return undefined;
  return `It was followed until ${timeText(played.endMs)}, and does not end by then: what comes later is not told.`;
}

function handsNote({ hands, mode, edit }: PlannedEdit): string | undefined {
  if (edit === 'delete') return undefined;
  if (hands.rollcall === 'all') return undefined;
  if (hands.rollcall === 'deletes') {
    return 'In copilot the built-in controller makes and removes pods, of the newest template, and nothing of Rollcall holds that; Rollcall times the deletes of the rollout.';
  }
  const why =
    mode === 'observe' ? 'The cluster is only observed' : 'Rollcall has no part in this DaemonSet';
  return `${why}: the built-in controller acts, without stages or freeze; which nodes go first it decides, and their order here is an estimate.`;
}

function comparedNote({ uncomparedRevisions }: PlannedEdit): string | undefined {
  if (uncomparedRevisions === 0) return undefined;
  const revisions = counted(uncomparedRevisions, 'earlier revision');
  return `The template is taken as new: the data of ${revisions} are in no table. If it is one of them, nodes that have it already keep their pods.`;
}

function timesNote({ nodes, start, edit }: PlannedEdit): string | undefined {
  if (edit === 'delete' || nodes.every(({ atMs }) => atMs === undefined)) return undefined;
  const took = `${String(Math.round(start.startMs / 1000))} s`;
  const ready =
    start.pods === 0
      ? `a pod is taken to be ready after ${took}, which is assumed`
      : `a pod is taken to be ready after ${took}, the median of ${counted(start.pods, 'pod')} of now`;
  return `Times are estimates: ${ready}, and to be gone ${String(STOP_MS / 1000)} s after its delete; no new pod fails, and nodes stay as they are.`;
}
