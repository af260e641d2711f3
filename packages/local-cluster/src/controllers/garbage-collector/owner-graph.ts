/**
 * The ownership graph: who refers to whom as owner, kept from the watches' changes (upstream: GraphBuilder).
 *
 * An owner that is referred to before it is seen is a virtual node; whether it exists is asked of the API server, and
 * `confirmAbsent` then removes it. Invariants: a node's dependents are exactly the nodes whose owners name its UID;
 * each change returns the nodes worth a second look, and nothing is looked at otherwise, so a quiet cluster costs
 * nothing. Decisions about a node are decide-collection.ts's; the graph only says where to look.
 */
import type { ObservedChange } from '../../client/local-client.ts';
import type { ApiObject, Owner } from '../../objects/api-object.ts';
import type { Coordinates } from './coordinates.ts';
import {
  compareCoordinates,
  coordinatesOf,
  coordinatesOfOwner,
  isSamePlace,
  matchesOwner,
} from './coordinates.ts';
import {
  FOREGROUND_FINALIZER,
  hasFinalizer,
  isBeingDeleted,
  ORPHAN_FINALIZER,
} from './finalizers.ts';
import { diffOwners } from './owner-differences.ts';

/** An object, or an owner that somebody refers to. */
export interface GraphNode {
  coordinates: Coordinates;
  owners: readonly Owner[];
  readonly dependents: Set<GraphNode>;
  /** Never seen in a watch. */
  isVirtual: boolean;
  isBeingDeleted: boolean;
  /** Being deleted in the foreground: waits for its dependents. */
  isDeletingDependents: boolean;
}

/** UIDs to look at after a change. */
export interface GraphWork {
  readonly toDelete: ReadonlySet<string>;
  readonly toOrphan: ReadonlySet<string>;
}

class Work implements GraphWork {
  readonly toDelete = new Set<string>();
  readonly toOrphan = new Set<string>();

  look(node: GraphNode): void {
    this.toDelete.add(node.coordinates.uid);
  }
}

/** The graph. */
export class OwnerGraph {
  readonly #nodes = new Map<string, GraphNode>();
  readonly #isNamespacedKind: (kind: Pick<Coordinates, 'apiVersion' | 'kind'>) => boolean;

  constructor(isNamespacedKind: (kind: Pick<Coordinates, 'apiVersion' | 'kind'>) => boolean) {
    this.#isNamespacedKind = isNamespacedKind;
  }

  /** The node of a UID. */
  node(uid: string): GraphNode | undefined {
    return this.#nodes.get(uid);
  }

  /** Takes a watch's change in. */
  observe(change: ObservedChange): GraphWork {
    const work = new Work();
    if (change.type === 'DELETED') {
      const node = this.#nodes.get(change.object.metadata.uid);
      if (node !== undefined) this.#remove(node, work);
      return work;
    }
    const { previous } = change;
    if (previous !== undefined && previous.metadata.uid !== change.object.metadata.uid) {
      // Deleted and made again while the watch was interrupted.
      const node = this.#nodes.get(previous.metadata.uid);
      if (node !== undefined) this.#remove(node, work);
    }
    const node = this.#place(change.object, work);
    this.#noteTransitions({ node, object: change.object, previous }, work);
    return work;
  }

  /** The API server does not know an object at these coordinates with this UID (upstream: virtual delete event). */
  confirmAbsent(at: Coordinates): GraphWork {
    const work = new Work();
    const node = this.#nodes.get(at.uid);
    if (node === undefined) return work;
    const { matching, others } = partitionDependents(node, at);
    if (node.isVirtual && others.length > 0) {
      for (const dependent of matching) work.look(dependent);
      // The caller looks at the alternative after a delay: two places could deny each other for ever.
      if (isSamePlace(node.coordinates, at)) {
        node.coordinates = this.#alternativeTo(at, others) ?? node.coordinates;
      }
      return work;
    }
    if (!node.isVirtual && !isSamePlace(node.coordinates, at)) {
      for (const dependent of matching) work.look(dependent);
      return work;
    }
    this.#remove(node, work);
    return work;
  }

