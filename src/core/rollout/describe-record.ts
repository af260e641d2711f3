/**
 * A staged rollout in words: the same in `rollcall rollout status`, the table of `npm start`, events and explanations.
 *
 * Sentences hold absolute times (UTC), so that they change only when something else does. Names of nodes and revisions
 * are what a cluster said: whoever prints them takes control characters out. Nothing is decided here (gate.ts,
 * shown-evidence.ts).
 */
import { counted } from '@rollcall/base/counted.ts';
import { defined } from '@rollcall/base/defined.ts';
import { describeLosses } from './describe-losses.ts';
import type { Breach, BreachCause, RolloutRecord } from '../model/rollout-record.ts';
import { summarize, timeText } from './gate-words.ts';
import type { GateSubject, ShownGate } from './gate-words.ts';
import { olderWords } from './good-releases.ts';
import { SOAKS_LOST_MAX } from './soak.ts';
import { silenceOf } from './shown-evidence.ts';
import type { ShownEvidence, SideCounts } from './shown-evidence.ts';

/** In one line: the step, the nodes, the gate. */
export function summarizeRecord(record: RolloutRecord, gate: ShownGate): string {
  const isAboutStep = !['returning', 'returned', 'unseen', 'done'].includes(gate.kind);
  const { soaksLost = 0 } = record.step;
  const soaks = soaksLost < SOAKS_LOST_MAX ? '' : `, soak begun anew ${String(soaksLost)} times`;
  const where = `${describeStep(record)}, ${describeNodes(record)}${soaks}`;
  const words = summarize(gate, subjectOf(record), isAboutStep ? where : undefined);
  if (!isAboutStep || gate.kind === 'breach' || record.older === undefined) return words;
  return `${words}; ${olderWords(record.older)}`;
}

/** What its gate is told of. */
export function subjectOf({ hash, breach, orders, former }: RolloutRecord): GateSubject {
  const to = orders.undo?.to ?? former?.hash;
  return {
    members: 'nodes',
    release: `revision ${hash}`,
    back: to === undefined ? 'the proven revision' : `revision ${to}`,
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

/** How many nodes run the new revision. */
function describeNodes({ step, baseNodes }: RolloutRecord): string {
  return `${String(step.updatedNodes)} of ${counted(baseNodes, 'node')} updated`;
}

/** Halts that count nodes; by all others the nodes that were lost say nothing. */
const BY_NODES: readonly BreachCause[] = ['NodesFailed', 'Unexplained'];

/** Nodes that were lost, E, and what silence, a lack of controls or a void test means; nothing of a halt for another cause. */
export function describeEvidence(
  evidence: ShownEvidence,
  breach: Pick<Breach, 'cause'> | undefined,
): readonly string[] {
  if (breach !== undefined && !BY_NODES.includes(breach.cause)) return [];
  const { eValue, haltsAt, updated, others, outside, silence } = evidence;
  const sides = `nodes lost: ${sideText(updated)} updated, ${sideText(others)} others`;
  const left = outside === 0 ? '' : `, ${String(outside)} before their turn`;
  return [
    `${sides}${left}; E = ${eText(eValue)}, halts at ${String(haltsAt)}`,
    ...evidence.failures.map(
      ({ node, isUpdated, atMs }) =>
        `${isUpdated ? 'updated' : 'other'} node ${node} was lost at ${timeText(atMs)}`,
    ),
    ...(eValue >= haltsAt && updated.bad < 2
      ? ['one updated node that is lost halts nothing: a second one does']
      : []),
    ...describeWeakness(evidence),
    ...(silence === undefined ? [] : [describeSilence(silence.nodes)]),
  ];
}

/** Why the test of nodes says less than it could. */
function describeWeakness({ isVoid, isWithoutControls }: ShownEvidence): readonly string[] {
  const lines: string[] = [];
  if (isVoid) {
    lines.push(
      'too many nodes are lost to be remembered: the test of nodes stands still, and proves nothing more in this rollout',
    );
  }
  if (isWithoutControls) {
    lines.push(
      'an updated node was lost where no other is left to compare it with: the test of nodes counts it for nothing',
    );
  }
  return lines;
}

/** What so many nodes that were not lost prove, and what not. */
function describeSilence(nodes: number): string {
  const { sharePercentMax } = silenceOf(nodes);
  const are = counted(nodes, 'updated node is', 'updated nodes are');
  return `that ${are} not lost proves only that fewer than ${String(sharePercentMax)} % would be (95 % certain)`;
}

function sideText({ bad, good }: SideCounts): string {
  return `${String(bad)} of ${String(bad + good)}`;
}

function eText(eValue: number): string {
  return eValue >= 100 ? String(Math.round(eValue)) : eValue.toFixed(1);
}
