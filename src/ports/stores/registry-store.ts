/**
 * The registry: which clusters exist, who may do what there. The truth, never lost.
 *
 * An unreadable registry counts as frozen and writes no memo (protocol 13): `readCluster` rejects then,
 * and the caller treats a rejection so.
 */
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration, RivalNote } from '../../core/model/registration.ts';

export interface DirectoryPage {
  readonly clusters: readonly ClusterId[];
  /** Pass it on to get the next page; absent on the last one. */
  readonly cursor?: string;
}

/** Refused senders: the last time of each sender and code, for an alarm and for the doctor. */
export interface RefusalNote {
  /** As the message names it; empty when it could not be read. */
  readonly cluster: string;
  /** Whether the sender is verified as one of that cluster. */
  readonly sender: 'verified' | 'unverified';
  /** As the queue said; undefined when it has no readable form. */
  readonly senderRoleId: string | undefined;
  readonly queue: 'ingest' | 'credentials';
  readonly code: string;
  /** Which field; for `wrong-cluster-uid` the UID that the message named. Never a value of a credential. */
  readonly detail: string;
  readonly atMs: number;
}

/**
 * The outcome of a note: it stands; or it does not. `first`: it stands, and no refusal of its sender
 * and code was noted for a day, so that an alarm rises (docs/operations.md).
 */
export type RefusalOutcome = 'noted' | 'first' | 'unkept';

/** The outcome of writing a registration. */
export type RegistrationWrite =
  | 'written'
  /** Another version is stored than expected. */
  | 'lost'
  /** Another registration has this clusterUid: one cluster, one registration (S6). */
  | 'uid-taken';

/** The outcome of removing a registration. */
export type RegistrationRemoval =
  | 'removed'
  /** Another version is stored than expected. */
  | 'lost'
  /** Nothing is registered, and no removal is left to finish. */
  | 'missing';

/** Store of registrations, directory and refusals. */
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
  /** `unkept`: of an unverified sender, of whom enough is noted or was tried for this hour. */
  noteRefusal(note: RefusalNote): Promise<RefusalOutcome>;
  /** Refusals of the cluster's own senders, or of others who claim to be it. */
  listRefusals(cluster: ClusterId, sender: RefusalNote['sender']): Promise<readonly RefusalNote[]>;
}

/** The registry as functions have it. */
export type FunctionRegistryStore = Omit<RegistryStore, 'removeCluster' | 'listRefusals'>;
