/**
 * Shows a rollout's trial as numbers and words for people: the e-value, the nodes that
 * failed, and what silence proves.
 *
 * The gate is the e-value; the counts only explain it. They are bounded as the trial is: of more
 * than its 32 newest failures, the older ones are not in them. Nothing is decided here.
 */
import { counted } from '@rollcall/base/counted.ts';
import { E_SHOWN_MAX, NODES_HALT_AT, describeE, eValueOf } from '../health/trial.ts';
import type { Breach, BreachCause, NodeFailure, RolloutRecord } from '../model/rollout-record.ts';
import { timeText } from './gate-words.ts';

interface SideCounts {
  readonly bad: number;
  readonly good: number;
}

/** The evidence of one record. */
export interface ShownEvidence {
  /** Grows with failures of updated nodes that their peers do not share; 1 without any. At most E_SHOWN_MAX. */
  readonly eValue: number;
  readonly haltsAt: number;
  readonly updated: SideCounts;
  readonly others: SideCounts;
  /** Nodes that were bad before their turn: on neither side. */
  readonly outside: number;
  /** The newest failures since it started, or was resumed. */
  readonly failures: readonly NodeFailure[];
  /** True once an updated node failed without a node to compare it with: that counts for nothing. */
  readonly isWithoutControls: boolean;
  /** True: more nodes were bad than a trial remembers. It stands still, and proves nothing, until another rollout begins. */
  readonly isVoid: boolean;
  /** While a revision is tried and no updated node failed: so many tell, with 95 % certainty, only that fewer than this share of nodes would fail. */
  readonly silence?: { readonly nodes: number; readonly sharePercentMax: number };
}

const DOUBT = 0.05;

/** What the trial of a record shows. */
export function evidenceOf(record: RolloutRecord): ShownEvidence {
  const { trial, step, startedAtMs, orders } = record;
  const sinceMs = Math.max(startedAtMs, orders.resumed?.atMs ?? 0);
  const failures = trial.failures.filter(({ atMs }) => atMs >= sinceMs);
  const outside = trial.outside.length;
  const badUpdated = nodesOf(failures, true);
  const badOthers = nodesOf(failures, false);
  const { updatedNodes } = step;
  const isTried = (step.kind === 'canary' || step.kind === 'group') && !record.isReturn;
  const isSilent = isTried && badUpdated === 0 && updatedNodes > 0 && record.breach === undefined;
  const updated = { bad: badUpdated, good: Math.max(0, updatedNodes - badUpdated) };
  const others = {
    bad: badOthers,
    good: Math.max(0, record.baseNodes - updatedNodes - outside - badOthers),
  };
  return {
    eValue: Math.min(E_SHOWN_MAX, eValueOf(trial)),
    haltsAt: NODES_HALT_AT,
    updated,
    others,
    outside,
    failures,
    isWithoutControls: trial.isWithoutControls,
    isVoid: trial.isVoid,
    ...(isSilent ? { silence: silenceOf(updatedNodes) } : {}),
  };
}

/** The share of failures that so many silent nodes leave possible: (1 − share)^n = 5 %. */
export function silenceOf(nodes: number): {
  readonly nodes: number;
  readonly sharePercentMax: number;
} {
  return { nodes, sharePercentMax: Math.round(100 * (1 - DOUBT ** (1 / nodes))) };
}

function nodesOf(failures: readonly NodeFailure[], isUpdated: boolean): number {
  return failures.filter((one) => one.isUpdated === isUpdated).length;
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
    `${sides}${left}; E = ${describeE(eValue)}, halts at ${String(haltsAt)}`,
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

/** States how much so many healthy nodes prove. */
function describeSilence(nodes: number): string {
  const { sharePercentMax } = silenceOf(nodes);
  const are = counted(nodes, 'updated node is', 'updated nodes are');
  return `that ${are} not lost proves only that fewer than ${String(sharePercentMax)} % would be (95 % certain)`;
}

function sideText({ bad, good }: SideCounts): string {
  return `${String(bad)} of ${String(bad + good)}`;
}
