/**
 * FleetDaemonSets as they were applied, in the registry's table: what is wanted of all clusters, the truth (issue 18).
 *
 * A head and a document each. The head is small, is what listings read, and is changed by compare-and-set on its version; it
 * names the document, which is never changed, and those of the generations before it that are kept. What grows with the clusters is in
 * neither.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';

/** What was applied last. */
export interface FleetHead extends FleetKey {
  /** Of this FleetDaemonSet and no other that had its name before. */
  readonly uid: string;
  /** Compare-and-set counter; from 1. */
  readonly version: number;
  /** Raised by each apply that changes something; from 1. */
  readonly generation: number;
  readonly appliedAtMs: number;
  /** Who applied it, for people. */
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

/** What is written of one. */
export interface FleetToWrite extends Omit<FleetHead, 'version' | 'documentId'> {
  readonly contentHash: string;
  readonly document: JsonObject;
}

/** What came of writing one. */
export type FleetWrite = 'written' | 'lost' | 'too-large';

/** One page of heads, in the order of their names. */
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
  /** If the stored head still is `former` (undefined: there is none). Documents that `former` names and this one does not are removed. */
  writeFleet(fleet: FleetToWrite, former: FleetHead | undefined): Promise<FleetWrite>;
  /** If the stored head still is `head`; `written` also when it is gone. */
  removeFleet(head: FleetHead): Promise<'written' | 'lost'>;
}
