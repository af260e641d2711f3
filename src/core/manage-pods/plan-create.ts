/**
 * May a node get its pod now, and under which name (design 3, protocol 4–6, spec faults 86, 88)?
 *
 * One unresolved create name per node: what has no answer is re-issued under the name it has, so that a request
 * still on its way can only meet its own name (S1). A name that a pod is known to have borne is never asked for
 * again (S13, ADR 0030): the node waits until such a request is dead. The next name follows from the newest pod
 * known to have been in the slot, living or gone, else from the node alone: runs that know the same pods choose
 * the same name. If that pod is there, the caller reads it live first.
 */
import type { NodeName, Uid } from '../model/identifiers.ts';
import type { NodeView, PlannedCreate } from '../model/plan.ts';
import type { CreateIntent } from '../model/state.ts';
import type { NodeCode } from '../model/verdict.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { slotName, successorName } from '../pod/naming.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';
import type { Bearer, Planning } from './planning.ts';
import { resolvedAtMs } from '../pod/request-life.ts';

/** Why nothing is done on a node although something is missing there; becomes its verdict. */
export interface Wait {
  readonly code: NodeCode;
  /** The clause after "Node X: …", for a person. */
  readonly message: string;
  readonly pod?: string;
  readonly untilMs?: number;
}

/** A name and, where it follows from a pod that is there, that pod. */
export type NameChoice = Pick<PlannedCreate, 'name' | 'predecessor'>;

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
  const { targets } = planning;
  if (targets.isFormer(node) && targets.former === undefined) {
    const message = `its pod is to be of the last good revision (${targets.hashOf(node) ?? 'unknown'}), which is not readable now`;
    return { code: 'WaitingForRevision', message };
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

function decideName(planning: Planning, nodeView: NodeView): CreateDecision {
  const node = nodeView.node.name;
  const isBorne = ({ name, answer }: CreateIntent): boolean =>
    answer !== undefined || bearerOf(planning, node, name) !== undefined;
  const unresolved = planning.unresolvedCreates.get(node) ?? [];
  const [pending, ...others] = unresolved;
  if (pending !== undefined) {
    const mayRepeat = others.length === 0 && !isBorne(pending);
    if (mayRepeat) return { kind: 'create', choice: { name: pending.name } };
    return waitForResolution(planning, [pending, ...others]);
  }
  // Dead by now, but the view may be older than its last moment: its own name stays the safe one.
  const expired = planning.expiredCreates.get(node)?.find((intent) => !isBorne(intent));
  if (expired !== undefined) return { kind: 'create', choice: { name: expired.name } };
  const choice = chooseName(planning, nodeView);
  const { restrictedUntilMs, wasActedOn } = planning;
  if (restrictedUntilMs === undefined) return { kind: 'create', choice };
  if (choice.predecessor === undefined && !wasActedOn) return { kind: 'create', choice };
  return { kind: 'wait', wait: waitAfterLoss(choice, restrictedUntilMs) };
}

/**
 * The state may have been lost with a create on record that is still on its way. Its name cannot be computed: it may
 * follow from a pod of which nothing is remembered (protocol 6, faults 34, 86).
 */
function waitAfterLoss({ predecessor }: NameChoice, untilMs: number): Wait {
  if (predecessor === undefined) {
    const message =
      'earlier requests may have been forgotten; its pod is created once they are certainly dead';
    return { code: 'WaitingForCluster', message, untilMs };
  }
  const { name: pod } = predecessor;
  const message =
    `pod ${pod} is still there, and earlier requests may have been forgotten; a pod under another ` +
    'name is created once they are certainly dead';
  return { code: 'WaitingForRequest', pod, message, untilMs };
}

/** Two names may be on their way, or a pod has borne the one that is: time decides. */
function waitForResolution(planning: Planning, pending: readonly CreateIntent[]): CreateDecision {
  const { requestTimeoutMs } = planning.context;
  const untilMs = Math.max(...pending.map((intent) => resolvedAtMs(intent, requestTimeoutMs)));
  const names = pending.map(({ name }) => name).join(', ');
  const message =
    `an earlier request to create ${names} may still be on its way; its pod is created once that ` +
    'request is certainly dead';
  return { kind: 'wait', wait: { code: 'WaitingForRequest', message, untilMs } };
}

/** Who bears a name, or has borne it: a pod of the DaemonSet, or one without a controller that was found live. */
function bearerOf(planning: Planning, node: NodeName, name: string): Bearer | undefined {
  const found = planning.refusals.get(node)?.holders?.find((holder) => holder.name === name);
  return found === undefined ? planning.bearers.get(name) : { ...found, isThere: true };
}

/**
 * The name to ask for, and the pod whose successor it is if that one is there. If a known pod bears the name that comes
 * out, the next one follows from that pod, and so on.
 */
function chooseName(planning: Planning, nodeView: NodeView): NameChoice {
  const node = nodeView.node.name;
  const { name: daemonSetName, uid: daemonSetUid } = planning.view;
  const slot = revisionOfSlot(planning, node);
  const revision = slot === undefined ? {} : { revision: slot };
  const nameAfter = ({ uid }: Bearer): string =>
    successorName({ daemonSetName, predecessorUid: uid, ...revision });
  let last = findLastBearer(planning, nodeView, slot);
  let name =
    last === undefined
      ? slotName({ daemonSetName, daemonSetUid, node, ...revision })
      : nameAfter(last);
  const passed = new Set<Uid>();
  let bearer = bearerOf(planning, node, name);
  while (bearer !== undefined && !passed.has(bearer.uid)) {
    passed.add(bearer.uid);
    last = bearer;
    name = nameAfter(bearer);
    bearer = bearerOf(planning, node, name);
  }
  return last?.isThere === true
    ? { name, predecessor: { name: last.name, uid: last.uid } }
    : { name };
}

/** With surge each revision has a slot of its own on a node (S2). */
function revisionOfSlot({ isSurging, targets }: Planning, node: NodeName): string | undefined {
  return isSurging ? targets.hashOf(node) : undefined;
}

/** The pod made last; of those made in one second the one that is there, or was told to be gone last. */
function findLastBearer(
  planning: Planning,
  { node, pods, held }: NodeView,
  slot: string | undefined,
): Bearer | undefined {
  const isOfSlot = (revision: string | undefined): boolean =>
    slot === undefined || revision === slot;
  const released = planning.releasedByNode.get(node.name) ?? [];
  const gone = planning.goneByNode.get(node.name) ?? [];
  const candidates = [
    ...[...pods, ...held, ...released]
      .filter((pod) => isOfSlot(revisionHashOfPod(pod)))
      .map((pod) => ({ ...pod, isThere: true, goneAtMs: Infinity })),
    ...gone
      .filter(({ revision }) => isOfSlot(revision))
      .map((tombstone) => ({ ...tombstone, isThere: false })),
  ];
  candidates.sort(
    (left, right) =>
      right.createdAtMs - left.createdAtMs ||
      // Two that are there: Infinity less itself is no number.
      (left.goneAtMs === right.goneAtMs ? 0 : right.goneAtMs - left.goneAtMs) ||
      compareText(left.uid, right.uid),
  );
  const [first] = candidates;
  if (first === undefined) return undefined;
  const { name, uid, isThere } = first;
  return { name, uid, isThere };
}
