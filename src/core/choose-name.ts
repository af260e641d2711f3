/**
 * The name of a node's next pod (ADR 0030; S1, S2, S13).
 *
 * It follows from the newest pod that is known to have been in the slot, living or gone; from the node
 * alone where none is known. With surge a slot is of a node and a revision. If a known pod bears the
 * name that comes out, the next one follows from that pod, and so on: so no pod gets a name that one
 * is known to have borne, and whoever knows the same chooses the same. It does not decide whether a
 * pod may be created (plan-create.ts).
 */
import type { Uid } from './model/identifiers.ts';
import type { NodeView, PlannedCreate } from './model/plan.ts';
import type { PodProjection } from './model/projections.ts';
import type { Tombstone } from './model/tombstone.ts';
import { compareText } from './compare-text.ts';
import { slotName, successorName } from './naming.ts';
import type { Planning } from './planning.ts';
import { revisionHashOfPod } from './pod-facts.ts';

/** A name and, where it follows from a pod that is there, that pod. */
export type NameChoice = Pick<PlannedCreate, 'name' | 'predecessor'>;

/** Pods of one node whose names are not to be asked for. */
export interface Bearers {
  /** By name; those that are there win over those that are gone. */
  readonly byName: ReadonlyMap<string, Bearer>;
  /** From which the name follows; undefined: nobody is known to have been in the slot. */
  readonly newest: Bearer | undefined;
}

interface Bearer {
  readonly name: string;
  readonly uid: Uid;
  readonly isThere: boolean;
}

/** Everybody who is known to bear, or to have borne, a name of this node. */
export function findBearers(planning: Planning, nodeView: NodeView): Bearers {
  const node = nodeView.node.name;
  const gone = planning.goneByNode.get(node) ?? [];
  const released = planning.releasedByNode.get(node) ?? [];
  const living = [...nodeView.pods, ...nodeView.held, ...released];
  const byName = new Map<string, Bearer>();
  for (const { name, uid } of gone) byName.set(name, { name, uid, isThere: false });
  const found = planning.refusals.get(node)?.holders ?? [];
  for (const { name, uid } of [...living, ...found]) byName.set(name, { name, uid, isThere: true });
  return { byName, newest: newestOf({ living, gone }, revisionOfSlot(planning)) };
}

/** The name to ask for, and the pod whose successor it is if that one is there. */
export function chooseName(
  planning: Planning,
  nodeView: NodeView,
  { byName, newest }: Bearers,
): NameChoice {
  const daemonSetName = planning.view.name;
  const slot = revisionOfSlot(planning);
  const revision = slot === undefined ? {} : { revision: slot };
  const nameAfter = ({ uid }: Bearer): string =>
    successorName({ daemonSetName, predecessorUid: uid, ...revision });
  const node = nodeView.node.name;
  let last = newest;
  let name =
    last === undefined
      ? slotName({ daemonSetName, daemonSetUid: planning.view.uid, node, ...revision })
      : nameAfter(last);
  const passed = new Set<Uid>();
  let bearer = byName.get(name);
  while (bearer !== undefined && !passed.has(bearer.uid)) {
    passed.add(bearer.uid);
    last = bearer;
    name = nameAfter(bearer);
    bearer = byName.get(name);
  }
  return last?.isThere === true
    ? { name, predecessor: { name: last.name, uid: last.uid } }
    : { name };
}

/** With surge each revision has a slot of its own on a node (S2). */
function revisionOfSlot({ isSurging, context }: Planning): string | undefined {
  return isSurging ? context.currentHash : undefined;
}

/** Made last; of those made in one second the one that is there, or was told to be gone last. */
function newestOf(
  pods: { readonly living: readonly PodProjection[]; readonly gone: readonly Tombstone[] },
  slot: string | undefined,
): Bearer | undefined {
  const isOfSlot = (revision: string | undefined): boolean =>
    slot === undefined || revision === slot;
  const candidates = [
    ...pods.living
      .filter((pod) => isOfSlot(revisionHashOfPod(pod)))
      .map((pod) => ({ ...pod, isThere: true, goneAtMs: Infinity })),
    ...pods.gone
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
  return first === undefined
    ? undefined
    : { name: first.name, uid: first.uid, isThere: first.isThere };
}
