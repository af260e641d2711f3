/**
 * How the node lane of a cluster stands for one DaemonSet: which nodes others have, and which entries do not count any more.
 *
 * Read only for a DaemonSet under a policy whose rollout is under way. Own entries are judged by what this run sees. An
 * entry of another one is believed while the run that claimed it may still send; after that its DaemonSet is read, a few in a
 * run, so that nobody who died holds a node. Daemons that a policy names in `after` are read as well.
 */
import { EMPTY_LANE } from '../../../core/lane/lane.ts';
import type { Lane, LaneEntry } from '../../../core/lane/lane.ts';
import { isPastClaim, judgeEntry } from '../../../core/lane/judge-entry.ts';
import type { OwnerFacts } from '../../../core/lane/judge-entry.ts';
import { goesFirst, mustWaitFor } from '../../../core/lane/judge-order.ts';
import { strategyTypeOf } from '../../../core/daemon-set/strategy.ts';
import type { NodeName, Uid } from '../../../core/model/identifiers.ts';
import type { LaneBlock, NodeView, Plan } from '../../../core/model/plan.ts';
import { decidePlacement, preparePlacement } from '../../../core/placement/placement.ts';
import { minReadyMsOf, templateGenerationOf } from '../../../core/pod/pod-facts.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import type { PolicyReader } from '../../../ports/rollout-policy.ts';
import type { LaneStore, NamespacedName, ViewReader } from '../../../ports/stores/view-store.ts';
import type { Subject, ViewedSubject } from '../run/context.ts';
import { afterOf, leadsBack, textOf } from './find-circle.ts';
import { readNeighbour } from './read-neighbour.ts';
import type { Neighbour, NeighbourReads } from './read-neighbour.ts';

/** Other DaemonSets that one run reads because of entries that nobody may be behind any more. */
const NEIGHBOURS_MAX = 4;
/** Daemons of one `after` list that are looked at. */
const AFTER_MAX = 16;

/** How the lane stands. */
export interface LaneStanding {
  readonly lane: Lane;
  /** Entries that do not count any more: own ones, and those of others that were looked into. */
  readonly freed: readonly LaneEntry[];
  readonly blocked: ReadonlyMap<NodeName, LaneBlock>;
  /** Daemons that `after` names and that are not waited for, because they wait for this one. */
  readonly circles: readonly NamespacedName[];
}

/** What the lane is found with: the context of a run, or of somebody who only asks how it stands. */
export interface LaneContext {
  readonly hint: { readonly key: NamespacedName };
  readonly dependencies: {
    readonly view: LaneReads;
    readonly policies: PolicyReader;
  };
}

/** What a lane is found for. */
export type LaneSubject = Pick<ViewedSubject, 'basis' | 'daemonSet' | 'view' | 'state' | 'nowMs'>;

/** Reads of the view table. */
export type LaneReads = NeighbourReads & Pick<ViewReader, 'readName'> & Pick<LaneStore, 'readLane'>;

type LaneStep = { readonly context: LaneContext; readonly subject: LaneSubject };

/** True if a plan replaces pods in stages, or did so until now: only then the lane is read. */
export function asksForLane({ stages, deletes }: Plan, { state }: Pick<Subject, 'state'>): boolean {
  if (stages === undefined) return false;
  const isUnderWay = [stages.record, state.rollout].some(
    (record) => record !== undefined && record.step.kind !== 'done',
  );
  return isUnderWay || deletes.some(({ reason, repeats }) => (repeats ?? reason) === 'outdated');
}

/** Reads the lane, and judges what stands in it. */
export async function findLane({ context, subject }: LaneStep): Promise<LaneStanding> {
  const { ref } = subject.basis;
  const lane = (await context.dependencies.view.readLane(ref.clusterUid)) ?? EMPTY_LANE;
  const nodes = new Map(subject.view.nodes.map((nodeView) => [nodeView.node.name, nodeView]));
  const own = lane.entries.filter(({ owner }) => owner === ref.uid);
  const others = lane.entries.filter(({ owner }) => owner !== ref.uid);
  // What another run claimed since this one read its view is not judged by that view.
  const judged = own
    .filter(({ claimedAtMs }) => claimedAtMs < subject.nowMs)
    .map((entry) => ({ entry, facts: ownFacts(entry, subject, nodes) }));
  const free = judged.flatMap(({ entry, facts }) =>
    judgeEntry(entry, facts) === 'free' ? [entry] : [],
  );
  const left = await findLeft(others, nodes, { context, subject });
  const blocked = new Map<NodeName, LaneBlock>();
  for (const entry of others) {
    if (left.includes(entry)) continue;
    const by = textOf(entry);
    const message = `its daemon ${by} is being replaced`;
    blocked.set(entry.node, { kind: 'replaced', by, message });
  }
  const order = await findOrder(nodes, { context, subject });
  // Whoever goes first waits for what was begun there, so that does not wait for them.
  const begun = judged.filter(
    ({ entry, facts }) => !free.includes(entry) && isPastClaim(entry, facts),
  );
  for (const { entry } of begun) order.blocked.delete(entry.node);
  for (const [node, block] of order.blocked) blocked.set(node, block);
  return { lane, freed: [...free, ...left], blocked, circles: order.circles };
}

