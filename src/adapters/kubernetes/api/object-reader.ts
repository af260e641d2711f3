/**
 * Answers of an API server as the objects that were asked for: checked as far as identity goes.
 *
 * Raw JSON stays raw: no field is dropped, added or converted (ADR 0006). An object without name,
 * UID or version, or with another name than asked for, is none.
 */
import { readTexts, readTimeMs } from '../../../core/projections/raw-fields.ts';
import { isResourceVersion, resourceVersion, uid } from '../../../core/model/identifiers.ts';
import type { ResourceVersion } from '../../../core/model/identifiers.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { DaemonSetRead, PodMetadata } from '../../../ports/cluster/cluster-access.ts';
import type { FieldManager } from '../../../ports/cluster/manifest-access.ts';

/** The name, and for namespaced objects the namespace, that an object must have; any, where nothing is said. */
export interface ExpectedName {
  readonly name?: string;
  readonly namespace?: string;
}

function hasIdentity(metadata: JsonObject): boolean {
  return (
    typeof metadata['name'] === 'string' &&
    typeof metadata['uid'] === 'string' &&
    metadata['uid'] !== '' &&
    isResourceVersion(metadata['resourceVersion'])
  );
}

/** The object of this name; undefined when the body is not that. */
export function readObject(
  body: Json | undefined,
  expected: ExpectedName,
): KubernetesObject | undefined {
  if (!isJsonObject(body) || !isJsonObject(body['metadata'])) return undefined;
  const { metadata } = body;
  const { name = metadata['name'], namespace = metadata['namespace'] } = expected;
  if (!hasIdentity(metadata) || metadata['name'] !== name) return undefined;
  if (metadata['namespace'] !== namespace) return undefined;
  return body as unknown as KubernetesObject; // what KubernetesObject requires was just checked
}

/** The DaemonSet of this name; undefined when the body is not that. */
export function readDaemonSet(
  body: Json | undefined,
  expected: ExpectedName,
): DaemonSetObject | undefined {
  const object = readObject(body, expected);
  const template = jsonMember(jsonMember(body, 'spec'), 'template');
  if (object === undefined || !isJsonObject(template)) return undefined;
  return object as DaemonSetObject;
}

/**
 * The DaemonSet that an apply answers with; undefined when the body is not that. One that a dry run would create has no version
 * yet: '' stands for it.
 */
export function readAppliedDaemonSet(
  body: Json | undefined,
  { isDryRun, ...expected }: Required<ExpectedName> & { readonly isDryRun: boolean },
): DaemonSetObject | undefined {
  const object = readDaemonSet(body, expected);
  if (object !== undefined || !isDryRun || !isJsonObject(body)) return object;
  const { metadata } = body;
  if (!isJsonObject(metadata) || metadata['resourceVersion'] !== undefined) return undefined;
  const versioned = { ...body, metadata: { ...metadata, resourceVersion: '1' } };
  const read = readDaemonSet(versioned, expected);
  return read && { ...read, metadata: { ...read.metadata, resourceVersion: '' } };
}

/** The owners of an object's fields, but for those of its subresources; the last writer comes first. */
export function readFieldManagers({ metadata }: KubernetesObject): readonly FieldManager[] {
  const { managedFields } = metadata as { readonly managedFields?: Json };
  const managers = jsonItems(managedFields).flatMap((entry): readonly FieldManager[] => {
    if (!isJsonObject(entry)) return [];
    const { manager, operation, time, subresource } = entry;
    if (typeof manager !== 'string' || typeof operation !== 'string') return [];
    if (subresource !== undefined && subresource !== '') return [];
    const atMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return [{ manager, operation, ...(Number.isNaN(atMs) ? {} : { atMs }) }];
  });
  return managers.toSorted((left, right) => (right.atMs ?? -Infinity) - (left.atMs ?? -Infinity));
}

