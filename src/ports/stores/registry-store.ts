/**
 * The registry: which clusters exist, who may do what there. The truth, never lost.
 *
 * An unreadable registry counts as frozen and writes no memo (protocol 13): `readCluster` rejects then,
 * and the caller treats a rejection so.
 */
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration, RivalNote } from '../../core/model/registration.ts';

/** One page of the directory. */
export interface DirectoryPage {
  readonly clusters: readonly ClusterId[];
  /** Pass it on to get the next page; absent on the last one. */
  readonly cursor?: string;
}

/** Something that was refused or lost, kept for people. */
export interface DeadLetterRecord {
  /** Empty when it is not known whose message it was. */
  readonly cluster: string;
  /** What a message claimed whose sender was not verified: kept apart from every cluster's records. */
  readonly claim?: {
    readonly cluster: string;
    /** As the queue said; undefined when it has no readable form. */
    readonly senderRoleId: string | undefined;
  };
  readonly queue: 'events' | 'reconcile' | 'delay' | 'credentials' | 'ingest';
  readonly code: string;
  readonly detail: string;
  readonly messageId: string;
  readonly atMs: number;
  /** The body, cut to a size that fits an item; never a credential. */
  readonly body: string;
}

/**
 * What came of a record: it is kept, perhaps as the one that it shares for the hour; or it is not. `first`: it is kept, and no
 * refusal of its sender and code was for a day, so that somebody is called (docs/operations.md).
 */
export type DeadLetterOutcome = 'kept' | 'first' | 'unkept';

/** What came of writing a registration. */
export type RegistrationWrite =
  | 'written'
  /** Another version is stored than expected. */
  | 'lost'
  /** Another registration has this clusterUid: one cluster, one registration (S6). */
  | 'uid-taken';

/** What came of removing a registration. */
export type RegistrationRemoval =
  | 'removed'
  /** Another version is stored than expected. */
  | 'lost'
  /** Nothing is registered, and no removal is left to finish. */
  | 'missing';

/** Store of registrations, directory and dead letters. */
export interface RegistryStore {
  /**
   * Strongly consistent; undefined when the cluster is not registered. With the rival that was noted in this very takeover, for
   * those who act in clusters and for operators.
   */
  readCluster(id: ClusterId): Promise<ClusterRegistration | undefined>;
  /**
   * If the stored configVersion is still `expectedVersion` (0: not there yet); the written one is one more. A rival is no
   * part of what is written.
   */
  writeCluster(
    registration: ClusterRegistration,
    expectedVersion: number,
  ): Promise<RegistrationWrite>;
  /** Notes a rival in the takeover of this registration; `standing`: in that one it was noted before. */
  noteRival(seenUnder: ClusterRegistration, rival: RivalNote): Promise<'noted' | 'standing'>;
  /**
   * Its claim of the cluster UID and its directory entry too, if the stored configVersion is still
   * `expectedVersion`. It is not registered from the first write on; any later call, or registering anew, finishes
   * a removal that was stopped.
   */
  removeCluster(id: ClusterId, expectedVersion: number): Promise<RegistrationRemoval>;
  /** Cluster ids in order, a page at a time; never a scan. */
  listClusters(options: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<DirectoryPage>;
  /** `unkept`: of an unverified sender (`claim`), of whom enough is kept or was tried for this hour. */
  recordDeadLetter(record: DeadLetterRecord): Promise<DeadLetterOutcome>;
}
