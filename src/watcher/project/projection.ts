/**
 * Raw objects in, projections out: the watcher's filter (design 2).
 *
 * Everything that cannot move a decision is dropped here, at once, so that memory is O(slim objects)
 * and an event whose projection did not change costs nothing further. An object that is too large or
 * not as documented becomes opaque (protocol 22) and affects only its own set. Never throws for what
 * an API server sent. It does not decide where an object is stored: see membership.ts.
 */
import { uid, type Uid } from '../../core/model/identifiers.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject, LabelSelector } from '@rollcall/base/objects.ts';
import type {
  DaemonSetProjection,
  OpaqueProjection,
  Projection,
  WatchedKind,
} from '../../core/model/projections.ts';
import { outlineOf } from '../../core/projections/outline.ts';
import { isSameProjection, projectionText } from '../../core/projections/set-hash.ts';
import {
  type Labels,
  type Sharing,
  rawJson,
  readInteger,
  readObject,
} from '../../core/projections/raw-fields.ts';
import {
  identify,
  raiseFault,
  projectNode,
  projectPod,
  projectRevision,
  isWrittenToStatus,
} from './project-object.ts';
import type { ObjectIdentity, ProjectionInput } from './project-object.ts';
import { isDaemonSet } from '../../core/projections/wire-bounds.ts';

/** The slim form of one object, which the watcher keeps. */
export interface SlimObject extends ObjectIdentity {
  readonly projection: Projection;
  /** UID of the DaemonSet that controls it; absent for orphans, nodes and DaemonSets. */
  readonly ownerUid?: Uid;
  /** Labels that selectors are matched against (pods and revisions). */
  readonly labels?: Labels;
  /** Selector of a DaemonSet. */
  readonly selector?: LabelSelector;
  /** True while a DaemonSet's status lags behind its spec or its rollout is not through. */
  readonly isRollingOut: boolean;
  /** True of a pod whose newest writes went to its status, as its kubelet's do; never for others. */
  readonly isStatusWrite: boolean;
}

/** The object whose text was made last, and that text: an object is measured, and then hashed by the store. */
let latest: { readonly slim: SlimObject; readonly text: string } | undefined;

/**
 * Equal for two objects exactly when there is nothing to send. Computed where it is needed, and kept of one object
 * alone: for a pod it is as long as all else that is known of it.
 */
export function slimText(slim: SlimObject): string {
  if (latest?.slim !== slim) latest = { slim, text: textOf(slim) };
  return latest.text;
}

function textOf({ projection, resourceVersion }: SlimObject): string {
  const text = projectionText(projection);
  // An opaque object is sent at each version: what changed inside is unknown, so a run must look.
  return projection.kind === 'Opaque' ? `${text}@${resourceVersion}` : text;
}

/** True exactly if their texts are equal. */
export function isSameSlim(left: SlimObject, right: SlimObject): boolean {
  const isLooked =
    left.projection.kind !== 'Opaque' || left.resourceVersion === right.resourceVersion;
  return isLooked && isSameProjection(left.projection, right.projection);
}

type ProjectionResult =
  | { readonly kind: 'tracked'; readonly slim: SlimObject }
  /** Controlled by something else than a DaemonSet: not kept, and dropped if it was. */
  | { readonly kind: 'irrelevant'; readonly identity: ObjectIdentity }
  /** Without uid, name or version: nothing can be said about it. */
  | { readonly kind: 'unidentified'; readonly message: string };

/** Projects raw objects of every watched kind. */
export interface Projector {
  project(kind: WatchedKind, raw: KubernetesObject): ProjectionResult;
  /** The slim form of an object that cannot be sent as it is. */
  opaque(slim: SlimObject, reason: OpaqueReason): SlimObject;
}

/** Why an object travels opaque. */
export type OpaqueReason = OpaqueProjection['reason'];

interface ProjectorOptions {
  readonly interner: Sharing;
  /** Projections of more bytes than this travel opaque, so that one always fits a message. */
  readonly objectBytesMax: number;
  /** Objects that did not fit a message, or that the queue refused: opaque (protocol 22). */
  readonly unsendable: ReadonlyMap<Uid, OpaqueReason>;
  /** Called with what made an object opaque, for metrics and logs. */
  readonly onOpaque: (identity: ObjectIdentity, reason: OpaqueReason) => void;
}