/** The DaemonSet in a list by its name; undefined when the body is no such list, or has another object. */
export function readDaemonSetList(
  body: Json | undefined,
  expected: ExpectedName,
): Exclude<DaemonSetRead, { kind: 'unavailable' }> | undefined {
  const page = readPage(body);
  if (page === undefined || page.items.length > 1) return undefined;
  const [item] = page.items;
  return item === undefined ? { kind: 'missing' } : readListed(item, page, expected);
}

/** One DaemonSet in a list of its namespace, or in a part of it; undefined when that one cannot be read. */
export function pickDaemonSet(
  page: ListedPage,
  expected: Required<ExpectedName>,
): Exclude<DaemonSetRead, { kind: 'unavailable' }> | undefined {
  const item = page.items.find((each) => jsonMember(each['metadata'], 'name') === expected.name);
  return item === undefined ? { kind: 'missing' } : readListed(item, page, expected);
}

function readListed(
  item: JsonObject,
  { version }: ListedPage,
  expected: ExpectedName,
): Extract<DaemonSetRead, { kind: 'found' }> | undefined {
  const object = readDaemonSet(item, expected);
  if (object === undefined) return undefined;
  return { kind: 'found', object, ...(version === undefined ? {} : { storeVersion: version }) };
}

export interface ListedPage {
  readonly items: readonly JsonObject[];
  /** '' on the last page. */
  readonly continueToken: string;
  /** The store's, if the list tells it. */
  readonly version?: ResourceVersion;
}

/** A page of a list; undefined when the body is none, or when an item has no identity. */
export function readPage(body: Json | undefined): ListedPage | undefined {
  if (!isJsonObject(body)) return undefined;
  const { kind, metadata } = body;
  // Go writes an empty list of metadata as null; anything else that has no items is no list (faults 35).
  const isEmpty = body['items'] === null && kind === 'PartialObjectMetadataList';
  const items = isEmpty ? [] : body['items'];
  if (!Array.isArray(items) || !isJsonObject(metadata)) return undefined;
  const objects = items as readonly Json[];
  const isWhole = objects.every(
    (item) => isJsonObject(item) && isJsonObject(item['metadata']) && hasIdentity(item['metadata']),
  );
  if (!isWhole) return undefined;
  const { continue: token, resourceVersion: version } = metadata;
  return {
    items: objects as readonly JsonObject[],
    continueToken: typeof token === 'string' ? token : '',
    ...(isResourceVersion(version) ? { version } : {}),
  };
}

function controllerUid(metadata: JsonObject): Json | undefined {
  const references = jsonItems(metadata['ownerReferences']);
  const controller = references.find((reference) => jsonMember(reference, 'controller') === true);
  return jsonMember(controller, 'uid');
}

/** metadata of a listed pod; the page has checked its identity. */
export function readPodMetadata(item: JsonObject): PodMetadata {
  const metadata = item['metadata'] as JsonObject;
  const ownerUid = controllerUid(metadata);
  return {
    name: metadata['name'] as string,
    uid: uid(metadata['uid'] as string),
    resourceVersion: resourceVersion(metadata['resourceVersion'] as string),
    ...(typeof ownerUid === 'string' ? { ownerUid: uid(ownerUid) } : {}),
    isTerminating: typeof metadata['deletionTimestamp'] === 'string',
    labels: readTexts(metadata, 'labels', ignoreFault),
    createdAtMs: readTimeMs(metadata, 'creationTimestamp', ignoreFault) ?? 0,
  };
}

/** An undocumented value counts as absent. */
function ignoreFault(): void {
  return undefined;
}

/**
 * The part of a listed pod that its projection reads; the rest is let go page by page: a pod has ten kilobytes, and a
 * DaemonSet thousands of pods.
 */
export function slimPod(item: JsonObject): JsonObject {
  const {
    managedFields: _fields,
    annotations: _annotations,
    ...metadata
  } = item['metadata'] as JsonObject;
  return {
    metadata,
    spec: pick(item['spec'], ['nodeName', 'affinity']),
    status: pick(item['status'], ['phase', 'conditions']),
  };
}

function pick(from: Json | undefined, names: readonly string[]): JsonObject {
  if (!isJsonObject(from)) return {};
  return Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = from[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
