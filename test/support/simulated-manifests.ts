/** The simulated cluster's requests of server-side apply: fences, dry runs, faults, and who owns what. */
import { canonicalJson, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject, ObjectMeta } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { FleetManifest } from '../../src/core/fleet/fleet-daemon-set.ts';
import { FIELD_MANAGER } from '../../src/ports/cluster/manifest-access.ts';
import type {
  ApplyOptions,
  ManifestOutcome,
  FieldConflict,
} from '../../src/ports/cluster/manifest-access.ts';
import type { NamespacedName } from '../../src/ports/stores/view-store.ts';
import type { ClusterHooks } from './simulated-hooks.ts';
import { applyConfiguration } from '@rollcall/local-cluster/api/owners/apply-configuration.ts';
import { afterUpdate } from '@rollcall/local-cluster/api/owners/managed-fields.ts';
import type { ApiObject } from '@rollcall/local-cluster/objects/api-object.ts';
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';

/** Who writes, and when. */
interface Writer {
  readonly manager: string;
  readonly time: string;
}

type Applied =
  | { readonly kind: 'applied'; readonly object: JsonObject }
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] };

const APPS = { apiVersion: 'apps/v1' };
const TYPES = { schema: createSchema(), struct: 'apps.v1.DaemonSet' };

/** What becomes of an object, or of none, by an apply. */
function applyManifest(
  former: JsonObject | undefined,
  { status: _status, ...manifest }: JsonObject,
  { isForced, ...by }: Writer & { readonly isForced: boolean },
): Applied {
  const live = former && ({ ...APPS, kind: 'DaemonSet', ...former } as unknown as ApiObject); // stored objects are raw JSON
  const writer = { ...by, ...APPS, operation: 'Apply' } as const;
  const applied = applyConfiguration(live, manifest, { writer, isForced, types: TYPES });
  if (applied.kind === 'faulty') throw new Error(applied.fault);
  if (applied.kind === 'conflict') {
    const conflicts = applied.conflicts.map(({ owner, field }) => ({
      manager: owner.manager,
      field,
    }));
    return { kind: 'conflict', conflicts };
  }
  const object = withoutNulls(applied.object);
  const metadata = { ...(object['metadata'] as JsonObject), managedFields: applied.managedFields };
  return { kind: 'applied', object: { ...object, metadata } };
}

/** As an API server decodes it. */
function withoutNulls(object: JsonObject): JsonObject {
  const text = JSON.stringify(object, (_name, value: Json) => value ?? undefined);
  return JSON.parse(text) as JsonObject;
}

/** An object that was written otherwise than by apply: what it changed is its writer's now. */
function noteUpdate(
  former: KubernetesObject,
  edited: KubernetesObject,
  by: Writer,
): KubernetesObject {
  const [before, after] = [former, edited].map((it) => it as unknown as ApiObject); // raw JSON
  if (before?.metadata['managedFields'] === undefined || after === undefined) return edited;
  const writer = { ...by, ...APPS, operation: 'Update' } as const;
  const managedFields = afterUpdate(before, after, { types: TYPES, writer });
  const metadata = { ...edited.metadata, managedFields } as KubernetesObject['metadata'];
  return { ...edited, metadata };
}

export interface ManifestPlace {
  readonly clock: Clock;
  readonly hooks: () => ClusterHooks;
  readonly find: (key: NamespacedName) => KubernetesObject | undefined;
  readonly create: (object: KubernetesObject) => KubernetesObject;
  readonly replace: (key: ObjectMeta, object: KubernetesObject) => KubernetesObject;
  readonly noteRequest: (text: string) => void;
}

const specOf = (object: KubernetesObject | undefined): string =>
  canonicalJson((object?.['spec'] ?? {}) as Json);

/** Server-side apply in one simulated cluster. */
export class SimulatedManifests {
  readonly #place: ManifestPlace;

  constructor(place: ManifestPlace) {
    this.#place = place;
  }

  /** As ManifestAccess, by the functions. */
  async apply(manifest: FleetManifest, options: ApplyOptions): Promise<ManifestOutcome> {
    const { clock, noteRequest } = this.#place;
    const { deadlineMs, wallDeadlineMs = Infinity } = options;
    if (clock.monotonicMs() >= deadlineMs || clock.nowMs() >= wallDeadlineMs) {
      return { kind: 'unavailable', message: 'the deadline has passed' };
    }
    noteRequest(`${options.isDryRun ? 'dry-run' : 'apply'} ${manifest.metadata.name}`);
    const { beforeApply } = this.#place.hooks();
    const intervention = await beforeApply?.(manifest, options);
    if (intervention !== undefined && intervention !== 'lose-answer') return intervention;
    const outcome = this.applyAs(FIELD_MANAGER, manifest, options);
    return intervention === 'lose-answer'
      ? { kind: 'unavailable', message: 'connection lost' }
      : outcome;
  }

