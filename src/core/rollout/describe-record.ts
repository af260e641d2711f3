/**
 * A staged rollout in words: the same in status, tables, events and explanations; of a fleet they
 * are in core/fleet/told/describe-fleet.ts.
 *
 * Sentences hold absolute times (UTC), so that they change only when something else does. Names and
 * messages come from clusters and operators: the printer takes control characters out.
 * Nothing is decided here (recorded-gate.ts).
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { RolloutRecord } from '../model/rollout-record.ts';
import { describeLosses, summarize } from './gate-words.ts';
import type { Gate } from '../model/staged-progress.ts';
import type { GateSubject, RolloutPhase } from './gate-words.ts';
import type { PodCounts } from './pod-counts.ts';
import { olderWords } from './good-releases.ts';
import { SOAKS_LOST_MAX } from './soak.ts';

/** The shown part of a record, of nodes and of clusters alike. */
interface Recorded<Breach, Refused, Orders> {
  readonly startedAtMs: number;
  readonly breach?: Breach;
  readonly refused: readonly Refused[];
  readonly orders: Orders;
}

/** That, with its step and gate: the keys that docs/reference/json.md names. */
export interface ToldRollout<Breach, Refused, Orders> extends Recorded<Breach, Refused, Orders> {
  readonly gate: Gate;
  /** The step, or the stage, and the gate in words. */
  readonly stepText: string;
  readonly gateText: string;
}

/** Tells it. */
export function tellRollout<Breach, Refused, Orders>(
  { startedAtMs, breach, refused, orders }: Recorded<Breach, Refused, Orders>,
  told: Pick<ToldRollout<Breach, Refused, Orders>, 'gate' | 'stepText' | 'gateText'>,
): ToldRollout<Breach, Refused, Orders> {
  const halt = breach === undefined ? {} : { breach };
  return { startedAtMs, ...told, ...halt, refused, orders };
}

/** In one line: the step, the nodes, the gate. */
export function summarizeRecord(record: RolloutRecord, gate: Gate): string {
  const isAboutStep = !['returning', 'returned', 'unseen', 'done'].includes(gate.kind);
  const { soaksLost = 0 } = record.step;
  const soaks = soaksLost < SOAKS_LOST_MAX ? '' : `, soak begun anew ${String(soaksLost)} times`;
  const where = `${describeStep(record)}, ${describeNodes(record)}${soaks}`;
  const words = summarize(gate, subjectOf(record), isAboutStep ? where : undefined);
  if (!isAboutStep || gate.kind === 'breach' || record.older === undefined) return words;
  return `${words}; ${olderWords(record.older)}`;
}

/** The subject of its gate. */
export function subjectOf({ hash, breach, orders, former }: RolloutRecord): GateSubject {
  const to = orders.undo?.to ?? former?.hash;
  return {
    members: 'nodes',
    release: `revision ${hash}`,
    back: to === undefined ? 'the good revision' : `revision ${to}`,
    stepOf: (stepIndex) => `of step ${String(stepIndex)}`,
    orders,
    ...defined({ breach }),
  };
}

/** The step that was opened last. */
export function describeStep({
  step,
  canary,
  groups,
  isReturn,
  losses = [],
}: RolloutRecord): string {
  switch (step.kind) {
    case 'waiting':
      return 'no step is open yet';
    case 'canary': {
      const lost = describeLosses(losses);
      return `canary of ${counted(canary.length, 'node')}${lost === '' ? '' : ` (${lost})`}`;
    }
    case 'done':
      return isReturn ? 'all steps are open, back to a good release' : 'all steps are done';
    case 'group': {
      const of = groups === undefined ? '' : ` of ${String(groups)}`;
      return `step ${String(step.index)}${of}${step.name === '' ? '' : ` (${step.name})`}`;
    }
  }
}

/** Updated nodes: a record counts on while a step is open, and at an end the status of the DaemonSet knows better. */
export function updatedNodesOf(
  { step }: Pick<RolloutRecord, 'step'>,
  phase: RolloutPhase,
  counts: PodCounts | undefined,
): number {
  const isEnd = phase === 'Done' || phase === 'Returned';
  return isEnd && counts !== undefined ? counts.updated : step.updatedNodes;
}

function describeNodes({ step, baseNodes }: RolloutRecord): string {
  return `${String(step.updatedNodes)} of ${counted(baseNodes, 'node')} updated`;
}
