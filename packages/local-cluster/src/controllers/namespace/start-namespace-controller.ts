/**
 * The namespace controller: empties terminating namespaces, then takes its finalizer off them.
 *
 * Looks again whenever an object of a terminating namespace changes, so that the last pod's end is acted upon at once.
 * Differs from Kubernetes: it begins at once instead of after 5 s (several API servers could still accept objects
 * there), and waits for changes instead of estimating when to look again.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { ControllerContext, RunningController } from '../shared/controller-context.ts';
import type { Condition } from '../shared/object-views.ts';
import { createWorkQueue, DONE, RETRY } from '../shared/work-queue.ts';
import type { WorkOutcome } from '../shared/work-queue.ts';
import { emptyNamespace } from './empty-namespace.ts';
import { planNamespaceConditions } from './namespace-conditions.ts';
import { isEmptied } from './namespace-content.ts';
import type { NamespaceContent } from './namespace-content.ts';

const FINALIZER = 'kubernetes';
const WORKERS = 4;

/** Starts it. */
export function startNamespaceController(context: ControllerContext): RunningController {
  const { mirrors, kinds, clock, log } = context;
  const queue = createWorkQueue({
    name: 'namespace',
    clock,
    log,
    workers: WORKERS,
    process: (name) => terminate(context, name),
  });
  const namespaces = mirrors.of('namespaces');
  const isTerminating = (name: string): boolean =>
    namespaces.get(name)?.metadata.deletionTimestamp !== undefined;
  namespaces.subscribe(({ type, object: { metadata } }) => {
    if (type !== 'DELETED' && metadata.deletionTimestamp !== undefined) queue.add(metadata.name);
  });
  kinds.onServed(({ resource, isNamespaced }) => {
    // Events go as soon as they are deleted, so they are listed, not watched.
    if (!isNamespaced || resource === 'events') return;
    mirrors.of(resource).subscribe(({ object: { metadata } }) => {
      const { namespace } = metadata;
      if (namespace !== undefined && isTerminating(namespace)) queue.add(namespace);
    });
  });
  return { stop: queue.stop };
}

async function terminate(context: ControllerContext, name: string): Promise<WorkOutcome> {
  const { client } = context;
  const found = await client.get({ resource: 'namespaces', name });
  if (found.kind === 'refused') return found.status.code === 404 ? DONE : RETRY;
  const namespace = found.object;
  if (namespace.metadata.deletionTimestamp === undefined) return DONE;
  if (!finalizersOf(namespace).includes(FINALIZER)) return DONE;
  const content = await emptyNamespace(context, name);
  const latest = await writeConditions(context, { namespace, content });
  if (latest === undefined) return RETRY;
  if (!isEmptied(content)) return content.failures.length > 0 ? RETRY : DONE;
  const finalizers = finalizersOf(latest).filter((finalizer) => finalizer !== FINALIZER);
  const spec = { ...(latest['spec'] as object), finalizers };
  const finalized = await client.update(
    { resource: 'namespaces', name },
    { ...latest, spec },
    'finalize',
  );
  return finalized.kind === 'ok' || finalized.status.code === 404 ? DONE : RETRY;
}

/** The namespace after the write; undefined when it must be tried again. */
async function writeConditions(
  { client, clock }: ControllerContext,
  of: { readonly namespace: ApiObject; readonly content: NamespaceContent },
): Promise<ApiObject | undefined> {
  const { namespace, content } = of;
  const status = (namespace['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const conditions = planNamespaceConditions(
    status.conditions ?? [],
    content,
    formatTime(clock.nowMs()),
  );
  if (conditions === undefined) return namespace;
  const written = await client.updateStatus(
    { resource: 'namespaces', name: namespace.metadata.name },
    { ...namespace, status: { ...status, phase: 'Terminating', conditions } },
  );
  return written.kind === 'ok' ? written.object : undefined;
}

function finalizersOf(namespace: ApiObject): readonly string[] {
  const spec = namespace['spec'] as { readonly finalizers?: readonly string[] } | undefined;
  return spec?.finalizers ?? [];
}
