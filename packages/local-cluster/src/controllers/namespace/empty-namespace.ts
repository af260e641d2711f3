/**
 * One round of emptying a terminating namespace: deletes everything that is not being deleted yet, then counts what is
 * left.
 *
 * Pods go first, with their grace; nothing else is touched before the last of them is gone, so that a pod finds its
 * ConfigMaps and Secrets to the end.
 */
import type { LocalClient } from '../../client/local-client.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import { refOf } from '../shared/known-resources.ts';
import type { KnownKinds, KnownResource } from '../shared/known-resources.ts';
import type { NamespaceContent } from './namespace-content.ts';

/** Empties as far as it goes now. */
export async function emptyNamespace(
  { client, kinds }: { readonly client: LocalClient; readonly kinds: KnownKinds },
  namespace: string,
): Promise<NamespaceContent> {
  const namespaced = kinds.all().filter(({ isNamespaced }) => isNamespaced);
  const round = new Round(client, namespace);
  for (const known of namespaced) if (known.resource === 'pods') await round.empty(known);
  if (round.remaining.size > 0) return round;
  for (const known of namespaced) if (known.resource !== 'pods') await round.empty(known);
  return round;
}

class Round implements NamespaceContent {
  readonly remaining = new Map<string, number>();
  readonly finalizers = new Map<string, number>();
  readonly failures: string[] = [];
  readonly #client: LocalClient;
  readonly #namespace: string;

  constructor(client: LocalClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  async empty(known: KnownResource): Promise<void> {
    const objects = await this.#list(known);
    for (const object of objects) await this.#delete(known, object);
    const left = objects.length === 0 ? [] : await this.#list(known);
    if (left.length === 0) return;
    this.remaining.set(groupResourceOf(known), left.length);
    for (const { metadata } of left) {
      for (const finalizer of metadata.finalizers ?? []) {
        this.finalizers.set(finalizer, (this.finalizers.get(finalizer) ?? 0) + 1);
      }
    }
  }

  #list({ resource }: KnownResource): Promise<readonly ApiObject[]> {
    return this.#client.list({ resource, namespace: this.#namespace });
  }

  async #delete(known: KnownResource, { metadata }: ApiObject): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const { uid } = metadata;
    const deleted = await this.#client.delete(refOf(known, metadata), {
      uid,
      propagation: 'Background',
    });
    if (deleted.kind === 'ok' || deleted.status.code === 404 || deleted.status.code === 409) return;
    this.failures.push(deleted.status.message ?? `${known.resource} ${metadata.name}`);
  }
}

function groupResourceOf({ resource }: KnownResource): string {
  return resource.includes('.') ? resource : `${resource}.`;
}
