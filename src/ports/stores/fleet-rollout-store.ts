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
  FleetRelease,
} from '../../core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../core/fleet/rollout/tally-stage.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';

/** Members on one page of a list. */
export const MEMBERS_PER_PAGE = 500;

/** One FleetDaemonSet, and no other that had its name before: lists and records of clusters belong to it alone. */
export interface FleetInstance extends FleetKey {
  readonly uid: string;
}

/** The same as its record was read or made, which is such a thing. */
export interface FleetVersion extends FleetInstance {
  /** Of the record; 0: there is none yet. */
  readonly version: number;
}

export interface FleetRecordPage {
  readonly records: readonly FleetRecord[];
  /** Those whose record this release cannot read: they hold up no other. */
  readonly unreadable: readonly FleetKey[];
  /** Pass it on to get the next page; absent on the last one. */
  readonly cursor?: string;
}

/** Store of the rollouts of fleets. */
export interface FleetRolloutStore {
  /** Undefined: no step was made yet. Rejects when it cannot be read. */
  readRecord(key: FleetKey): Promise<FleetRecord | undefined>;
  /** All of them, a page at a time, in the order of their names: what the schedule goes through. */
  listRecords(options: {
    readonly cursor?: string;
    readonly limit: number;
  }): Promise<FleetRecordPage>;
  /** If the stored one still has the record's uid and version (0: there is none); the written one is one more. */
  writeRecord(record: FleetRecord): Promise<'written' | 'lost'>;
  /**
   * Everything of a FleetDaemonSet that is gone: lists, records of clusters, and the record last, so that what was stopped is
   * found and finished. May be repeated; what another uid has stays.
   */
  removeRollout(fleet: FleetInstance): Promise<void>;

  /** Writes a list under a new id; it is not read before the next version of the record names it. */
  writeMembers(fleet: FleetVersion, clusters: readonly ClusterId[]): Promise<MemberList>;
  /** One page, from 0; beyond the last one: empty. Rejects where a page that the list must have is not there. */
  readMembers(fleet: FleetInstance, list: MemberList, page: number): Promise<readonly ClusterId[]>;
  /**
   * Removes lists that were written for an earlier version of the record than this one, except `lists`, which it names. Lists
   * that another step is about to name are of this version, or a later one, and stay.
   */
  removeMembersBut(fleet: FleetVersion, lists: readonly MemberList[]): Promise<void>;

  /** Those that exist, of these clusters. */
  readClusterRecords(
    fleet: FleetInstance,
    clusters: readonly ClusterId[],
  ): Promise<ReadonlyMap<ClusterId, FleetClusterRecord>>;
  /** If the stored version still is the record's (0: there is none); the written one is one more. */
  writeClusterRecord(fleet: FleetInstance, record: FleetClusterRecord): Promise<'written' | 'lost'>;

  /** Looks of steps at clusters; of one cluster the newest. */
  readLooks(fleet: FleetInstance): Promise<ReadonlyMap<ClusterId, KeptLook>>;
  /**
   * In place of what was written before. Each look says when it was made, and nothing is decided by its absence but to look
   * again: so two processes may write at the same time, and a lost write does no harm.
   */
  writeLooks(fleet: FleetInstance, looks: readonly KeptLook[]): Promise<void>;
}

/**
 * Revision of the registry: raised after each write of a registration, since that may change where a fleet is placed (ids,
 * labels, modes, freezes). The registry's store raises it by itself. A process that dies between the two leaves it as it was: the
 * function `fleet` deals out once a day in any case.
 */
export interface RegistryRevisionStore {
  /** 0: never raised. Strongly consistent: what was written before it was raised is read after it. */
  readRegistryRevision(): Promise<number>;
}

/** The last apply. */
export interface FleetHead extends FleetKey {
  /** Of this FleetDaemonSet and no other that had its name before. */
  readonly uid: string;
  /** Compare-and-set counter; from 1. */
  readonly version: number;
  /** Raised by each apply that changes something; from 1. */
  readonly generation: number;
  readonly appliedAtMs: number;
  /** The author of the apply, for people. */
  readonly appliedBy: string;
  /** Names the document. */
  readonly documentId: string;
  /** Of what it gives clusters (core/fleet/render-fleet.ts). */
  readonly contentHash: string;
  /** Generations before this one whose documents are kept, the newest first (app/fleet/apply-fleet.ts). */
  readonly history: readonly FleetRelease[];
}

/** Head and document. */
export interface StoredFleet {
  readonly head: FleetHead;
  /** As it was written, with the manifest in it: not yet judged. */
  readonly document: JsonObject;
}

/** The written part of one. */
export interface FleetToWrite extends Omit<FleetHead, 'version' | 'documentId'> {
  readonly contentHash: string;
  readonly document: JsonObject;
}

/** The outcome of a write. */
export type FleetWrite = 'written' | 'lost' | 'too-large';

export interface FleetPage {
  readonly fleets: readonly FleetHead[];
  /** Pass it on to get the next page; absent on the last one. */
  readonly cursor?: string;
}

/** Store of FleetDaemonSets. */
export interface FleetStore {
  /** Strongly consistent; undefined when there is none. Rejects when it cannot be read. */
  readFleet(key: FleetKey): Promise<StoredFleet | undefined>;
  /** A document that a head names, or a record of a rollout; undefined: it is not there any more. */
  readDocument(key: FleetKey, documentId: string): Promise<JsonObject | undefined>;
  listFleets(options: { readonly cursor?: string; readonly limit: number }): Promise<FleetPage>;
  /**
   * If the stored head still is `former` (undefined: there is none). Documents that `former` names and this one does
   * not are removed.
   */
  writeFleet(fleet: FleetToWrite, former: FleetHead | undefined): Promise<FleetWrite>;
  /** If the stored head still is `head`; `written` also when it is gone. */
  removeFleet(head: FleetHead): Promise<'written' | 'lost'>;
}