/** Creates a projector. */
export function createProjector(options: ProjectorOptions): Projector {
  return {
    project: (kind, raw) => {
      const identity = identify(kind, raw);
      if (typeof identity === 'string') return { kind: 'unidentified', message: identity };
      const owner = readOwner(kind, raw);
      if (owner.kind === 'other') return { kind: 'irrelevant', identity };
      const shared =
        owner.kind === 'daemon-set' ? { ownerUid: options.interner.text(owner.uid) as Uid } : {};
      const slim = trySlim({ identity, raw, shared, options });
      if ('projection' in slim) return { kind: 'tracked', slim };
      options.onOpaque(identity, slim.reason);
      const labels =
        kind === 'Pod' || kind === 'ControllerRevision' ? labelsOrNone(raw) : undefined;
      const selector = kind === 'DaemonSet' ? selectorOf(raw) : undefined;
      const known = { ...shared, ...defined({ labels, selector }) };
      return { kind: 'tracked', slim: opaqueObject(identity, known, slim) };
    },
    opaque: (slim, reason) => {
      const { projection: _projection, ...identity } = slim;
      options.onOpaque(identity, reason);
      return opaqueObject(identity, slim, whyOpaque(reason, slim, options));
    },
  };
}

/** The slim form, or why the object must travel opaque. */
function trySlim(input: {
  readonly identity: ObjectIdentity;
  readonly raw: KubernetesObject;
  readonly shared: { readonly ownerUid?: Uid };
  readonly options: ProjectorOptions;
}): SlimObject | WhyOpaque {
  const { identity, raw, shared, options } = input;
  const refused = options.unsendable.get(identity.uid);
  if (refused === 'undecodable') return { reason: refused };
  try {
    const slim = slimObject({ identity, raw, shared, interner: options.interner });
    const isTooLong = isLonger(slimText(slim), options.objectBytesMax);
    return isTooLong || refused !== undefined ? whyOpaque('too-large', slim, options) : slim;
  } catch (cause) {
    // RangeError: nested too deeply to walk. Whatever else it is, one object must not stop a stream.
    if (cause instanceof Error) return { reason: 'undecodable' };
    throw cause;
  }
}

type WhyOpaque = Pick<OpaqueProjection, 'reason' | 'outline'>;

function whyOpaque(
  reason: OpaqueReason,
  slim: SlimObject,
  { objectBytesMax: bytesMax }: Pick<ProjectorOptions, 'objectBytesMax'>,
): WhyOpaque {
  const { projection } = slim;
  if (reason !== 'too-large' || projection.kind !== 'DaemonSet') return { reason };
  const bytes = Buffer.byteLength(slimText(slim));
  return { reason, ...defined({ outline: outlineOf(projection.object, { bytes, bytesMax }) }) };
}

type Owner =
  | { readonly kind: 'daemon-set'; readonly uid: Uid }
  | { readonly kind: 'none' }
  | { readonly kind: 'other' };

/** The controller of a pod or revision. OpenKruise has a kind DaemonSet of its own: the group counts. */
function readOwner(kind: WatchedKind, raw: KubernetesObject): Owner {
  if (kind === 'Node' || kind === 'DaemonSet') return { kind: 'none' };
  const references: unknown = raw.metadata.ownerReferences;
  if (!Array.isArray(references)) return { kind: 'none' };
  for (const reference of references as readonly (JsonObject | null)[]) {
    if (reference?.['controller'] !== true) continue;
    const { apiVersion, kind: ownerKind, uid: ownerUid } = reference;
    const isDaemonSet =
      ownerKind === 'DaemonSet' &&
      typeof apiVersion === 'string' &&
      apiVersion.startsWith('apps/') &&
      typeof ownerUid === 'string';
    return isDaemonSet ? { kind: 'daemon-set', uid: uid(ownerUid) } : { kind: 'other' };
  }
  return { kind: 'none' };
}

const NEITHER = { isRollingOut: false, isStatusWrite: false };

function slimObject(input: ProjectionInput): SlimObject {
  const { identity, shared } = input;
  switch (identity.of) {
    case 'Node': {
      const projection = projectNode(input);
      return { ...identity, projection, ...NEITHER };
    }
    case 'Pod':
    case 'ControllerRevision': {
      const projection = identity.of === 'Pod' ? projectPod(input) : projectRevision(input);
      const { labels } = projection;
      const isStatusWrite = identity.of === 'Pod' && isWrittenToStatus(input.raw);
      return slimOf(identity, { ...shared, projection, labels, ...NEITHER, isStatusWrite });
    }
    case 'DaemonSet':
      return slimDaemonSet(input);
  }
}