  #place(object: ApiObject, work: Work): GraphNode {
    const { uid, ownerReferences: owners = [] } = object.metadata;
    const known = this.#nodes.get(uid);
    if (known === undefined) {
      const node = createNode(coordinatesOf(object), owners);
      this.#nodes.set(uid, node);
      this.#addToOwners(node, owners, work);
      return node;
    }
    if (known.isVirtual) this.#confirmPresent(known, coordinatesOf(object), work);
    this.#changeOwners(known, owners, work);
    return known;
  }

  #confirmPresent(node: GraphNode, seenAt: Coordinates, work: Work): void {
    node.isVirtual = false;
    if (isSamePlace(node.coordinates, seenAt)) return;
    for (const dependent of partitionDependents(node, seenAt).others) work.look(dependent);
    node.coordinates = seenAt;
  }

  #changeOwners(node: GraphNode, owners: readonly Owner[], work: Work): void {
    if (node.owners === owners) return;
    const { added, removed, unblocked } = diffOwners(node.owners, owners);
    node.owners = owners;
    for (const uid of unblocked) {
      const owner = this.#nodes.get(uid);
      if (owner !== undefined) work.look(owner);
    }
    this.#addToOwners(node, added, work);
    for (const owner of removed) this.#nodes.get(owner.uid)?.dependents.delete(node);
  }

  #addToOwners(node: GraphNode, owners: readonly Owner[], work: Work): void {
    const { namespace } = node.coordinates;
    for (const owner of owners) {
      const ownerNode = this.#nodes.get(owner.uid);
      if (ownerNode === undefined) {
        const virtual = createNode(coordinatesOfOwner(owner, namespace), []);
        virtual.isVirtual = true;
        virtual.dependents.add(node);
        this.#nodes.set(owner.uid, virtual);
        work.look(virtual);
        continue;
      }
      ownerNode.dependents.add(node);
      if (isDoubtful(owner, namespace, ownerNode)) work.look(node);
      // Differs from Kubernetes: a dependent that is added to an owner that waits for its dependents is looked at too.
      if (ownerNode.isDeletingDependents) work.look(ownerNode);
    }
  }

  #noteTransitions(
    of: {
      readonly node: GraphNode;
      readonly object: ApiObject;
      readonly previous: ApiObject | undefined;
    },
    work: Work,
  ): void {
    const { node, object, previous } = of;
    if (!isBeingDeleted(object)) return;
    node.isBeingDeleted = true;
    const begins = (finalizer: string): boolean =>
      hasFinalizer(object, finalizer) &&
      !(previous !== undefined && isBeingDeleted(previous) && hasFinalizer(previous, finalizer));
    if (begins(ORPHAN_FINALIZER)) {
      work.toOrphan.add(node.coordinates.uid);
      return;
    }
    if (!begins(FOREGROUND_FINALIZER)) return;
    node.isDeletingDependents = true;
    for (const dependent of node.dependents) work.look(dependent);
    work.look(node);
  }

  #remove(node: GraphNode, work: Work): void {
    this.#nodes.delete(node.coordinates.uid);
    for (const dependent of node.dependents) work.look(dependent);
    for (const owner of node.owners) {
      const ownerNode = this.#nodes.get(owner.uid);
      if (ownerNode === undefined) continue;
      ownerNode.dependents.delete(node);
      if (ownerNode.isDeletingDependents) work.look(ownerNode);
    }
  }

  /** The next place, in order, at which a dependent claims the absent owner to be; round the ring. */
  #alternativeTo(absent: Coordinates, dependents: readonly GraphNode[]): Coordinates | undefined {
    const places = dependents
      .flatMap(({ owners, coordinates }) =>
        owners
          .filter((owner) => owner.uid === absent.uid)
          .map((owner) => coordinatesOfOwner(owner, coordinates.namespace)),
      )
      .map((place) => (this.#isNamespacedKind(place) ? place : { ...place, namespace: '' }))
      .filter((place) => !isSamePlace(place, absent))
      .sort(compareCoordinates);
    return places.find((place) => compareCoordinates(absent, place) < 0) ?? places[0];
  }
}

function createNode(coordinates: Coordinates, owners: readonly Owner[]): GraphNode {
  return {
    coordinates,
    owners,
    dependents: new Set(),
    isVirtual: false,
    isBeingDeleted: false,
    isDeletingDependents: false,
  };
}

/** Must the reference be checked against the API server, because the graph's owner is elsewhere? */
function isDoubtful(owner: Owner, namespace: string, ownerNode: GraphNode): boolean {
  const at = ownerNode.coordinates;
  if (!matchesOwner(owner, at)) return true;
  if (at.namespace === namespace) return false;
  return at.namespace !== '' || ownerNode.isVirtual;
}

/** Dependents that mean this place, and dependents that mean the same UID elsewhere; some are both. */
function partitionDependents(
  node: GraphNode,
  at: Coordinates,
): { readonly matching: readonly GraphNode[]; readonly others: readonly GraphNode[] } {
  const matching: GraphNode[] = [];
  const others: GraphNode[] = [];
  for (const dependent of node.dependents) {
    if (at.namespace !== '' && at.namespace !== dependent.coordinates.namespace) {
      others.push(dependent);
      continue;
    }
    const references = dependent.owners.filter((owner) => owner.uid === at.uid);
    if (references.some((owner) => matchesOwner(owner, at))) matching.push(dependent);
    if (references.some((owner) => !matchesOwner(owner, at))) others.push(dependent);
  }
  return { matching, others };
}
