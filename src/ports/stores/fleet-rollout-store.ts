/**
 * How far rollouts of fleets are, in the registry's table: the truth about what clusters were given (issue 18).
 *
 * A record for each FleetDaemonSet, by compare-and-set; lists of members, in pages, that are never changed once written; a record for
 * each cluster that was given a release. A step reads the lists and records of its stage, never the fleet. All reads are strongly
 * consistent.
 */
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type {
  FleetClusterRecord,
  FleetRecord,
  MemberList,
} from '../../core/fleet/rollout/fleet-record.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';

/** Members on one page of a list. */
export const MEMBERS_PER_PAGE = 500;

/** Store of the rollouts of fleets. */
export interface FleetRolloutStore {
  /** Undefined: no step was made yet. */
  readRecord(key: FleetKey): Promise<FleetRecord | undefined>;
  /** All of them, a page at a time, in the order of their names: what the schedule goes through. */
  listRecords(options: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<{ readonly records: readonly FleetRecord[]; readonly cursor?: string }>;
  /** If the stored version still is the record's (0: there is none); the written one is one more. */
  writeRecord(record: FleetRecord): Promise<'written' | 'lost'>;
  /** Everything of a FleetDaemonSet that is gone: record, lists, records of clusters. May be repeated; what another uid has stays. */
  removeRollout(key: FleetKey, uid: string): Promise<void>;

  /** Writes a list under a new id; nobody reads it before a record names it. */
  writeMembers(key: FleetKey, clusters: readonly ClusterId[]): Promise<MemberList>;
  /** One page, from 0; beyond the last one: empty. Rejects where a page that the list must have is not there. */
  readMembers(key: FleetKey, list: MemberList, page: number): Promise<readonly ClusterId[]>;
  /** Removes all lists but these, which a record names. */
  removeMembersBut(key: FleetKey, lists: readonly MemberList[]): Promise<void>;

  /** Those that exist, of these clusters. */
  readClusterRecords(
    key: FleetKey,
    clusters: readonly ClusterId[],
  ): Promise<ReadonlyMap<ClusterId, FleetClusterRecord>>;
  /** If the stored version still is the record's (0: there is none); the written one is one more. */
  writeClusterRecord(key: FleetKey, record: FleetClusterRecord): Promise<'written' | 'lost'>;
}

/** Revision of the registry: raised after each write that may change where a fleet is placed (ids, labels, modes, freezes). */
export interface RegistryRevisionStore {
  /** 0: never raised. */
  readRegistryRevision(): Promise<number>;
  raiseRegistryRevision(): Promise<void>;
}
