/**
 * Removes the start-up taint from nodes whose daemons serve (ADR 0089, S19), or writes the condition for which the Node Readiness
 * Controller removes it: a part of the run of each DaemonSet that counts.
 *
 *   own pod serves on a node with the taint ──▶ the others' serve there, too ──▶ entry recorded ──▶ fence ──▶ PATCH
 *
 * The run that the last pod's Ready wakes finds all of them, so nothing waits for a timer. A cluster without the setting costs
 * nothing; one without such nodes costs no read. Rollcall never adds a taint.
 */
import type { NodeEffect, Outcome } from '../../../core/model/effects.ts';
import type { NodeName, Uid } from '../../../core/model/identifiers.ts';
import type { NodeProjection } from '../../../core/model/projections.ts';
import type { StartUp } from '../../../core/model/registration.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import { heldWrite } from '../../../core/retry/retry.ts';
import {
  countsOn,
  nodesStartingUp,
  podsByNode,
  startUpDone,
  startUpSetOf,
  servingPod,
} from '../../../core/start-up/start-up-done.ts';
import type { PodsByNode, StartUpWait } from '../../../core/start-up/start-up-done.ts';
import { isStartUpTaint } from '../../../core/start-up/start-up-taint.ts';
import { guardOfRegistration } from '../../../core/may-act/registration-guard.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import { sendFenced } from '../confirm/batch-fence.ts';
import { freshnessOf } from '../confirm/guard.ts';
import { confirmStartUps, type ServedNode } from '../confirm/live-start-ups.ts';
import {
  readStartUpPods,
  readStartUpSet,
  readStartUpSets,
  type StoredStartUpSet,
} from '../read/start-up-sets.ts';
import type { NotedStep, ReconcileInput } from '../run/context.ts';
import type { Problem } from '../run/result.ts';
import { cameOf } from './came-of.ts';
import { recordEntry } from './record-entry.ts';

/** Patches sent side by side. */
const PATCHES_AT_ONCE = 100;

interface StartUpStep extends Omit<NotedStep, 'access'> {
  readonly recorded: DaemonSetState;
}

/** Removes what may go. The answer is the state as it stands now. */
export async function removeStartUpTaints(step: StartUpStep): Promise<DaemonSetState> {
  const { input, result, recorded } = step;
  const { registration, frozen } = input.stored;
  const { startUp } = registration;
  if (startUp === undefined || guardOfRegistration(registration, frozen).kind !== 'act') {
    return recorded;
  }
  const found = await findDone(step, startUp);
  if (found.length === 0) return recorded;
  const held = heldWrite('start-up-refused', input) ?? doubtOf(step);
  if (held !== undefined) {
    result.add(held);
    return recorded;
  }
  const access = await input.access.get();
  if (access === undefined) {
    result.add({ code: 'no-access', message: 'no access for start-up taints', pace: 'backoff' });
    return recorded;
  }
  const by = { meta: input.stored.meta, reader: access, result };
  const nodes = new Set(await confirmStartUps(found, by, step.context.dependencies));
  const claimed = found.filter(({ node }) => nodes.has(node) && claimsOf(step).take(node));
  const removed = new Set<NodeName>();
  try {
    return await send(claimed, { ...step, access, startUp, removed });
  } finally {
    for (const { node } of claimed) if (!removed.has(node.name)) claimsOf(step).release(node);
  }
}

interface SendStep extends StartUpStep {
  readonly access: ClusterAccess;
  readonly startUp: StartUp;
  readonly removed: Set<NodeName>;
}

