/**
 * Makes two servers' answers comparable: what each server chooses for itself becomes a symbol, texts for people go.
 *
 * Masked: UIDs and object versions (symbols, so that equality and order are still compared), versions of lists (only
 * whether there is one), times that lie near now, generated names, continue tokens, managedFields, messages of Status
 * objects, ages in tables, and of discovery everything that is not on the published list (surface.ts). Nothing else:
 * a time that the request itself wrote is compared.
 */
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { ServerMemory } from './memory.ts';
import type { Answer } from './server.ts';
import type { Step } from './step.ts';
import { COLLECTIONS } from './surface.ts';

const GROUPS = new Set(COLLECTIONS.map((one) => one.group));
const SUBRESOURCES = ['status', 'binding', 'eviction', 'finalize'];
const PLURALS = new Set(COLLECTIONS.map((one) => one.plural));

/** APIVersions, APIGroupList, APIGroup, APIResourceList and APIGroupDiscoveryList without the rest. */
function maskDiscovery(body: JsonObject): Json {
  switch (body['kind']) {
    case 'APIVersions':
      return { kind: 'APIVersions', versions: body['versions'] };
    case 'APIGroupList':
      return {
        ...body,
        groups: byName(filter(body['groups'], (group) => GROUPS.has(nameOf(group)))),
      };
    case 'APIResourceList':
      return {
        ...body,
        resources: byName(filter(body['resources'], isPublished).map(withoutStorageHash)),
      };
    case 'APIGroupDiscoveryList':
      return { ...body, items: byName(filter(body['items'], isPublishedGroup).map(maskGroup)) };
    default:
      return body;
  }
}

function filter(list: Json | undefined, isKept: (item: JsonObject) => boolean): JsonObject[] {
  const items = Array.isArray(list) ? (list as readonly Json[]) : [];
  return items.filter(isJsonObject).filter(isKept);
}

