/**
 * The small reads that every run begins with, in the order on which the rest depends (design 3).
 *
 * Registry, META and name first; then state, DaemonSet and position. META goes before everything
 * that its marks and its stamps vouch for: `ingest` writes slices before positions before META, so
 * what is read later is at least as new (protocol 20). The state goes before the slices: an intent
 * that another run dropped as resolved must not meet pods read before that. Nothing is decided here.
 */
import type { Hint } from '../../../core/model/hint.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import { ZERO_STAMP } from '../../../core/model/position.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { DaemonSetState } from '../../../core/model/state.ts';
import type {
  ClusterMeta,
  DaemonSetItem,
  DaemonSetPosition,
  NameItem,
} from '../../../core/model/view-items.ts';
import type { DaemonSetRef } from '../../../ports/stores/view-store.ts';
import type { StepDependencies } from '../process/dependencies.ts';

/** What a run stands on, as read. */
export interface Basis {
  readonly registration: ClusterRegistration;
  readonly meta: ClusterMeta;
  readonly ref: DaemonSetRef;
  readonly daemonSet: DaemonSetItem;
  readonly position: DaemonSetPosition;
  /** Undefined when there is no item: first run, or lost (protocol 6). */
  readonly state: DaemonSetState | undefined;
}

/** Position of a DaemonSet that has no item yet: older than every change. */
export const NO_POSITION: DaemonSetPosition = {
  podsChanged: ZERO_STAMP,
  revisionsChanged: ZERO_STAMP,
};

/** Why there is nothing to stand on. */
export type BasisRead =
  | { readonly kind: 'read'; readonly basis: Basis }
  | { readonly kind: 'registry-unreadable'; readonly cause: unknown }
  | { readonly kind: 'unregistered' }
  /** No META, no such name, or the DaemonSet is gone. */
  | { readonly kind: 'absent' };

type Readers = Pick<StepDependencies, 'registry' | 'view'>;

/** Reads the basis of a run; rejects only when the view table cannot be read. */
export async function readBasis(hint: Hint, readers: Readers): Promise<BasisRead> {
  const first = readCluster(hint, hint.clusterUid, readers);
  // It is awaited below; until then a failure must not count as unhandled.
  first.catch(() => undefined);
  const registered = await readRegistration(hint, readers);
  if (registered.kind !== 'registered') {
    await first.catch(() => undefined);
    return registered;
  }
  const { registration } = registered;
  // A hint may name a cluster's former identity: what is registered counts (row 90).
  const cluster =
    registration.clusterUid === hint.clusterUid
      ? await first
      : await first.then(() => readCluster(hint, registration.clusterUid, readers));
  const { meta, name } = cluster;
  if (meta === undefined || name === undefined || name.uid === null) return { kind: 'absent' };
  const ref: DaemonSetRef = { clusterUid: registration.clusterUid, uid: name.uid };
  const [state, daemonSet, position] = await Promise.all([
    readers.view.readState(ref),
    readers.view.readDaemonSet(ref),
    readers.view.readPosition(ref),
  ]);
  if (daemonSet === undefined) return { kind: 'absent' };
  if (daemonSet.object === null && daemonSet.opaqueReason === undefined) return { kind: 'absent' };
  return {
    kind: 'read',
    basis: {
      registration,
      meta,
      ref,
      daemonSet,
      state,
      position: position ?? NO_POSITION,
    },
  };
}

async function readCluster(
  hint: Hint,
  clusterUid: ClusterUid,
  { view }: Readers,
): Promise<{ meta: ClusterMeta | undefined; name: NameItem | undefined }> {
  const [meta, name] = await Promise.all([
    view.readMeta(clusterUid),
    view.readName(clusterUid, { namespace: hint.key.namespace, name: hint.key.name }),
  ]);
  return { meta, name };
}

async function readRegistration(
  hint: Hint,
  { registry }: Readers,
): Promise<
  | { readonly kind: 'registered'; readonly registration: ClusterRegistration }
  | { readonly kind: 'registry-unreadable'; readonly cause: unknown }
  | { readonly kind: 'unregistered' }
> {
  try {
    const registration = await registry.readCluster(hint.key.cluster);
    if (registration === undefined) return { kind: 'unregistered' };
    return { kind: 'registered', registration };
  } catch (cause) {
    return { kind: 'registry-unreadable', cause };
  }
}