async function send(served: readonly ServedNode[], step: SendStep): Promise<DaemonSetState> {
  const { context, input, access, result, recorded, startUp } = step;
  if (served.length === 0) return recorded;
  const wanted = served.map(({ node: { name } }) => ({ effect: effectOf(startUp), name }));
  const { ref } = input.stored;
  const logged = await recordEntry(wanted, { ref, recorded, result }, context);
  if (logged === undefined) return recorded;
  const removals = served.flatMap((each) => releaseOf(each, startUp));
  const fence = { context, input, access, stateVersion: logged.version, isStale: result.hasActed };
  const { sent, stopped } = await sendFenced(removals, fence, {
    size: PATCHES_AT_ONCE,
    isLast: ({ kind }) => kind === 'unsent' || kind === 'refused',
  });
  for (const { item, outcome } of sent) noteOutcome(item.effect.name, outcome, step);
  const left = removals.slice(sent.length);
  if (left.length === 0) return logged;
  for (const { effect } of left) {
    result.sent.push({ effect: effect.kind, name: effect.name, came: 'unsent' });
  }
  result.addStop(stopped ?? { code: 'interrupted', message: 'start-up taints are left' });
  return logged;
}

function claimsOf({ context: { dependencies }, input }: StartUpStep) {
  const { cache, clock } = dependencies;
  const { clusterUid } = input.stored.ref;
  const { taintClaims } = cache;
  const nowMs = clock.monotonicMs();
  return {
    take: (node: NodeProjection) => taintClaims.take({ ...node, clusterUid }, nowMs),
    isTaken: (node: NodeProjection) => taintClaims.isTaken({ ...node, clusterUid }, nowMs),
    release: (node: NodeProjection) => {
      taintClaims.release({ ...node, clusterUid });
    },
  };
}

/** Nodes on which all that counts serves, as far as the view tells. */
async function findDone(step: StartUpStep, startUp: StartUp): Promise<readonly ServedNode[]> {
  const { context, input } = step;
  const { namespace, name } = context.hint.key;
  const set = startUpSetOf({ namespace, name }, input.daemonSet, startUp);
  if (set === undefined) return [];
  const tainted = nodesStartingUp(input.read.nodes, startUp);
  if (tainted.length === 0) return [];
  const { ref } = input.stored;
  const pods = podsByNode(input.read.pods, ref.uid);
  const claims = claimsOf(step);
  const candidates = tainted.filter(
    (node) =>
      !claims.isTaken(node) &&
      countsOn(set, node, startUp) &&
      typeof servingPod(set, node, pods) !== 'string',
  );
  const looked = await withoutWaiting(candidates, step, startUp);
  if (looked.length === 0) return [];
  const others = await readOthers(looked, step, startUp);
  const sets = [{ set, pods }, ...others];
  return looked.flatMap((node) => {
    const decision = startUpDone(node, sets, startUp);
    if (decision.kind === 'done') return [{ node, pods: decision.pods }];
    noteWait(node, decision.waitsFor, others, step);
    return [];
  });
}

/** Those nodes of which it is not known that a DaemonSet, for which they waited before, still does not serve there. */
async function withoutWaiting(
  nodes: readonly NodeProjection[],
  { context: { dependencies }, input }: StartUpStep,
  startUp: StartUp,
): Promise<readonly NodeProjection[]> {
  const { clusterUid } = input.stored.ref;
  const { startUpWaits } = dependencies.cache;
  const reads = new Map<Uid, Promise<OtherSet | undefined>>();
  const isWaiting = async (node: NodeProjection): Promise<boolean> => {
    const wait = startUpWaits.find({ clusterUid, uid: node.uid });
    if (wait === undefined) return false;
    const reading =
      reads.get(wait.uid) ??
      readStartUpSet({ clusterUid, ...wait }, startUp, dependencies.view).then(
        (found) => found && withPods(found, input, dependencies),
      );
    reads.set(wait.uid, reading);
    const other = await reading;
    return other !== undefined && isMissing(node, other, startUp);
  };
  const waiting = await Promise.all(nodes.map(isWaiting));
  return nodes.filter((_, index) => waiting[index] !== true);
}

/** Of one that cannot be told now nothing is missing: it may be gone for good. */
function isMissing(node: NodeProjection, { set, pods }: OtherSet, startUp: StartUp): boolean {
  const found = countsOn(set, node, startUp) ? servingPod(set, node, pods) : 'unknown';
  return typeof found === 'string' && found !== 'unknown';
}