  /** The same by anybody: a rival, or a person. */
  applyAs(
    manager: string,
    manifest: FleetManifest,
    options: Omit<ApplyOptions, 'deadlineMs'>,
  ): ManifestOutcome {
    const former = this.#place.find(manifest.metadata);
    if (isFencedOff(former?.metadata, options)) return { kind: 'changed' };
    const applied = this.#applied(manager, { former, manifest }, options);
    if (applied.kind === 'conflict') {
      const [first, ...others] = applied.conflicts;
      if (first === undefined) throw new Error('a conflict about nothing');
      return { kind: 'conflict', conflicts: [first, ...others] };
    }
    const made = applied.object as unknown as KubernetesObject; // raw JSON
    const object = this.#keep(former, made, options.isDryRun) as DaemonSetObject;
    return { kind: 'applied', isCreated: former === undefined, object };
  }

  #applied(
    manager: string,
    { former, manifest }: { former: KubernetesObject | undefined; manifest: FleetManifest },
    { isForced, resourceVersion }: Omit<ApplyOptions, 'deadlineMs'>,
  ): Applied {
    const before = former as unknown as JsonObject | undefined; // raw JSON
    const writer = { manager, time: this.#time() };
    const applied = applyManifest(before, manifest, { ...writer, isForced });
    if (applied.kind === 'applied' || resourceVersion === undefined) return applied;
    // Under the fence what rollcall wrote otherwise is no rival's, as in manifest-apply.ts.
    const isOwn = applied.conflicts.every((each) => each.manager === manager);
    return isOwn ? applyManifest(before, manifest, { ...writer, isForced: true }) : applied;
  }

  /** An edit by somebody, who owns from now on what it changed. */
  editAs(
    manager: string,
    key: NamespacedName,
    edit: (object: KubernetesObject) => KubernetesObject,
  ): KubernetesObject {
    const former = this.#place.find(key);
    if (former === undefined) throw new Error(`no DaemonSet ${key.namespace}/${key.name}`);
    const edited = noteUpdate(former, edit(former), { manager, time: this.#time() });
    return this.#keep(former, edited, false);
  }

  /** An object that a request or a test changed: whoever is not named is `user`. */
  noted(former: KubernetesObject, edited: KubernetesObject, manager = 'user'): KubernetesObject {
    const [before, after] = [partsOf(former), partsOf(edited)];
    const isNoted = before.owners === undefined || before.owners !== after.owners;
    const isSame = before.owned.every((part, index) => part === after.owned[index]);
    return isNoted || isSame ? edited : noteUpdate(former, edited, { manager, time: this.#time() });
  }

  #keep(
    former: KubernetesObject | undefined,
    object: KubernetesObject,
    isDryRun: boolean,
  ): KubernetesObject {
    const isSpecNew = former === undefined || specOf(former) !== specOf(object);
    const generation = (former?.metadata.generation ?? 0) + (isSpecNew ? 1 : 0);
    const made = { ...object, metadata: { ...object.metadata, generation } };
    if (isDryRun) {
      return former === undefined
        ? { ...made, metadata: { ...made.metadata, uid: 'dry-run', resourceVersion: '' } }
        : made;
    }
    if (former === undefined) return this.#place.create({ ...made, status: {} });
    const isSame = canonicalJson(withoutTimes(made)) === canonicalJson(withoutTimes(former));
    return isSame ? former : this.#place.replace(former.metadata, made);
  }

  /** As an API server writes it: whole seconds. */
  #time(): string {
    return `${new Date(this.#place.clock.nowMs()).toISOString().slice(0, 19)}Z`;
  }
}

/** What has owners, by identity. */
function partsOf({ metadata, spec }: KubernetesObject): {
  readonly owners: unknown;
  readonly owned: readonly unknown[];
} {
  const { managedFields: owners } = metadata as { readonly managedFields?: unknown };
  return { owners, owned: [spec, metadata.labels, metadata.annotations] };
}

/** A version is a fence only where there is an object, as for an API server. */
function isFencedOff(
  found: ObjectMeta | undefined,
  { uid, resourceVersion }: Pick<ApplyOptions, 'uid' | 'resourceVersion'>,
): boolean {
  if (uid !== undefined && found?.uid !== uid) return true;
  if (found === undefined || resourceVersion === undefined) return false;
  return found.resourceVersion !== resourceVersion;
}

/** An apply that changes nothing but the time of its entry is not written. */
function withoutTimes(object: KubernetesObject): Json {
  const { managedFields, ...metadata } = object.metadata as KubernetesObject['metadata'] & {
    readonly managedFields?: readonly { readonly time?: string }[];
  };
  const timeless = (managedFields ?? []).map(({ time: _time, ...entry }) => entry);
  return { ...object, metadata: { ...metadata, managedFields: timeless } } as unknown as Json; // raw JSON
}
