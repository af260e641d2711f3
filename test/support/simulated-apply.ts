/**
 * Server-side apply of DaemonSets for the simulated cluster, by the local cluster's: owners, conflicts, force, what is left out.
 *
 * Nothing is decoded, defaulted or validated. test/conformance/emulator compares owners with those of a real API server.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { applyConfiguration } from '@rollcall/local-cluster/api/owners/apply-configuration.ts';
import { afterUpdate } from '@rollcall/local-cluster/api/owners/managed-fields.ts';
import type { ApiObject } from '@rollcall/local-cluster/objects/api-object.ts';
import { createSchema } from '@rollcall/local-cluster/schema/create-schema.ts';
import type { FieldConflict } from '../../src/ports/cluster/manifest-access.ts';

/** Who writes, and when. */
export interface Writer {
  readonly manager: string;
  readonly time: string;
}

export type Applied =
  | { readonly kind: 'applied'; readonly object: JsonObject }
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] };

const APPS = { apiVersion: 'apps/v1' };
const TYPES = { schema: createSchema(), struct: 'apps.v1.DaemonSet' };

/** What becomes of an object, or of none, by an apply. */
export function applyManifest(
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
export function noteUpdate(
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