function noteWait(
  node: NodeProjection,
  waitsFor: readonly StartUpWait[],
  others: readonly OtherSet[],
  { context, input }: StartUpStep,
): void {
  const { clusterUid } = input.stored.ref;
  const wait = waitsFor.find(({ code }) => code !== 'unknown');
  const other = others.find(
    ({ set }) => set.namespace === wait?.namespace && set.name === wait.name,
  );
  if (other === undefined) return;
  const { ref, set } = other;
  const { namespace, name } = set;
  const { startUpWaits } = context.dependencies.cache;
  startUpWaits.note({ clusterUid, uid: node.uid }, { uid: ref.uid, namespace, name });
}

interface OtherSet extends StoredStartUpSet {
  readonly pods: PodsByNode | undefined;
}

async function withPods(
  each: StoredStartUpSet,
  { stored }: ReconcileInput,
  readers: Parameters<typeof readStartUpPods>[2],
): Promise<OtherSet> {
  return { ...each, pods: await readStartUpPods(each, stored, readers) };
}

/** The other DaemonSets that count on one of these nodes, with their pods. */
async function readOthers(
  nodes: readonly NodeProjection[],
  { context: { dependencies }, input }: StartUpStep,
  startUp: StartUp,
): Promise<readonly OtherSet[]> {
  const { clusterUid, uid: own } = input.stored.ref;
  const all = await readStartUpSets(clusterUid, startUp, dependencies);
  const counted = all.filter(
    ({ set, ref }) => ref.uid !== own && nodes.some((node) => countsOn(set, node, startUp)),
  );
  return Promise.all(counted.map((each) => withPods(each, input, dependencies)));
}

/** A torn view, or one of a silent cluster, removes nothing. */
function doubtOf({ context, input }: StartUpStep): Problem | undefined {
  const freshness = freshnessOf(input, context, { unseenCount: 0, hasWork: true });
  if (freshness.kind === 'fresh') return undefined;
  const { code, message } = freshness.guard;
  if (code === 'cut-open') return { code, message, pace: 'soon' };
  return { code: 'cluster-silent', message, pace: 'backoff' };
}

function effectOf({ condition }: StartUp): 'remove-taint' | 'set-condition' {
  return condition === undefined ? 'remove-taint' : 'set-condition';
}

/** Without a taint at its index the node is released already. */
function releaseOf(
  { node, pods }: ServedNode,
  startUp: StartUp,
): readonly { readonly effect: NodeEffect }[] {
  const { name, uid } = node;
  const { condition } = startUp;
  if (condition !== undefined) {
    const sinceMs = Math.max(...pods.map((pod) => pod.readyChangedAtMs ?? pod.createdAtMs));
    const at = { namespace: '', name, uid } as const;
    return [{ effect: { kind: 'set-condition', ...at, condition, sinceMs } }];
  }
  const index = node.taints.findIndex((taint) => isStartUpTaint(taint, startUp));
  const taint = node.taints[index];
  if (taint === undefined) return [];
  const effect = { kind: 'remove-taint', namespace: '', name, uid, index, taint } as const;
  return [{ effect }];
}

function noteOutcome(node: NodeName, outcome: Outcome, step: SendStep): void {
  const { context, result, removed } = step;
  result.sent.push({ effect: effectOf(step.startUp), name: node, ...cameOf(outcome) });
  const [came, problem] = whatCame(node, outcome);
  context.dependencies.metrics.count('StartUpTaints', { outcome: came });
  result.add(problem);
  if (came === 'removed') removed.add(node);
}

function whatCame(node: NodeName, outcome: Outcome): readonly [string, Problem | undefined] {
  switch (outcome.kind) {
    case 'done':
      return ['removed', undefined];
    case 'gone':
    case 'exists':
    case 'conflict': {
      const message = `the taints of node ${node} changed since they were seen`;
      return ['changed', { code: 'outcome-open', message, pace: 'soon' }];
    }
    case 'refused': {
      const message = `node ${node} was not released from its start-up taint: ${outcome.message}`;
      return ['refused', { code: 'start-up-refused', message, pace: 'backoff' }];
    }
    case 'unsent':
    case 'ambiguous': {
      const message = `it is not known whether node ${node} was released from its start-up taint`;
      return ['open', { code: 'outcome-open', message, pace: 'backoff' }];
    }
  }
}
