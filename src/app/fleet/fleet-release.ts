/** The release that a head of a FleetDaemonSet stands for, as records of rollouts name it. */
import type { FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';
import type { FleetHead } from '../../ports/stores/fleet-rollout-store.ts';

/** The release of what was applied last. */
export function releaseOf(head: FleetHead): FleetRelease {
  const { generation, documentId, appliedAtMs, appliedBy, contentHash } = head;
  return { generation, documentId, appliedAtMs, appliedBy, contentHash };
}
