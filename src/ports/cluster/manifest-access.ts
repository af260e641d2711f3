/**
 * Giving a cluster a DaemonSet by server-side apply, as the field manager `rollcall` (issue 18; facts 6 of rollouts and fleets).
 *
 * Never forced unless asked. Repeating an apply is harmless: equal values never conflict. Rejections never happen: whatever
 * comes of a request is a value.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { FleetManifest } from '../../core/fleet/fleet-daemon-set.ts';
import type { LiveRead } from './cluster-access.ts';

/** The field manager of all applies. */
export const FIELD_MANAGER = 'rollcall';

/** A field that somebody else owns with another value. */
export interface FieldConflict {
  readonly manager: string;
  /** As the API server names it: `.spec.template.spec.containers[name="x"].image`. */
  readonly field: string;
}

/** How to apply. */
export interface ApplyOptions {
  /** Defaulting, validation, quota and webhooks of the API server, and nothing is kept. */
  readonly isDryRun: boolean;
  /** Takes conflicting fields from their owners. */
  readonly isForced: boolean;
  /** Refused as `changed` if the DaemonSet is at another version; absent: it is not looked at. */
  readonly resourceVersion?: string;
  /** No request starts after this, by both clocks (StartLimits of ClusterAccess). */
  readonly deadlineMs: number;
}

/** What came of it. */
export type ManifestOutcome =
  | { readonly kind: 'applied'; readonly object: DaemonSetObject; readonly isCreated: boolean }
  /** Nothing was changed. */
  | { readonly kind: 'conflict'; readonly conflicts: readonly [FieldConflict, ...FieldConflict[]] }
  /** Another resourceVersion. */
  | { readonly kind: 'changed' }
  /** It can never succeed as it is: validation, webhook, quota, missing right, no such namespace. */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  /** Not sent, or not known to have arrived: it may be repeated. */
  | { readonly kind: 'unavailable'; readonly message: string; readonly retryAfterMs?: number };

/** Applies manifests in one cluster. */
export interface ManifestAccess {
  applyDaemonSet(manifest: FleetManifest, options: ApplyOptions): Promise<ManifestOutcome>;
  /** As it is, with who owns which fields (managedFields), for whoever has to name a rival. */
  readDaemonSetManagers(key: {
    readonly namespace: string;
    readonly name: string;
  }): Promise<LiveRead<readonly FieldManager[]>>;
}

/** One owner of fields. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: string;
  /** When it last wrote, by the API server's clock; absent: it does not say. */
  readonly atMs?: number;
}
