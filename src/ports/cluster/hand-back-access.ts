/**
 * What handing a cluster back needs beside the probe's rights: to find the DaemonSets that say that
 * Rollcall has stopped, and to take that notice away.
 *
 * Used with the credential of a person, never by a function. Expected failures are values.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { LiveRead } from './cluster-access.ts';
import type { ProbeAccess } from './probe-access.ts';

/** What came of writing conditions. */
export type ConditionsWrite =
  | { readonly kind: 'written' }
  /** It changed since it was read, or is gone: read it again. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'failed'; readonly message: string };

/** A cluster as whoever hands it back sees it. */
export interface HandBackAccess extends ProbeAccess {
  /** All DaemonSets of the cluster: paged, whole or unavailable. */
  listDaemonSets(): Promise<LiveRead<readonly DaemonSetObject[]>>;
  /** Replaces status.conditions of exactly the object that was read; nothing else of the status. */
  replaceConditions(
    daemonSet: DaemonSetObject,
    conditions: readonly JsonObject[],
  ): Promise<ConditionsWrite>;
}
