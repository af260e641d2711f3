/**
 * Looks at one node of the ownership graph: asks the API server what is true, decides, and does it.
 *
 * The graph may be behind, so it only says where to look; nothing is deleted on its word.
 */
import type { LocalClient } from '../../client/local-client.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { refOf } from '../shared/known-resources.ts';
import type { KnownKinds, KnownResource } from '../shared/known-resources.ts';
import { classifyOwner } from './classify-owner.ts';
import type { RequestResult } from './collection-requests.ts';
import { deleteJudged, dropOwners, removeFinalizer, unblockOwners } from './collection-requests.ts';
import { decideCollection } from './decide-collection.ts';
import type { ClassifiedOwner, CollectionDecision } from './decide-collection.ts';
import { FOREGROUND_FINALIZER } from './finalizers.ts';
import type { GraphNode } from './owner-graph.ts';

/** What a look came to. */
export type AttemptResult =
  /** Settled until something changes. */
  | { readonly kind: 'done' }
  | { readonly kind: 'retry' }
  /** There is no such object with this UID: tell the graph. */
  | { readonly kind: 'absent' }
  /** Its blocking dependents must go first: look at them. */
  | { readonly kind: 'blocked'; readonly by: readonly GraphNode[] };

const DONE: AttemptResult = { kind: 'done' };

/** Whom it asks. */
export interface Collector {
  readonly client: LocalClient;
  readonly kinds: KnownKinds;
}

/** One look. */
export async function attemptToDelete(
  { client, kinds }: Collector,
  node: GraphNode,
): Promise<AttemptResult> {
  if (node.isBeingDeleted && !node.isDeletingDependents) return DONE;
  const { coordinates } = node;
  const known = kinds.ofKind(coordinates);
  // A kind that is not served, or a namespaced owner of a cluster-scoped object: nothing can be known of it.
  if (known === undefined || (known.isNamespaced && coordinates.namespace === '')) return DONE;
  const found = await client.get(refOf(known, coordinates));
  if (found.kind === 'refused') {
    return found.status.code === 404 ? { kind: 'absent' } : { kind: 'retry' };
  }
  if (found.object.metadata.uid !== coordinates.uid) return { kind: 'absent' };
  const attempt = { client, kinds, node, known };
  return node.isDeletingDependents
    ? finishForeground(attempt)
    : untilSeen(attempt, await collect(attempt, found.object));
}

/** A virtual node that exists is about to be seen; a kind that is not watched never will be. */
function untilSeen({ node, known }: Attempt, result: AttemptResult): AttemptResult {
  const isAwaited = node.isVirtual && known.resource !== 'events';
  return result.kind === 'done' && isAwaited ? { kind: 'retry' } : result;
}

interface Attempt extends Collector {
  readonly node: GraphNode;
  readonly known: KnownResource;
}

async function finishForeground({ client, node, known }: Attempt): Promise<AttemptResult> {
  const { uid } = node.coordinates;
  const blocking = [...node.dependents].filter(({ owners }) =>
    owners.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
  );
  if (blocking.length > 0) {
    return { kind: 'blocked', by: blocking.filter((each) => !each.isDeletingDependents) };
  }
  const ref = refOf(known, node.coordinates);
  return after(await removeFinalizer(client, { ref, uid, finalizer: FOREGROUND_FINALIZER }));
}

async function collect(attempt: Attempt, latest: ApiObject): Promise<AttemptResult> {
  const owners: ClassifiedOwner[] = [];
  const namespace = latest.metadata.namespace ?? '';
  for (const owner of latest.metadata.ownerReferences ?? []) {
    const lookup = await classifyOwner(attempt, { owner, namespace });
    if (lookup.kind === 'failed') return { kind: 'retry' };
    if (lookup.kind === 'unanswerable') return DONE;
    owners.push({ owner, state: lookup.state });
  }
  const dependents = [...attempt.node.dependents];
  const decision = decideCollection({
    latest,
    owners,
    hasDependents: dependents.length > 0,
    hasWaitingDependent: dependents.some(({ isDeletingDependents }) => isDeletingDependents),
  });
  return carryOut(attempt, latest, decision);
}

async function carryOut(
  { client, node, known }: Attempt,
  latest: ApiObject,
  decision: CollectionDecision,
): Promise<AttemptResult> {
  const ref = refOf(known, node.coordinates);
  const dependentUid = latest.metadata.uid;
  switch (decision.kind) {
    case 'keep':
      return DONE;
    case 'drop-owners':
      return after(await dropOwners(client, { ref, dependentUid, ownerUids: decision.uids }));
    case 'delete': {
      const { propagation, unblocksOwners } = decision;
      if (!unblocksOwners)
        return after(await deleteJudged(client, { ref, judged: latest, propagation }));
      const owners = latest.metadata.ownerReferences ?? [];
      const unblocked = await unblockOwners(client, { ref, dependentUid, owners });
      // The object has changed under our judgement; the next look deletes it.
      return unblocked === 'done' ? { kind: 'retry' } : after(unblocked);
    }
  }
}

function after(result: RequestResult): AttemptResult {
  if (result === 'failed') return { kind: 'retry' };
  return result === 'absent' ? { kind: 'absent' } : DONE;
}
