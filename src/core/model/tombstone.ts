/**
 * What is remembered of a pod that is gone: enough never to give its name to another one too soon.
 *
 * `ingest` leaves one in the slice that held the pod; a state keeps those of pods that no view ever
 * showed (core/tombstones.ts says for how long). Its being gone is final: UIDs never come back, but
 * for an etcd that is restored, where a pod that lives wins over its tombstone.
 */
import type { NodeName, Uid } from './identifiers.ts';

/** A pod that is gone. */
export interface Tombstone {
  readonly name: string;
  readonly uid: Uid;
  /** The node that it was aimed at or ran on. */
  readonly node: NodeName;
  /** Its label controller-revision-hash; absent: it had none, or nobody saw its labels. */
  readonly revision?: string;
  /** creationTimestamp; of a pod that no view showed, when its create was recorded. */
  readonly createdAtMs: number;
  /** When it was told to be gone: the message's time; of a pod that no view showed, by the clock of who settled its create. */
  readonly goneAtMs: number;
  /**
   * Of one that a state keeps: the time of the last message that its view had been told by then, a clock that
   * no function owns. Absent in a slice, and in what an earlier release wrote.
   */
  readonly toldAtMs?: number;
}
