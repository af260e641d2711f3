/**
 * From an effect to its request, with its precondition asserted (S1, S4; faults §4).
 *
 * Every write is fenced: a create by its name, a delete by UID and resourceVersion, a patch by the
 * UID in its body, a status and a template by UID and resourceVersion, in the object that is PUT or as tests of the
 * patch. An effect without its fence is a bug of the planner: it is not sent. Bodies come from the core and are stringified once.
 */
import { isResourceVersion } from '../../../core/model/identifiers.ts';
import { canonicalJson, isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { defined } from '@rollcall/base/defined.ts';
import { isOfNode } from '../../../core/model/effects.ts';
import type {
  Effect,
  NodeEffect,
  RemoveTaintEffect,
  SetConditionEffect,
} from '../../../core/model/effects.ts';
import { isPatch, testedValue } from '../../../core/status/status-patch.ts';
import { FIELD_MANAGER } from '../../../ports/cluster/manifest-access.ts';
import type { WriteSubject } from './status-classifier.ts';
import type { TransportRequest } from '../transport/transport.ts';

/** An effect as a request, or why it must not be sent. */
export type EffectRequest =
  | { readonly kind: 'request'; readonly request: TransportRequest; readonly subject: WriteSubject }
  | { readonly kind: 'faulty'; readonly message: string };

type WriteRequest = TransportRequest & { readonly method: keyof typeof OPERATIONS };

/** DNS-1123 subdomain: what can stand in a path without escaping, and never '.' or '..'. */
const NAME_PATTERN = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The metadata of one object is answered, not all of it; an older API server answers the whole. */
const METADATA_ONLY =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;q=0.9';
const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
/** Merges conditions by their type. */
const STRATEGIC_MERGE = 'application/strategic-merge-patch+json';

/** Path of the objects of a namespaced resource. */
export function namespacedPath(api: 'core' | 'apps', namespace: string, resource: string): string {
  return `${api === 'core' ? '/api/v1' : '/apis/apps/v1'}/namespaces/${namespace}/${resource}`;
}

/** True for text that can name an object or a namespace in a path. */
export function isObjectName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

function metadataOf(body: JsonObject): JsonObject {
  return isJsonObject(body['metadata']) ? body['metadata'] : {};
}

const NO_UID = 'no UID as a precondition';
const OTHER_NAME = 'the body has another name';
const OTHER_UID = 'the body has another UID';

function faultOfVersion(version: unknown): string | undefined {
  return isResourceVersion(version) ? undefined : 'no version as a precondition';
}

type CreateEffect = Extract<Effect, { kind: `create-${string}` }>;

function isCreate(effect: Effect): effect is CreateEffect {
  return effect.kind in CREATED;
}

function faultOfCreate(effect: CreateEffect): string | undefined {
  const { name, namespace = effect.namespace, generateName } = metadataOf(effect.body);
  if (name !== effect.name) return OTHER_NAME;
  if (generateName !== undefined) return 'the body asks for a generated name';
  return namespace === effect.namespace ? undefined : 'the body has another namespace';
}

function faultOfReplacement({
  name,
  body,
}: Extract<Effect, { kind: 'replace-copy' }>): string | undefined {
  const metadata = metadataOf(body);
  if (metadata['name'] !== name) return OTHER_NAME;
  const { uid, resourceVersion } = metadata;
  return typeof uid !== 'string' || uid === '' ? NO_UID : faultOfVersion(resourceVersion);
}

function faultOfStatus(effect: Extract<Effect, { kind: 'update-status' }>): string | undefined {
  const { body } = effect;
  const { name, uid, resourceVersion } = isPatch(body)
    ? {
        name: effect.name, // in the path alone
        uid: testedValue(body, '/metadata/uid'),
        resourceVersion: testedValue(body, '/metadata/resourceVersion'),
      }
    : metadataOf(body);
  if (name !== effect.name) return OTHER_NAME;
  return effect.uid === '' || uid !== effect.uid ? OTHER_UID : faultOfVersion(resourceVersion);
}

function faultOfPatch(effect: Extract<Effect, { kind: 'patch' }>): string | undefined {
  if (effect.uid === '') return NO_UID;
  const { uid, resourceVersion } = metadataOf(effect.body);
  if (uid !== effect.uid) return OTHER_UID;
  return effect.purpose === 'renumber' ? faultOfVersion(resourceVersion) : undefined;
}

function faultOfFence({
  uid,
  resourceVersion,
}: Extract<Effect, { resourceVersion: unknown }>): string | undefined {
  return uid === '' ? NO_UID : faultOfVersion(resourceVersion);
}

function faultOfNode({ name, uid }: NodeEffect): string | undefined {
  if (!isObjectName(name)) return 'not an object name';
  return uid === '' ? NO_UID : undefined;
}

/** Why an effect must not be sent: undefined when its fence stands. */
function faultOf(effect: Effect): string | undefined {
  if (isOfNode(effect)) return faultOfNode(effect);
  if (!isObjectName(effect.namespace) || !isObjectName(effect.name)) return 'not an object name';
  if (isCreate(effect)) return faultOfCreate(effect);
  switch (effect.kind) {
    case 'replace-copy':
      return faultOfReplacement(effect);
    case 'patch-event':
      return undefined; // raises a count: an Event decides nothing
    case 'delete-pod':
    case 'delete-revision':
    case 'restore-template':
      return faultOfFence(effect);
    case 'patch':
      return faultOfPatch(effect);
    case 'update-status':
      return faultOfStatus(effect);
  }
}

function deleteOptions(effect: Extract<Effect, { kind: `delete-${string}` }>): string {
  // No propagation policy: for pods the server's own default is background.
  return JSON.stringify({
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    preconditions: { uid: effect.uid, resourceVersion: effect.resourceVersion },
  });
}

/** Where each kind of object is created; the data of a revision are kept byte for byte. */
const CREATED: Readonly<
  Record<CreateEffect['kind'], readonly ['core' | 'apps', string, (body: JsonObject) => string]>
> = {
  'create-pod': ['core', 'pods', JSON.stringify],
  'create-revision': ['apps', 'controllerrevisions', goJson],
  'create-copy': ['core', 'podtemplates', JSON.stringify],
  'create-event': ['core', 'events', JSON.stringify],
};

function createRequest({ kind, namespace, body }: CreateEffect): WriteRequest {
  const [api, resource, textOf] = CREATED[kind];
  const path = namespacedPath(api, namespace, resource);
  // No caller reads more of a created or deleted pod.
  const form = kind === 'create-pod' ? { accept: METADATA_ONLY } : {};
  return { method: 'POST', path, body: textOf(body), ...form };
}

function buildRequest(effect: Effect): WriteRequest {
  if (isCreate(effect)) return createRequest(effect);
  if (isOfNode(effect)) return nodeRequest(effect);
  const { namespace, name } = effect;
  const pods = namespacedPath('core', namespace, 'pods');
  const revisions = namespacedPath('apps', namespace, 'controllerrevisions');
  switch (effect.kind) {
    case 'replace-copy': {
      const path = `${namespacedPath('core', namespace, 'podtemplates')}/${name}`;
      return { method: 'PUT', path, body: JSON.stringify(effect.body) };
    }
    case 'delete-pod':
      return {
        method: 'DELETE',
        path: `${pods}/${name}`,
        body: deleteOptions(effect),
        accept: METADATA_ONLY,
      };
    case 'delete-revision':
      return { method: 'DELETE', path: `${revisions}/${name}`, body: deleteOptions(effect) };
    case 'patch-event':
      return patch(
        `${namespacedPath('core', namespace, 'events')}/${name}`,
        MERGE_PATCH,
        effect.body,
      );
    case 'patch': {
      const { resource, contentType, body } = effect;
      const api = resource === 'pods' ? 'core' : 'apps';
      return patch(`${namespacedPath(api, namespace, resource)}/${name}`, contentType, body);
    }
    case 'restore-template': {
      const path = `${namespacedPath('apps', namespace, 'daemonsets')}/${name}`;
      return patch(path, JSON_PATCH, [
        { op: 'test', path: '/metadata/uid', value: effect.uid },
        { op: 'test', path: '/metadata/resourceVersion', value: effect.resourceVersion },
        { op: 'replace', path: '/spec/template', value: effect.template },
      ]);
    }
    case 'update-status': {
      const path = `${namespacedPath('apps', namespace, 'daemonsets')}/${name}/status`;
      if (isPatch(effect.body)) return patch(path, JSON_PATCH, effect.body);
      return { method: 'PUT', path, body: JSON.stringify(effect.body) };
    }
  }
}

function nodeRequest(effect: NodeEffect): WriteRequest {
  const path = `/api/v1/nodes/${effect.name}`;
  return effect.kind === 'remove-taint'
    ? patch(path, JSON_PATCH, taintRemoval(effect))
    : patch(`${path}/status`, STRATEGIC_MERGE, conditionOf(effect));
}

/** Tests what was seen, member by member: a taint may have a time besides. */
function taintRemoval({ uid, index, taint }: RemoveTaintEffect): readonly JsonObject[] {
  const path = `/spec/taints/${String(index)}`;
  const { key, value, effect } = taint;
  const members = Object.entries({ key, effect, ...defined({ value }) });
  return [
    { op: 'test', path: '/metadata/uid', value: uid },
    ...members.map(([name, seen]) => ({ op: 'test', path: `${path}/${name}`, value: seen })),
    { op: 'remove', path },
  ];
}

function conditionOf({ uid, condition, sinceMs }: SetConditionEffect): JsonObject {
  const written = {
    type: condition,
    status: 'True',
    reason: 'DaemonsServe',
    message: 'each DaemonSet that counts has a serving pod here',
    lastTransitionTime: new Date(sinceMs).toISOString().replace(/\.\d+Z$/, 'Z'),
  };
  return { metadata: { uid }, status: { conditions: [written] } };
}

/**
 * JSON text as Go's encoder writes it: keys sorted, `<`, `>`, `&`, U+2028 and U+2029 escaped.
 *
 * The API server keeps a ControllerRevision's `data` byte for byte and compares it byte for byte when something patches
 * the object: the garbage collector, when it orphans. Text that Go would write differently comes back changed from that
 * round trip, and the patch is refused because `data` is immutable: `kubectl delete --cascade=orphan` would hang for
 * ever. Measured on 1.36.
 */
export function goJson(value: Json): string {
  // These characters occur inside strings only, so escaping them in the whole text is enough.
  return canonicalJson(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function patch(path: string, contentType: string, body: object): WriteRequest {
  return { method: 'PATCH', path, contentType, body: JSON.stringify(body) };
}

const OPERATIONS = { POST: 'create', DELETE: 'delete', PATCH: 'patch', PUT: 'update' } as const;

/** The request of an effect, or why it must not be sent. */
export function requestOf(effect: Effect): EffectRequest {
  const fault = faultOf(effect);
  if (fault !== undefined) return { kind: 'faulty', message: `${effect.kind} not sent: ${fault}` };
  const request = buildRequest(effect);
  const subject = { operation: OPERATIONS[request.method], name: effect.name };
  return { kind: 'request', request, subject };
}

/**
 * After a template was restored: the functions give up the fields that came back by it, so that a later apply meets no
 * conflict with them. Undefined: they own none, as the answer says.
 */
export function releaseRequestOf(
  effect: Effect,
  { metadata }: JsonObject,
): TransportRequest | undefined {
  const owners = jsonItems(jsonMember(metadata, 'managedFields'));
  const others = owners.filter((owner) => !isWriterOf(owner));
  if (effect.kind !== 'restore-template' || others.length === owners.length) return undefined;
  const { namespace, name, uid } = effect;
  return patch(`${namespacedPath('apps', namespace, 'daemonsets')}/${name}`, JSON_PATCH, [
    { op: 'test', path: '/metadata/uid', value: uid },
    {
      op: 'test',
      path: '/metadata/resourceVersion',
      value: jsonMember(metadata, 'resourceVersion') ?? '',
    },
    { op: 'replace', path: '/metadata/managedFields', value: others },
  ]);
}

/** An entry of writes that were neither applies nor of a status. */
function isWriterOf(owner: Json): boolean {
  const { manager, operation, subresource = '' } = isJsonObject(owner) ? owner : {};
  return manager === FIELD_MANAGER && operation === 'Update' && subresource === '';
}
