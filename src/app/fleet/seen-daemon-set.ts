/**
 * What the view shows of a cluster's DaemonSet: the object, that there is none, or that nothing can be told.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { DaemonSetItem } from '../../core/model/view-items.ts';

/** Null: it was deleted; undefined: it is there, and travelled opaque. */
export function seenDaemonSet({
  object,
  opaqueReason,
}: DaemonSetItem): DaemonSetObject | null | undefined {
  return object ?? (opaqueReason === undefined ? null : undefined);
}
