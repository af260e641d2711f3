/**
 * Establishes custom kinds: judges the names of a definition and says so in its status; where a definition is deleted, its
 * objects go first.
 *
 * Differs from Kubernetes: a definition has its finalizer from the start, not from its deletion on.
 */
import { isSameJson } from '@rollcall/base/json.ts';
import type { ClientOutcome, LocalClient } from '../../client/local-client.ts';
import type { ApiObject, ResourceName } from '../../objects/api-object.ts';
import { DEFINITIONS, servedVersionsOf } from '../../objects/custom-definition.ts';
import { formatTime } from '../../objects/timestamps.ts';
import type { ControllerContext, RunningController } from '../shared/controller-context.ts';
import { createWorkQueue, DONE, RETRY } from '../shared/work-queue.ts';
import type { WorkOutcome } from '../shared/work-queue.ts';
import { definitionStatus } from './definition-status.ts';

const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** Starts it. */
export function startCustomKinds(context: ControllerContext): RunningController {
  const { mirrors, kinds, clock, log } = context;
  const definitions = mirrors.of(DEFINITIONS);
  const queue = createWorkQueue({
    name: 'custom-kinds',
    clock,
    log,
    workers: 1,
    process: (name) => settle(context, name),
  });
  definitions.subscribe(({ type, object }) => {
    if (type !== 'DELETED') queue.add(object.metadata.name);
    // Names that it held are free.
    else for (const { metadata } of definitions.list()) queue.add(metadata.name);
  });
  kinds.onServed(({ resource }) => {
    if (definitions.get(resource) === undefined) return;
    mirrors.of(resource).subscribe(({ type }) => {
      if (type === 'DELETED' && isTerminating(definitions.get(resource))) queue.add(resource);
    });
  });
  return { stop: queue.stop };
}

async function settle(context: ControllerContext, name: string): Promise<WorkOutcome> {
  const found = await context.client.get({ resource: DEFINITIONS, name });
  if (found.kind === 'refused') return found.status.code === 404 ? DONE : RETRY;
  return isTerminating(found.object)
    ? empty(context, found.object)
    : establish(context, found.object);
}

/** First the finalizer: no object may outlive its definition. */
async function establish(
  { client, clock, mirrors }: ControllerContext,
  definition: ApiObject,
): Promise<WorkOutcome> {
  const { name, finalizers = [] } = definition.metadata;
  let latest = definition;
  if (!finalizers.includes(FINALIZER)) {
    const metadata = { ...definition.metadata, finalizers: [...finalizers, FINALIZER] };
    const kept = await client.update({ resource: DEFINITIONS, name }, { ...definition, metadata });
    if (kept.kind === 'refused') return isGone(kept) ? DONE : RETRY;
    latest = kept.object;
  }
  const others = [...mirrors.of(DEFINITIONS).list()];
  const status = definitionStatus(latest, others, formatTime(clock.nowMs()));
  if (isSameJson(status, latest['status'])) return DONE;
  const written = await client.updateStatus({ resource: DEFINITIONS, name }, { ...latest, status });
  return written.kind === 'ok' || isGone(written) ? DONE : RETRY;
}

/** Deletes what there is of the kind; the end of the last object leads here again. */
async function empty({ client }: ControllerContext, definition: ApiObject): Promise<WorkOutcome> {
  const { name, finalizers = [] } = definition.metadata;
  if (!finalizers.includes(FINALIZER)) return DONE;
  if (servedVersionsOf(definition).length > 0) {
    const resource = name as ResourceName; // a definition is called as its resource
    if (!(await deleteAll(client, resource))) return RETRY;
    if ((await client.list({ resource })).length > 0) return DONE;
  }
  const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const metadata = { ...definition.metadata, finalizers: others };
  const freed = await client.update({ resource: DEFINITIONS, name }, { ...definition, metadata });
  return freed.kind === 'ok' || isGone(freed) ? DONE : RETRY;
}

/** False when a deletion was refused. */
async function deleteAll(client: LocalClient, resource: ResourceName): Promise<boolean> {
  let isDone = true;
  for (const { metadata } of await client.list({ resource })) {
    if (metadata.deletionTimestamp !== undefined) continue;
    const { namespace, name, uid } = metadata;
    const ref = { resource, name, ...(namespace === undefined ? {} : { namespace }) };
    const deleted = await client.delete(ref, { uid, propagation: 'Background' });
    if (deleted.kind === 'refused' && !isGone(deleted)) isDone = false;
  }
  return isDone;
}

function isTerminating(definition: ApiObject | undefined): boolean {
  return definition?.metadata.deletionTimestamp !== undefined;
}

function isGone(outcome: ClientOutcome): boolean {
  return outcome.kind === 'refused' && outcome.status.code === 404;
}