function ownFacts(
  { node }: LaneEntry,
  { view, state, nowMs }: LaneSubject,
  nodes: ReadonlyMap<NodeName, NodeView>,
): OwnerFacts {
  const nodeView = nodes.get(node);
  const minReadyMs = minReadyMsOf(view.daemonSet);
  const facts = { pods: nodeView?.pods ?? [], intents: state.intents, minReadyMs, nowMs };
  return nodeView === undefined ? facts : { ...facts, placement: nodeView.placement };
}

/** Entries of others that nobody is behind any more. */
async function findLeft(
  others: readonly LaneEntry[],
  nodes: ReadonlyMap<NodeName, NodeView>,
  { context, subject }: LaneStep,
): Promise<readonly LaneEntry[]> {
  const { nowMs } = subject;
  const old = others.filter(({ deadAtMs }) => nowMs >= deadAtMs);
  const owners = [...new Set(old.map(({ owner }) => owner))].slice(0, NEIGHBOURS_MAX);
  const left: LaneEntry[] = [];
  for (const owner of owners) {
    const neighbour = await readNeighbour(owner, subject.basis, context.dependencies);
    if (neighbour === 'unreadable') continue;
    const entries = old.filter((entry) => entry.owner === owner);
    left.push(
      ...entries.filter((entry) => {
        const facts =
          neighbour === 'gone' ? undefined : factsOf(neighbour, nodes.get(entry.node), nowMs);
        return judgeEntry(entry, facts) === 'free';
      }),
    );
  }
  return left;
}

function factsOf(
  { daemonSet, state, podsByNode }: Neighbour,
  nodeView: NodeView | undefined,
  nowMs: number,
): OwnerFacts {
  const pods = nodeView === undefined ? [] : (podsByNode.get(nodeView.node.name) ?? []);
  const facts = { pods, intents: state?.intents ?? [], minReadyMs: minReadyMsOf(daemonSet), nowMs };
  return nodeView === undefined
    ? facts
    : {
        ...facts,
        placement: decidePlacement(preparePlacement(daemonSet), nodeView.node).placement,
      };
}

/** Nodes that are not ready for this daemon, because one that goes first is not there yet. */
async function findOrder(
  nodes: ReadonlyMap<NodeName, NodeView>,
  { context, subject }: LaneStep,
): Promise<Pick<LaneStanding, 'circles'> & { readonly blocked: Map<NodeName, LaneBlock> }> {
  const blocked = new Map<NodeName, LaneBlock>();
  const circles: NamespacedName[] = [];
  const own = context.hint.key;
  for (const key of afterOf(subject.daemonSet, context, own.namespace).slice(0, AFTER_MAX)) {
    const neighbour = await readNamed(key, { context, subject });
    if (neighbour === undefined) continue;
    // Of a circle nobody would ever go: whose key comes first does not wait for those behind it.
    const mayBreak = goesFirst(textOf(own), textOf(key));
    const named = { key, daemonSet: neighbour.daemonSet };
    if (mayBreak && (await leadsBack(named, own, { context, subject }))) {
      circles.push(key);
      continue;
    }
    const by = textOf(key);
    const message = `daemon ${by} goes first, and is not there yet`;
    const prepared = preparePlacement(neighbour.daemonSet);
    const shared = sharedFacts(neighbour, subject.nowMs);
    for (const { node } of nodes.values()) {
      const { placement } = decidePlacement(prepared, node);
      const pods = neighbour.podsByNode.get(node.name) ?? [];
      if (mustWaitFor({ ...shared, placement, pods }))
        blocked.set(node.name, { kind: 'first', by, message });
    }
  }
  return { blocked, circles };
}

function sharedFacts(
  { daemonSet, state }: Neighbour,
  nowMs: number,
): Omit<Parameters<typeof mustWaitFor>[0], 'placement' | 'pods'> {
  const hasPolicy = daemonSet.metadata.annotations?.[POLICY_ANNOTATION] !== undefined;
  return {
    hash: state?.history?.hash,
    isEdited: state?.history?.generation !== daemonSet.metadata.generation,
    templateGeneration: templateGenerationOf(daemonSet),
    isRolling: hasPolicy || strategyTypeOf(daemonSet) === 'RollingUpdate',
    minReadyMs: minReadyMsOf(daemonSet),
    nowMs,
  };
}

/** One that does not exist, or cannot be read, holds up nobody. */
async function readNamed(
  key: NamespacedName,
  { context, subject }: LaneStep,
): Promise<Neighbour | undefined> {
  const { view } = context.dependencies;
  const found = await view.readName(subject.basis.ref.clusterUid, key);
  const uid: Uid | null | undefined = found?.uid;
  if (uid === null || uid === undefined) return undefined;
  const neighbour = await readNeighbour(uid, subject.basis, context.dependencies);
  return typeof neighbour === 'string' ? undefined : neighbour;
}
