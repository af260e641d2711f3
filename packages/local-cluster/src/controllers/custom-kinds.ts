/**
 * Establishes custom kinds: judges the names of a definition and says so in its status; where a definition is deleted,
 * its objects go first. Differs from Kubernetes: of names, kinds alone are compared; a definition that an API server
 * would refuse is not established; its finalizer is there from the start.
 */
import { isJsonObject, isSameJson, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClientOutcome } from '../client/local-client.ts';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import {
  DEFINITIONS,
  groupOf,
  isEstablished,
  isWellNamed,
  namesOf,
  servedVersionsOf,
  storageVersionOf,
} from '../objects/custom-definition.ts';
import { formatTime } from '../objects/timestamps.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome } from './shared/work-queue.ts';

const FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

/** Starts it. */
export function startCustomKinds(context: ControllerContext): RunningController {
  const { mirrors, kinds, clock, log } = context;
  const definitions = mirrors.of(DEFINITIONS);
  const queue = createWorkQueue({
    name: 'custom-kinds',
    clock,
    log,
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
  if (found.kind === 'refused') return settled(found);
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
    if (kept.kind === 'refused') return settled(kept);
    latest = kept.object;
  }
  const others = [...mirrors.of(DEFINITIONS).list()];
  const status = definitionStatus(latest, others, formatTime(clock.nowMs()));
  if (isSameJson(status, latest['status'])) return DONE;
  return settled(await client.updateStatus({ resource: DEFINITIONS, name }, { ...latest, status }));
}

/** Deletes what there is of the kind; the end of the last object leads here again. */
async function empty(context: ControllerContext, definition: ApiObject): Promise<WorkOutcome> {
  const { client } = context;
  const { name, finalizers = [] } = definition.metadata;
  if (!finalizers.includes(FINALIZER)) return DONE;
  if (servedVersionsOf(definition).length > 0) {
    const resource = name as ResourceName; // a definition is called as its resource
    for (const { metadata } of await client.list({ resource })) {
      if (metadata.deletionTimestamp !== undefined) continue;
      const { namespace, uid } = metadata;
      const where = namespace === undefined ? {} : { namespace };
      const ref = { resource, name: metadata.name, ...where };
      const deleted = await client.delete(ref, { uid, propagation: 'Background' });
      if (settled(deleted) !== DONE) return RETRY;
    }
    if ((await client.list({ resource })).length > 0) return DONE;
  }
  const others = finalizers.filter((finalizer) => finalizer !== FINALIZER);
  const metadata = { ...definition.metadata, finalizers: others };
  return settled(await client.update({ resource: DEFINITIONS, name }, { ...definition, metadata }));
}

function isTerminating(definition: ApiObject | undefined): boolean {
  return definition?.metadata.deletionTimestamp !== undefined;
}

function settled(outcome: ClientOutcome): WorkOutcome {
  return outcome.kind === 'ok' || outcome.status.code === 404 ? DONE : RETRY;
}

/** The status that a definition has beside others, in the words of the API server; a kind that is established stays so. */
function definitionStatus(
  definition: ApiObject,
  others: readonly ApiObject[],
  nowText: string,
): JsonObject {
  const before = isJsonObject(definition['status']) ? definition['status'] : {};
  const conflict = conflictOf(definition, others);
  const stored = jsonItems(before['storedVersions']);
  const storage = storageVersionOf(definition) ?? '';
  const isAccepted = conflict === undefined;
  const fine = { reason: 'NoConflicts', message: 'no conflicts found' };
  const established =
    isAccepted || isEstablished(definition)
      ? { reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
      : { reason: 'NotAccepted', message: 'not all names are accepted' };
  const condition = (type: string, isTrue: boolean, why: Why): JsonObject => {
    const status = isTrue ? 'True' : 'False';
    const old = jsonItems(before['conditions']).find((one) => jsonMember(one, 'type') === type);
    const isSame = jsonMember(old, 'status') === status;
    const since = isSame ? jsonMember(old, 'lastTransitionTime') : undefined;
    return { lastTransitionTime: since ?? nowText, type, status, ...why };
  };
  return {
    ...before,
    conditions: [
      condition('NamesAccepted', isAccepted, conflict ?? fine),
      condition('Established', established.reason !== 'NotAccepted', established),
    ],
    acceptedNames: isAccepted ? namesAsWritten(definition) : (before['acceptedNames'] ?? {}),
    storedVersions: stored.includes(storage) || storage === '' ? stored : [...stored, storage],
  };
}

interface Why {
  readonly reason: string;
  readonly message: string;
}

function conflictOf(definition: ApiObject, others: readonly ApiObject[]): Why | undefined {
  const { kind } = namesOf(definition);
  const { name } = definition.metadata;
  if (!isWellNamed(definition)) {
    const message = `metadata.name must be spec.names.plural+"."+spec.group, not ${JSON.stringify(name)}`;
    return { reason: 'InvalidName', message };
  }
  if (storageVersionOf(definition) === undefined) {
    return { reason: 'NoStorageVersion', message: 'one version must be the storage version' };
  }
  const isTaken = others.some(
    (other) =>
      other.metadata.name !== name &&
      isEstablished(other) &&
      groupOf(other) === groupOf(definition) &&
      namesOf(other).kind === kind,
  );
  const message = `${JSON.stringify(kind)} is already in use`;
  return isTaken ? { reason: 'KindConflict', message } : undefined;
}

function namesAsWritten(definition: ApiObject): JsonObject {
  const { shortNames, categories, ...names } = namesOf(definition);
  return {
    ...names,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}
