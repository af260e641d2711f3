/**
 * May a node get its pod now, and under which name (design 3, protocol 4–6, spec faults 86, 88)?
 *
 * The slot name, unless a pod that is still there holds it: then its successor, down the chain.
 * One unresolved create name per node: what was recorded and not answered is re-issued under the
 * name it has, whatever name would be chosen today, so that a request still on its way can only meet
 * its own name (S1). A successor waits until that earlier create is resolved, and its predecessor is
 * read live by the caller: it must still be there.
 */
import type { NodeName, Uid } from './model/identifiers.ts';
import type { NodeView, PlannedCreate } from './model/plan.ts';
import type { CreateIntent, NameHolder } from './model/state.ts';
import type { NodeCode } from './model/verdict.ts';
import { slotName, successorName } from './naming.ts';
import type { Planning } from './planning.ts';
import { resolvedAtMs } from './request-life.ts';

/** Why nothing is done on a node although something is missing there; becomes its verdict. */
export interface Wait {
  readonly code: NodeCode;
  /** The clause after "Node X: …", for a person. */
  readonly message: string;
  readonly pod?: string;
  readonly untilMs?: number;
}

/** A name and, with a successor name, the pod whose successor it is. */
export type NameChoice = Pick<PlannedCreate, 'name' | 'predecessor'>;

/** Create under this name, or wait. */
export type CreateDecision =
  | { readonly kind: 'create'; readonly choice: NameChoice }
  | { readonly kind: 'wait'; readonly wait: Wait };

/** Decides about the pod that a node lacks. */
export function decideCreate(planning: Planning, nodeView: NodeView): CreateDecision {
  const blocked = findObstacle(planning, nodeView.node.name);
  if (blocked !== undefined) return { kind: 'wait', wait: blocked };
  return decideName(planning, nodeView);
}

function findObstacle(planning: Planning, node: NodeName): Wait | undefined {
  const { nowMs } = planning.view;
  const unseen = planning.unseenCreates.get(node);
  if (unseen !== undefined) {
    const message = `pod ${unseen.name} was created; waiting for the watcher to report it`;
    return { code: 'Creating', pod: unseen.name, message };
  }
  if (!planning.hasTemplateLabels) {
    return { code: 'Blocked', message: 'the template has no labels, so no pod can be made of it' };
  }
  const refusal = planning.refusals.get(node);
  if (refusal !== undefined && refusal.notBeforeMs > nowMs) {
    const { code, message, notBeforeMs } = refusal;
    const text = `its pod was refused (${code}: ${message}); it is tried again later`;
    return { code: 'Refused', message: text, untilMs: notBeforeMs };
  }
  const { retry } = planning.context.state;
  if (retry?.holdsCreates === true && retry.notBeforeMs > nowMs) {
    const message = `no pod can be created at the moment (${retry.code}); it is tried again later`;
    return { code: 'WaitingForCluster', message, untilMs: retry.notBeforeMs };
  }
  return undefined;
}

/** Pods under whose names nothing can be created: in the view, just released, or found live. */
function holdersOf(planning: Planning, nodeView: NodeView): ReadonlyMap<string, NameHolder> {
  const node = nodeView.node.name;
  const holders = new Map<string, NameHolder>();
  const released = planning.releasedByNode.get(node) ?? [];
  for (const pod of [...nodeView.pods, ...nodeView.held, ...released]) holders.set(pod.name, pod);
  for (const pod of planning.refusals.get(node)?.holders ?? []) holders.set(pod.name, pod);
  return holders;
}

function decideName(planning: Planning, nodeView: NodeView): CreateDecision {
  const node = nodeView.node.name;
  const holders = holdersOf(planning, nodeView);
  const unresolved = planning.unresolvedCreates.get(node) ?? [];
  const [pending, ...others] = unresolved;
  if (pending !== undefined) {
    const mayRepeat = others.length === 0 && !holders.has(pending.name);
    if (mayRepeat) return { kind: 'create', choice: { name: pending.name } };
    return waitForResolution(planning, [pending, ...others]);
  }
  // Dead by now, but the view may be older than its last moment: its own name stays the safe one.
  const expired = planning.expiredCreates.get(node)?.find(({ name }) => !holders.has(name));
  if (expired !== undefined) return { kind: 'create', choice: { name: expired.name } };
  const choice = chooseName(planning, node, holders);
  const { restrictedUntilMs } = planning;
  if (restrictedUntilMs === undefined) return { kind: 'create', choice };
  // A DaemonSet whose status nobody wrote was never acted on: nothing of its own can be on its way.
  const wasActedOn = (planning.view.daemonSet.status?.observedGeneration ?? 0) > 0;
  if (choice.predecessor === undefined && !wasActedOn) return { kind: 'create', choice };
  return { kind: 'wait', wait: waitAfterLoss(choice, restrictedUntilMs) };
}

/**
 * The state may have been lost with a create on record that is still on its way. Under which name, nobody knows: a
 * successor's predecessor may be gone by now, so that the slot is free (protocol 6, faults 34, 86).
 */
function waitAfterLoss({ predecessor }: NameChoice, untilMs: number): Wait {
  if (predecessor === undefined) {
    const message =
      'earlier requests may have been forgotten; its pod is created once they are certainly dead';
    return { code: 'WaitingForCluster', message, untilMs };
  }
  const { name: pod } = predecessor;
  const message =
    `pod ${pod} still holds the name of the node's pod, and earlier requests may ` +
    'have been forgotten; a pod under another name is created once they are certainly dead';
  return { code: 'HeldByFinalizer', pod, message, untilMs };
}

/** The slot name, or the last name of the chain of successors that nobody holds. */
function chooseName(
  planning: Planning,
  node: NodeName,
  holders: ReadonlyMap<string, NameHolder>,
): NameChoice {
  const daemonSetName = planning.view.name;
  const revision = planning.isSurging ? planning.context.currentHash : undefined;
  let name = slotName({
    daemonSetName,
    daemonSetUid: planning.view.uid,
    node,
    ...(revision === undefined ? {} : { revision }),
  });
  let predecessor = holders.get(name);
  const passed = new Set<Uid>();
  let last: NameHolder | undefined;
  while (predecessor !== undefined && !passed.has(predecessor.uid)) {
    passed.add(predecessor.uid);
    last = predecessor;
    name = successorName({ daemonSetName, predecessorUid: predecessor.uid });
    predecessor = holders.get(name);
  }
  if (last === undefined) return { name };
  return { name, predecessor: { name: last.name, uid: last.uid } };
}

/** Two names may be on their way, or the one that is still has its former holder: time decides. */
function waitForResolution(planning: Planning, pending: readonly CreateIntent[]): CreateDecision {
  const { requestTimeoutMs } = planning.context;
  const untilMs = Math.max(...pending.map((intent) => resolvedAtMs(intent, requestTimeoutMs)));
  const names = pending.map(({ name }) => name).join(', ');
  const message =
    `an earlier request to create ${names} may still be on its way; its pod is created once that ` +
    'request is certainly dead';
  return { kind: 'wait', wait: { code: 'HeldByFinalizer', message, untilMs } };
}
