/**
 * The release that a head of a FleetDaemonSet stands for, as records of rollouts name it.
 *
 * A head that an earlier release of Rollcall wrote bears no name of its content: it is made from the document.
 */
import { fleetContentHash } from '../../core/fleet/content-hash.ts';
import type { FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';
import type { StoredFleet } from '../../ports/stores/fleet-store.ts';

/** The release of what was applied last. */
export function releaseOf(stored: StoredFleet, reader: FleetReader): FleetRelease {
  const { generation, documentId, appliedAtMs, appliedBy } = stored.head;
  const contentHash = stored.head.contentHash ?? contentHashOf(stored, reader);
  return { generation, documentId, appliedAtMs, appliedBy, contentHash };
}

function contentHashOf({ head, document }: StoredFleet, reader: FleetReader): string {
  const reading = reader.readDocument(document);
  // Of a document that is none to this release of Rollcall: equal to no other.
  return reading.kind === 'fleet' ? fleetContentHash(reading.fleet) : head.documentId;
}
