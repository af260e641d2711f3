/**
 * Records of dead letters and refused messages, as people read them: list, mark, remove.
 *
 * Functions write them (`RegistryStore.recordDeadLetter`); nothing decides by them. A partition is read
 * by pages in the order of time, never by a scan; which partitions there are is kept beside them. A
 * record is data from outside: its body may be anything, and was cut where it was long.
 */
import type { DeadLetterPartition, DeadLetterPlace } from '../../core/hints/dead-letter-place.ts';
import type { DeadLetterRecord } from './registry-store.ts';

/** What a redrive did with a letter, kept with its record. */
export interface RedriveNote {
  readonly atMs: number;
  /** Who asked for it, for people. */
  readonly by: string;
  /** A code of docs/reference.md, `redrive outcomes`. */
  readonly outcome: string;
}

/** A record as it is kept. */
export interface KeptDeadLetter extends Omit<DeadLetterRecord, 'claim' | 'queue'> {
  readonly place: DeadLetterPlace;
  /** As written; another release may know other queues. */
  readonly queue: string;
  /** What an unverified sender claimed to speak for. */
  readonly claimedCluster?: string;
  /** True if the body is longer than what is kept of it. */
  readonly isBodyCut: boolean;
  readonly redrive?: RedriveNote;
}

/** Which page of a partition. */
export interface DeadLetterQuery {
  /** Records of this moment or later; default: all. */
  readonly sinceMs?: number;
  readonly cursor?: string;
  readonly limit: number;
}

/** A page in the order of time. */
export interface DeadLetterPage {
  readonly letters: readonly KeptDeadLetter[];
  /** Pass it on to get the next page; absent on the last one. */
  readonly cursor?: string;
}

/** Reads and marks records. Rejects when the table fails. */
export interface DeadLetterStore {
  /** Every partition that a record was ever written to; one may be empty by now. */
  listPartitions(): Promise<readonly DeadLetterPartition[]>;
  list(partition: DeadLetterPartition, query: DeadLetterQuery): Promise<DeadLetterPage>;
  read(place: DeadLetterPlace): Promise<KeptDeadLetter | undefined>;
  /** Notes a redrive on a record; `gone` when it was removed meanwhile: it is not made again. */
  noteRedrive(place: DeadLetterPlace, note: RedriveNote): Promise<'noted' | 'gone'>;
  remove(place: DeadLetterPlace): Promise<void>;
}
