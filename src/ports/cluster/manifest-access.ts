/**
 * Giving a cluster a DaemonSet by server-side apply, as the field manager `rollcall` (issue 18; ADR 0066).
 *
 * Never forced unless asked. Repeating an apply is harmless: equal values never conflict. Rejections never happen: whatever
 * comes of a request is a value. Who owns which fields is a live read (ClusterReader).
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { FleetManifest } from '../../core/fleet/fleet-daemon-set.ts';
import type { StartLimits } from '../../core/pod/request-life.ts';

/** The field manager of all applies. */
export const FIELD_MANAGER = 'rollcall';

/** A field that another manager owns with another value. */
export interface FieldConflict {
  readonly manager: string;
  /** As the API server names it: `.spec.template.spec.containers[name="x"].image`. */
  readonly field: string;
}

/** How to apply. No request starts after the limits. */
export interface ApplyOptions extends StartLimits {
  /** Defaulting, validation, quota and webhooks of the API server, and nothing is kept. */
  readonly isDryRun: boolean;
  /** Takes conflicting fields from their owners. */
  readonly isForced: boolean;
  /**
   * Refused as `changed` if the DaemonSet is at another version; absent: it is not looked at. With it, fields that `rollcall`
   * itself wrote otherwise than by an apply (the template of a rollback) are no conflict.
   */
  readonly resourceVersion?: string;
  /**
   * Refused as `changed` if the DaemonSet is another one, or gone. To be given with resourceVersion, by which alone an API
   * server makes one anew that was deleted meanwhile.
   */
  readonly uid?: string;
}

/** What came of it. */
export type ManifestOutcome =
  /** As it is now; of a dry run as it would be, where one that would be created has '' for its resourceVersion. */
  | { readonly kind: 'applied'; readonly object: DaemonSetObject; readonly isCreated: boolean }
  /** Nothing was changed. */
  | { readonly kind: 'conflict'; readonly conflicts: readonly [FieldConflict, ...FieldConflict[]] }
  /** Another resourceVersion, or another object under the name. */
  | { readonly kind: 'changed' }
  /**
   * It can never succeed as it is: validation, webhook, quota, missing right, no such namespace. The message has no value of
   * the manifest in it. Status 0: it was not sent, because it is no manifest that could be.
   */
  | { readonly kind: 'refused'; readonly status: number; readonly message: string }
  /** Not sent, or not known to have arrived: it may be repeated. */
  | {
      readonly kind: 'unavailable';
      readonly message: string;
      readonly retryAfterMs?: number;
      /** The API server, or something before it, is there and would not have it: the credential, a proxy. */
      readonly isAnswered?: boolean;
    };

export interface ManifestAccess {
  applyDaemonSet(manifest: FleetManifest, options: ApplyOptions): Promise<ManifestOutcome>;
}

/** One owner of fields. */
export interface FieldManager {
  readonly manager: string;
  readonly operation: string;
  /** When it last wrote, by the API server's clock; absent: it does not say. */
  readonly atMs?: number;
}
