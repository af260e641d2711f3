/**
 * What an edit comes to, node by node: from what was played (play.ts), and from what keeps those away who would do it.
 *
 * Reasons are codes of core/status/reasons.ts. A node is held where it would change and something keeps it: what keeps runs from
 * acting at all, or its place in the rollout. Nothing is decided here.
 */
import { compareText } from '@rollcall/base/compare-text.ts';
import type { NodeName } from '../model/identifiers.ts';
import type { Guard } from '../model/plan.ts';
import type { PodProjection } from '../model/projections.ts';
import type { NodeCode, Verdict } from '../model/verdict.ts';
import { nodeOf } from '../pod/pod-facts.ts';
import type { ReasonCode } from '../status/reasons.ts';
import type { Played, PlayedDeed, PlayedStep } from './play.ts';

/** What becomes of a node's pod. */
export type NodeChange = 'gained' | 'lost' | 'restarted' | 'held' | 'unchanged';

/** One node of a plan. */
export interface PlannedNode {
  readonly node: NodeName;
  readonly change: NodeChange;
  readonly reason: ReasonCode;
  /** Of a node that is held by what keeps runs from acting: what would become of it else. */
  readonly then?: Exclude<NodeChange, 'held' | 'unchanged'>;
  /** Place in the plan's steps; absent: it is of no rollout, or has no time. */
  readonly step?: number;
  /** When it begins, estimated; absent: it does not, or only once what holds it is over. */
  readonly atMs?: number;
}

/** One step of the rollout. */
export interface PlannedStep extends PlayedStep {
  /** Nodes whose pod is replaced in it. */
  readonly nodes: number;
  /** When the last of them was begun; absent: none was. */
  readonly lastAtMs?: number;
}

/** A plan for one DaemonSet of one cluster. */
export interface EditPlan {
  readonly nodes: readonly PlannedNode[];
  readonly steps: readonly PlannedStep[];
}

export interface TellInput {
  readonly played: Played;
  /** Pods before the edit. */
  readonly pods: readonly PodProjection[];
  /** What keeps runs from acting now; `act`: nothing, or others act there. */
  readonly guard: Guard;
  /** What happens all the same while that keeps them: the part of the built-in controller. Absent: nothing. */
  readonly meanwhile?: Played;
}

/** Codes of nodes that wait, in the end, for more than time. */
const HELD: ReadonlySet<NodeCode> = new Set<NodeCode>([
  'WaitingForRollout',
  'Outdated',
  'HeldByRemovalGuard',
  'WaitingForRevision',
  'WaitingForCluster',
  'Refused',
  'Blocked',
]);

/** Tells it. */
export function tellPlan({ played, pods, guard, meanwhile }: TellInput): EditPlan {
  const before = new Set(pods.flatMap((pod) => nodeOf(pod) ?? []));
  const nodes = tellNodes(played, before);
  if (guard.kind === 'act') return { nodes, steps: stepsOf(played) };
  const others = meanwhile === undefined ? [] : tellNodes(meanwhile, before);
  const done = new Map(others.map((told) => [told.node, told]));
  const isDone = ({ change }: PlannedNode): boolean => change !== 'held' && change !== 'unchanged';
  return {
    nodes: nodes.map((told) => {
      const other = done.get(told.node);
      return other !== undefined && isDone(other) ? other : heldBy(guard.code, told);
    }),
    steps: [],
  };
}

function tellNodes(played: Played, before: ReadonlySet<NodeName>): readonly PlannedNode[] {
  const byNode = Map.groupBy(played.deeds, ({ node }) => node);
  const verdicts = new Map(played.verdicts.map((verdict) => [verdict.node, verdict]));
  const names = new Set<NodeName>([...verdicts.keys(), ...byNode.keys()]);
  return [...names].sort(compareText).map((node) => {
    const deeds = byNode.get(node) ?? [];
    return tellNode(verdicts.get(node), { node, deeds, hadPod: before.has(node) });
  });
}

interface NodeDeeds {
  readonly node: NodeName;
  readonly deeds: readonly PlayedDeed[];
  readonly hadPod: boolean;
}

function tellNode(verdict: Verdict | undefined, { node, deeds, hadPod }: NodeDeeds): PlannedNode {
  const [first] = deeds;
  if (first === undefined) {
    const code = verdict?.code ?? 'NotWanted';
    if (HELD.has(code)) return { node, change: 'held', reason: code };
    return { node, change: 'unchanged', reason: reasonOf(verdict, code) };
  }
  const change = changeOf(deeds, hadPod);
  const step = deeds.find((deed) => deed.step !== undefined)?.step;
  return {
    node,
    change,
    reason: change === 'lost' ? reasonOf(verdict, 'NotWanted') : CODES[change],
    ...(step === undefined ? {} : { step }),
    atMs: first.atMs,
  };
}

const CODES = { gained: 'Creating', restarted: 'Updating' } as const;

function changeOf(
  deeds: readonly PlayedDeed[],
  hadPod: boolean,
): Exclude<NodeChange, 'held' | 'unchanged'> {
  if (!hadPod) return 'gained';
  const isMade = deeds.some(({ kind }) => kind === 'create');
  // A surplus pod goes, and the node keeps one.
  const isSurplus = deeds.every(({ reason }) => reason === 'duplicate' || reason === 'replaced');
  return isMade || isSurplus ? 'restarted' : 'lost';
}

/** Where a pod does not belong, the placement says why. */
function reasonOf(verdict: Verdict | undefined, code: NodeCode): ReasonCode {
  if (verdict === undefined) return code;
  const isOfPlacement = verdict.code === 'NotWanted' && verdict.reason.code !== 'Eligible';
  return isOfPlacement ? verdict.reason.code : verdict.code;
}

function heldBy(code: ReasonCode, { node, change, reason }: PlannedNode): PlannedNode {
  if (change === 'unchanged' || change === 'held') return { node, change, reason };
  return { node, change: 'held', reason: code, then: change };
}

function stepsOf({ steps, deeds }: Played): readonly PlannedStep[] {
  return steps.flatMap((step, index): readonly PlannedStep[] => {
    const own = deeds.filter((deed) => deed.step === index);
    const lastAtMs = own.at(-1)?.atMs;
    const nodes = new Set(own.map(({ node }) => node)).size;
    return [{ ...step, nodes, ...(lastAtMs === undefined ? {} : { lastAtMs }) }];
  });
}

/** How many nodes of each change. */
export function countChanges(nodes: readonly PlannedNode[]): Readonly<Record<NodeChange, number>> {
  const counts = { gained: 0, lost: 0, restarted: 0, held: 0, unchanged: 0 };
  for (const { change } of nodes) counts[change] += 1;
  return counts;
}
