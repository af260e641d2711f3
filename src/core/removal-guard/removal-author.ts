/**
 * Who wrote the part of an object that a mass removal is blamed on, by metadata.managedFields.
 *
 * What was taken away leaves no entry, so this names who wrote that part last, and only if that was a short while before
 * the mass removal was seen: evidence for a person, never a ground of a decision. Times are the API server's, in whole seconds.
 */
import { isJsonObject, jsonMember, type Json } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { RemovalSuspect } from '../model/plan.ts';

/** Older writes than that are no cause of what is seen now: a view is minutes old at most while anything is sent. */
const LATELY_MS = 30 * 60_000;
const MANAGER_LENGTH_MAX = 128;

/** Paths of fieldsV1, by what is blamed. */
const PATHS = {
  labels: ['f:metadata', 'f:labels'],
  taints: ['f:spec', 'f:taints'],
  template: ['f:spec', 'f:template', 'f:spec'],
} as const;

/** A field manager, and when it wrote. */
export interface RemovalAuthor {
  readonly manager: string;
  readonly atMs: number;
}

/** Who wrote that part last, if it was lately. */
export function findAuthor(
  object: KubernetesObject,
  suspect: RemovalSuspect,
  nowMs: number,
): RemovalAuthor | undefined {
  const path = PATHS[suspect.kind === 'daemon-set' ? 'template' : suspect.part];
  const { managedFields } = object.metadata as { readonly managedFields?: unknown };
  if (!Array.isArray(managedFields)) return undefined;
  const authors = (managedFields as readonly Json[]).flatMap((entry) => authorOf(entry, path));
  const [last] = authors.sort((left, right) => right.atMs - left.atMs);
  return last !== undefined && nowMs - last.atMs <= LATELY_MS ? last : undefined;
}

function authorOf(entry: Json, path: readonly string[]): readonly RemovalAuthor[] {
  if (!isJsonObject(entry)) return [];
  const { manager, time, fieldsV1, subresource } = entry;
  if (typeof manager !== 'string' || typeof time !== 'string') return [];
  if (subresource !== undefined && subresource !== '') return [];
  const atMs = Date.parse(time);
  const written = path.reduce<Json | undefined>(
    (fields, part) => jsonMember(fields, part),
    fieldsV1,
  );
  if (!Number.isFinite(atMs) || written === undefined) return [];
  return [{ manager: manager.slice(0, MANAGER_LENGTH_MAX), atMs }];
}