/** The order is the server's: by how the group is known to it. */
function byName(items: readonly JsonObject[]): readonly JsonObject[] {
  return items.toSorted((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** Of a group, a resource, a subresource, or a group of aggregated discovery. */
function nameOf(item: JsonObject): string {
  const { metadata, name, resource } = item;
  const named = isJsonObject(metadata) ? metadata['name'] : (name ?? resource);
  return typeof named === 'string' ? named : '';
}

/** A resource, or one of the compared subresources of it. */
function isPublished(resource: JsonObject): boolean {
  const [plural = '', subresource = 'status'] = nameOf(resource).split('/');
  return PLURALS.has(plural) && SUBRESOURCES.includes(subresource);
}

function withoutStorageHash({ storageVersionHash: _, ...resource }: JsonObject): JsonObject {
  return resource;
}

function isPublishedGroup(group: JsonObject): boolean {
  return GROUPS.has(nameOf(group));
}

function maskGroup(group: JsonObject): JsonObject {
  const versions = filter(group['versions'], (version) => version['version'] === 'v1').map(
    (version) => ({
      ...version,
      resources: byName(filter(version['resources'], isPublished).map(maskResource)),
    }),
  );
  return { metadata: { name: nameOf(group) }, versions };
}

function maskResource(resource: JsonObject): JsonObject {
  const { subresources, ...rest } = resource;
  const kept = filter(subresources, (one) =>
    SUBRESOURCES.some((name) => name === one['subresource']),
  );
  return { ...rest, subresources: kept };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const NEAR_NOW_MS = 24 * 3_600_000;
const PROJECTED_VOLUME = /^kube-api-access-[a-z0-9]{5}$/;
const AGE = /^(\d+[smhdy])+$/;

/** A masked answer, ready to compare. */
export function maskAnswer(step: Step, answer: Answer, memory: ServerMemory): JsonObject {
  const { status, warningsCount, body } = answer;
  return { status, warningsCount, body: maskBody(step, body, memory) };
}

export function maskFrame(frame: Json, memory: ServerMemory): Json {
  if (!isJsonObject(frame)) return frame;
  const { type, object } = frame;
  if (type === 'ERROR' && isJsonObject(object)) return { type, object: maskStatus(object, memory) };
  if (isJsonObject(object) && object['kind'] === 'Table') {
    return mask({ ...frame, object: maskAges(object) }, memory);
  }
  if (type !== 'BOOKMARK' || !isJsonObject(object)) return mask(frame, memory);
  const { metadata } = object;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  return { type, object: { kind: object['kind'], metadata: { annotations } } };
}

function maskBody(step: Step, body: Json, memory: ServerMemory): Json {
  if (!isJsonObject(body)) return body;
  if (step.verb === 'discovery') return maskDiscovery(body);
  if (body['kind'] === 'Status') return maskStatus(body, memory);
  if (body['kind'] === 'SelfSubjectAccessReview') return maskReview(body, memory);
  const { metadata } = body;
  const isList = /^"(.*List|Table)"$/.test(JSON.stringify(body['kind'] ?? ''));
  if (!isList || !isJsonObject(metadata)) return mask(body, memory);
  // Versions of lists must not get symbols: unrelated writes raise them.
  const listed = { ...(body['kind'] === 'Table' ? maskAges(body) : body), metadata: null };
  return { ...(mask(listed, memory) as JsonObject), metadata: maskListMetadata(metadata) };
}

function maskListMetadata(metadata: JsonObject): Json {
  return {
    ...metadata,
    resourceVersion: metadata['resourceVersion'] === undefined ? 'none' : 'some',
    ...(metadata['continue'] === undefined ? {} : { continue: 'some' }),
  };
}

function maskStatus(body: JsonObject, memory: ServerMemory): Json {
  const { message: _message, details, ...rest } = body;
  if (!isJsonObject(details)) return mask(rest, memory);
  const { causes } = details;
  const kept = Array.isArray(causes)
    ? { causes: causes.map(maskCause).sort(byText).filter(isNew) }
    : {};
  const maskedDetails = mask({ ...details, ...kept }, memory);
  return { ...(mask(rest, memory) as JsonObject), details: maskedDetails };
}

/** The reason names the binding that allowed it, in words. */
function maskReview(body: JsonObject, memory: ServerMemory): Json {
  const { status, ...rest } = body;
  if (!isJsonObject(status)) return mask(body, memory);
  const { reason: _reason, ...verdict } = status;
  return { ...(mask(rest, memory) as JsonObject), status: verdict };
}

/** Some of the real server's validations run over maps, so that the order of causes is chance. */
function byText(left: Json, right: Json): number {
  return JSON.stringify(left) < JSON.stringify(right) ? -1 : 1;
}

/** The real server looks at metadata several times, and names each fault as often. */
function isNew(cause: Json, index: number, sorted: readonly Json[]): boolean {
  return index === 0 || JSON.stringify(cause) !== JSON.stringify(sorted[index - 1]);
}

function maskCause(cause: Json): Json {
  if (!isJsonObject(cause)) return cause;
  const { message: _message, ...rest } = cause;
  return rest;
}

function maskAges(table: JsonObject): JsonObject {
  const { rows } = table;
  if (!Array.isArray(rows)) return table;
  const maskRow = (row: Json): Json => {
    if (!isJsonObject(row) || !Array.isArray(row['cells'])) return row;
    return { ...row, cells: (row['cells'] as readonly Json[]).map(maskAge) };
  };
  return { ...table, rows: (rows as readonly Json[]).map(maskRow) };
}

function maskAge(cell: Json): Json {
  return typeof cell === 'string' && AGE.test(cell) ? '<age>' : cell;
}

function mask(value: Json, memory: ServerMemory): Json {
  if (typeof value === 'string') return maskText(value, memory);
  if (Array.isArray(value)) return value.map((item: Json) => mask(item, memory));
  if (!isJsonObject(value)) return value;
  const masked: Record<string, Json> = {};
  // Sorted: symbols count first appearances, and the order of members is no difference.
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member === undefined || key === 'managedFields') continue;
    masked[key] = maskMember(key, member, memory);
  }
  return masked;
}

function maskMember(key: string, member: Json, memory: ServerMemory): Json {
  if (typeof member !== 'string') return mask(member, memory);
  if (key === 'uid') return memory.uidSymbol(member);
  if (key === 'resourceVersion') return memory.versionSymbol(member);
  return maskText(member, memory);
}

function maskText(text: string, memory: ServerMemory): string {
  if (PROJECTED_VOLUME.test(text)) return 'kube-api-access-<suffix>';
  if (!TIME.test(text)) return memory.nameSymbol(text);
  const isNearNow = Math.abs(Date.parse(text) - Date.now()) < NEAR_NOW_MS;
  if (!isNearNow) return text;
  return text.includes('.') ? '<time in microseconds>' : '<time>';
}