/** The members of an owned object are written at once: added one by one they take twice the room, and there are ten thousands. */
function slimOf(identity: ObjectIdentity, of: Omit<SlimObject, keyof ObjectIdentity>): SlimObject {
  const { namespace } = identity;
  const { ownerUid, labels } = of;
  if (namespace === undefined || ownerUid === undefined || labels === undefined) {
    return { ...identity, ...of };
  }
  return {
    of: identity.of,
    uid: identity.uid,
    name: identity.name,
    resourceVersion: identity.resourceVersion,
    namespace,
    ownerUid,
    projection: of.projection,
    labels,
    isRollingOut: of.isRollingOut,
    isStatusWrite: of.isStatusWrite,
  };
}

function opaqueObject(
  identity: ObjectIdentity,
  known: Pick<SlimObject, 'ownerUid' | 'labels' | 'selector'>,
  why: WhyOpaque,
): SlimObject {
  const { of, uid: ownUid, name, namespace, resourceVersion } = identity;
  const names = { of, name, uid: ownUid, ...defined({ namespace }), resourceVersion };
  const projection: OpaqueProjection = { kind: 'Opaque', ...names, ...why };
  const { ownerUid, labels, selector } = known;
  const rest = defined({ ownerUid, labels, selector });
  return { ...names, projection, ...rest, ...NEITHER };
}

/** Whole, without managedFields. Items of a list lack apiVersion and kind: put back, or they differ. */
function slimDaemonSet({ identity, raw }: ProjectionInput): SlimObject {
  if (!isDaemonSet(rawJson(raw))) raiseFault('not to be walked');
  const { managedFields: _dropped, ...metadata } = readObject(rawJson(raw), 'metadata', raiseFault);
  const object = { ...raw, apiVersion: 'apps/v1', kind: 'DaemonSet', metadata };
  const projection: DaemonSetProjection = {
    kind: 'DaemonSet',
    namespace: identity.namespace ?? '',
    name: identity.name,
    uid: identity.uid,
    resourceVersion: identity.resourceVersion,
    object: object as unknown as DaemonSetObject, // raw JSON stays raw: readers check what they read
  };
  const selector = selectorOf(raw);
  return {
    ...identity,
    projection,
    ...defined({ selector }),
    isRollingOut: isRollingOut(rawJson(raw)),
    isStatusWrite: false,
  };
}

/** generation ≠ observedGeneration, or fewer updated pods than desired (design 2, heartbeats). */
function isRollingOut(raw: JsonObject): boolean {
  const number = (parent: JsonObject, field: string): number =>
    readInteger(parent, field, raiseFault) ?? 0;
  const status = readObject(raw, 'status', raiseFault);
  const generation = number(readObject(raw, 'metadata', raiseFault), 'generation');
  const isBehind = generation !== number(status, 'observedGeneration');
  const desired = number(status, 'desiredNumberScheduled');
  return isBehind || number(status, 'updatedNumberScheduled') < desired;
}

function selectorOf(raw: KubernetesObject): LabelSelector | undefined {
  const spec = raw['spec'] as { readonly selector?: LabelSelector } | null | undefined;
  const selector = spec?.selector;
  return typeof selector === 'object' && selector !== null ? selector : undefined;
}

function labelsOrNone(raw: KubernetesObject): Labels {
  const entries = Object.entries((raw.metadata.labels ?? {}) as Record<string, unknown>);
  const texts = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return Object.fromEntries(texts);
}

/** One code unit is at most three bytes, so short text needs no counting. */
function isLonger(text: string, bytesMax: number): boolean {
  return text.length * 3 > bytesMax && Buffer.byteLength(text) > bytesMax;
}

/** How many different texts, and label maps, are shared at most. */
const POOL_ENTRIES_MAX = 50_000;

/**
 * Creates an empty pool of strings and label maps: ten thousand pods of one DaemonSet hold one label map, which is never written to.
 * One that grows beyond its limit is dropped and starts again; sharing is lost, nothing else.
 */
export function createInterner(): Sharing {
  const texts = new Map<string, string>();
  const maps = new Map<string, Labels>();
  return {
    text: (value) => share(texts, value, value),
    labels: (value) => share(maps, JSON.stringify(value), value),
  };
}

function share<T>(pool: Map<string, T>, key: string, value: T): T {
  const known = pool.get(key);
  if (known !== undefined) return known;
  if (pool.size >= POOL_ENTRIES_MAX) pool.clear();
  pool.set(key, value);
  return value;
}
