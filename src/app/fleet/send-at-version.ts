/**
 * Applies a manifest at the version of the DaemonSet just read, or asks by a dry run if it would be
 * taken. One way for steps and checks, so a check says what a step will meet. A request that
 * arrives late finds another version or object, and changes nothing.
 */
import type { FleetManifest } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterAccess, Unavailable } from '../../ports/cluster/cluster-access.ts';
import type { ApplyOptions, ManifestOutcome } from '../../ports/cluster/manifest-access.ts';

/** What came of it; `unread`: the DaemonSet could not be read, and nothing was sent. */
export type SentOutcome =
  ManifestOutcome | (Omit<Unavailable, 'kind'> & { readonly kind: 'unread' });

/** Sends it. Never rejects. */
export async function sendAtVersion(
  access: Pick<ClusterAccess, 'getDaemonSet' | 'applyDaemonSet'>,
  manifest: FleetManifest,
  options: Omit<ApplyOptions, 'resourceVersion' | 'uid'>,
): Promise<SentOutcome> {
  const { namespace, name } = manifest.metadata;
  const live = await access.getDaemonSet({ namespace, name });
  if (live.kind === 'unavailable') return { ...live, kind: 'unread' };
  if (live.kind === 'missing') return access.applyDaemonSet(manifest, options);
  const { resourceVersion, uid } = live.object.metadata;
  return access.applyDaemonSet(manifest, { ...options, resourceVersion, uid });
}
