/**
 * Does an owner that a reference names exist?
 *
 * Asked of the API server, not of the graph, before anything is deleted.
 */
import type { LocalClient } from '../../client/local-client.ts';
import type { Owner } from '../../objects/api-object.ts';
import { refOf } from '../shared/known-resources.ts';
import type { KnownKinds } from '../shared/known-resources.ts';
import { FOREGROUND_FINALIZER, hasFinalizer, isBeingDeleted } from './finalizers.ts';

/** What became of an owner. Another UID at its name counts as absent. */
export type OwnerState = 'solid' | 'absent' | 'waiting';

/** Either a state, or the reference makes no sense, or the API server did not answer. */
export type OwnerLookup =
  | { readonly kind: 'known'; readonly state: OwnerState }
  /**
   * The kind is not served here, or a cluster-scoped object names a namespaced owner: nothing may be concluded, and
   * another try would end the same.
   */
  | { readonly kind: 'unanswerable' }
  | { readonly kind: 'failed' };

/** Looks the owner of an object in a namespace ('' for a cluster-scoped one) up. */
export async function classifyOwner(
  { client, kinds }: { readonly client: LocalClient; readonly kinds: KnownKinds },
  of: { readonly owner: Owner; readonly namespace: string },
): Promise<OwnerLookup> {
  const { owner, namespace } = of;
  const known = kinds.ofKind(owner);
  if (known === undefined || (known.isNamespaced && namespace === '')) {
    return { kind: 'unanswerable' };
  }
  const found = await client.get(refOf(known, { name: owner.name, namespace }));
  if (found.kind === 'refused') {
    return found.status.code === 404 ? { kind: 'known', state: 'absent' } : { kind: 'failed' };
  }
  if (found.object.metadata.uid !== owner.uid) return { kind: 'known', state: 'absent' };
  const isWaiting =
    isBeingDeleted(found.object) && hasFinalizer(found.object, FOREGROUND_FINALIZER);
  return { kind: 'known', state: isWaiting ? 'waiting' : 'solid' };
}
