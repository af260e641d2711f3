/**
 * Changes of a registration, or of META, beside others who change it: read, change, compare-and-set, and again.
 *
 * Each is one write. That of a registration raises configVersion, so a running function stops at its next batch
 * (protocol 7). A break makes a view incomplete by a loss, so that only a snapshot announced after it is believed
 * (protocol 18).
 */
import type { ClusterId, ClusterUid } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';

const REGISTRATION_WRITES_MAX = 8;
/** Beside a busy ingest. */
const META_WRITES_MAX = 20;

/**
 * The registration as it stands then. Nothing is written where `change` answers the very one that it was given.
 * `lost`: others changed it faster than it could be read and written.
 */
export async function changeRegistration(
  registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>,
  id: ClusterId,
  change: (stored: ClusterRegistration) => ClusterRegistration,
): Promise<ClusterRegistration | 'missing' | 'lost'> {
  for (let attempt = 0; attempt < REGISTRATION_WRITES_MAX; attempt += 1) {
    const stored = await registry.readCluster(id);
    if (stored === undefined) return 'missing';
    const next = change(stored);
    if (next === stored) return stored;
    if ((await registry.writeCluster(next, stored.configVersion)) !== 'written') continue;
    return { ...next, configVersion: stored.configVersion + 1 };
  }
  return 'lost';
}

/** Breaks the view; false when META never stood still. A cluster that was never heard of has nothing to break. */
export async function breakView(
  view: Pick<ViewStore, 'readMeta' | 'writeMeta'>,
  clusterUid: ClusterUid,
  incompleteReason: string,
): Promise<boolean> {
  for (let attempt = 0; attempt < META_WRITES_MAX; attempt += 1) {
    const meta = await view.readMeta(clusterUid);
    if (meta === undefined) return true;
    const next = { ...meta, isComplete: false, incompleteReason, broken: meta.broken + 1 };
    if ((await view.writeMeta(next)) === 'written') return true;
  }
  return false;
}
