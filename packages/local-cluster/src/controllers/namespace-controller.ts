/**
 * The namespace controller: empties terminating namespaces, then takes its finalizer off them.
 *
 * Looks again whenever an object of a terminating namespace changes. Differs from Kubernetes: it begins at once instead
 * of after 5 s, and writes no conditions about what is left.
 */
import { isDeleted } from '../client/local-client.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { refOf } from './shared/known-resources.ts';
import type { KnownResource } from './shared/known-resources.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome } from './shared/work-queue.ts';

const FINALIZER = 'kubernetes';

/** Starts it. */
export function startNamespaceController(context: ControllerContext): RunningController {
  const { mirrors, kinds, clock, log } = context;
  const queue = createWorkQueue({
    name: 'namespace',
    clock,
    log,
    process: (name) => terminate(context, name),
  });
  const namespaces = mirrors.of('namespaces');
  namespaces.subscribe(({ type, object: { metadata } }) => {
    if (type !== 'DELETED' && metadata.deletionTimestamp !== undefined) queue.add(metadata.name);
  });
  kinds.onServed(({ resource, isNamespaced }) => {
    // Events go as soon as they are deleted, so they are listed, not watched.
    if (!isNamespaced || resource === 'events') return;
    mirrors.of(resource).subscribe(({ object: { metadata } }) => {
      const { namespace = '' } = metadata;
      const isTerminating = namespaces.get(namespace)?.metadata.deletionTimestamp !== undefined;
      if (isTerminating) queue.add(namespace);
    });
  });
  return { stop: queue.stop };
}

async function terminate(context: ControllerContext, name: string): Promise<WorkOutcome> {
  const { client } = context;
  const found = await client.get({ resource: 'namespaces', name });
  if (found.kind === 'refused') return found.status.code === 404 ? DONE : RETRY;
  const namespace = found.object;
  const finalizers = finalizersOf(namespace);
  if (namespace.metadata.deletionTimestamp === undefined || !finalizers.includes(FINALIZER)) {
    return DONE;
  }
  const content = await emptyNamespace(context, name);
  if (content !== 'empty') return content === 'remaining' ? DONE : RETRY;
  const rest = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const spec = { ...(namespace['spec'] as object), finalizers: rest };
  const ref = { resource: 'namespaces', name } as const;
  const finalized = await client.update(ref, { ...namespace, spec }, 'finalize');
  return finalized.kind === 'ok' || finalized.status.code === 404 ? DONE : RETRY;
}

/** What a round of deletions left: `remaining` objects that are on their way out, or `failed` deletions. */
type Content = 'empty' | 'remaining' | 'failed';

/** Pods go first, with their grace, and find their ConfigMaps and Secrets to the end. */
async function emptyNamespace(context: ControllerContext, name: string): Promise<Content> {
  const namespaced = context.kinds.all().filter(({ isNamespaced }) => isNamespaced);
  const pods = namespaced.filter(({ resource }) => resource === 'pods');
  const others = namespaced.filter(({ resource }) => resource !== 'pods');
  for (const round of [pods, others]) {
    const contents: Content[] = [];
    for (const known of round) contents.push(await deleteAll(context, known, name));
    if (contents.includes('failed')) return 'failed';
    if (contents.includes('remaining')) return 'remaining';
  }
  return 'empty';
}

async function deleteAll(
  { client }: ControllerContext,
  known: KnownResource,
  namespace: string,
): Promise<Content> {
  const { resource } = known;
  let hasFailed = false;
  const objects = await client.list({ resource, namespace });
  for (const { metadata } of objects) {
    if (metadata.deletionTimestamp !== undefined) continue;
    const options = { uid: metadata.uid, propagation: 'Background' } as const;
    const deleted = await client.delete(refOf(known, metadata), options);
    if (!isDeleted(deleted)) hasFailed = true;
  }
  if (hasFailed) return 'failed';
  const left = objects.length === 0 ? [] : await client.list({ resource, namespace });
  return left.length === 0 ? 'empty' : 'remaining';
}

function finalizersOf(namespace: ApiObject): readonly string[] {
  const spec = namespace['spec'] as { readonly finalizers?: readonly string[] } | undefined;
  return spec?.finalizers ?? [];
}
