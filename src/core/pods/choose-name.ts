/**
 * The name of a node's next pod (ADR 0030; S1, S2, S13).
 *
 * It follows from the newest pod that is known to have been in the slot, living or gone; from the node
 * alone where none is known. With surge a slot is of a node and a revision. If a known pod bears the
 * name that comes out, the next one follows from that pod, and so on: so no pod gets a name that one
 * is known to have borne, and runs that know the same pods choose the same name. It does not decide whether a
 * pod may be created (plan-create.ts).
 */
import type { NodeName, Uid } from '../model/identifiers.ts';
import type { NodeView, PlannedCreate } from '../model/plan.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { slotName, successorName } from '../pod/naming.ts';
import type { Bearer, Planning } from './planning.ts';
import { revisionHashOfPod } from '../pod/pod-facts.ts';

/** A name and, where it follows from a pod that is there, that pod. */
export type NameChoice = Pick<PlannedCreate, 'name' | 'predecessor'>;

/** Who bears a name, or has borne it: a pod of the DaemonSet, or one without a controller that was found live. */
export function bearerOf(planning: Planning, node: NodeName, name: string): Bearer | undefined {
  const found = planning.refusals.get(node)?.holders?.find((holder) => holder.name === name);
  return found === undefined ? planning.bearers.get(name) : { ...found, isThere: true };
}

/** The name to ask for, and the pod whose successor it is if that one is there. */
export function chooseName(planning: Planning, nodeView: NodeView): NameChoice {
  const node = nodeView.node.name;
  const { name: daemonSetName, uid: daemonSetUid } = planning.view;
  const slot = revisionOfSlot(planning);
  const revision = slot === undefined ? {} : { revision: slot };
  const nameAfter = ({ uid }: Bearer): string =>
    successorName({ daemonSetName, predecessorUid: uid, ...revision });
  let last = findAnchor(planning, nodeView, slot);
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
function revisionOfSlot({ isSurging, context }: Planning): string | undefined {
  return isSurging ? context.currentHash : undefined;
}

/** The pod made last; of those made in one second the one that is there, or was told to be gone last. */
function findAnchor(
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
