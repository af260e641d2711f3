/**
 * Objects that show fleets, in a management cluster (issue 18, ADR 0066): read, applied by server-side apply, removed.
 *
 * Of no other kind, and in no other cluster than the one that was connected to. Rejections never happen.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { ConnectRefusal, LiveRead } from './cluster-access.ts';

/** What came of a write. */
export type MirrorWrite =
  | { readonly kind: 'written'; readonly object: JsonObject }
  /** Somebody else wrote since it was read. */
  | { readonly kind: 'changed' }
  /** It does not work as it is: no such resource, missing right, no such namespace, admission. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Not sent, or not known to have arrived. */
  | { readonly kind: 'unavailable'; readonly message: string };

/** The mirrors of one cluster. */
export interface MirrorAccess {
  readMirror(key: FleetKey): Promise<LiveRead<JsonObject>>;
  /** Of the status only what is its own, of the object the rest; `metadata.resourceVersion` in it is a precondition. */
  applyMirror(object: JsonObject, part: 'object' | 'status'): Promise<MirrorWrite>;
  /** The one that was read; gone already is written, too. */
  removeMirror(object: JsonObject): Promise<MirrorWrite>;
}

/** Opens the cluster that has the mirrors. */
export interface MirrorConnector {
  connectMirror(
    registration: ClusterRegistration,
  ): Promise<
    | { readonly kind: 'connected'; readonly mirrors: MirrorAccess }
    | { readonly kind: 'refused'; readonly refusal: ConnectRefusal }
  >;
}
