// What an at-least-once queue may do to a consumer, provoked on purpose and from a seed.
//
// duplicate: a batch is delivered again, at the same time, right after, or even after it was deleted, when later
// messages of its group may already run. reorder: records of different groups change places, and the batch waits so
// that later ones overtake it. delay: the batch waits. drop: the batch is deleted without being delivered.
// Order inside a FIFO group is never broken, because SQS does not break it; on a standard queue there is none.
// The same seed and the same sequence of batches give the same faults.
import type { SQSRecord } from 'aws-lambda';
import type { Random } from '@rollcall/base/ports/random.ts';

/** Probabilities in 0..1, for each batch. */
export interface FaultOptions {
  readonly duplicate?: number;
  readonly reorder?: number;
  readonly delay?: number;
  readonly drop?: number;
  /** The longest delay, and the longest wait of a reordered batch. */
  readonly delayMsMax?: number;
  /** Functions whose mappings are disturbed; all if absent. */
  readonly functions?: readonly string[];
}

/** When a batch is delivered a second time. */
export type Duplication = 'none' | 'concurrent' | 'before-delete' | 'after-delete';

/** What is done to one batch. */
export interface FaultPlan {
  readonly records: readonly SQSRecord[];
  readonly delayMs: number;
  readonly isDropped: boolean;
  readonly duplication: Duplication;
}

const defaultDelayMsMax = 100;
const duplications = ['concurrent', 'before-delete', 'after-delete'] as const;

/** Decides what is done to a batch. */
export function planFaults(
  records: readonly SQSRecord[],
  faults: FaultOptions | undefined,
  random: Random,
): FaultPlan {
  if (faults === undefined) {
    return { records, delayMs: 0, isDropped: false, duplication: 'none' };
  }
  const happens = (probability = 0): boolean => random.next() < probability;
  const isReordered = happens(faults.reorder);
  const isDelayed = happens(faults.delay);
  const isDropped = happens(faults.drop);
  const isDuplicated = happens(faults.duplicate);
  const delayMsMax = faults.delayMsMax ?? defaultDelayMsMax;
  const which = duplications[Math.floor(random.next() * duplications.length)];
  return {
    records: isReordered ? shuffleAcrossGroups(records, random) : records,
    delayMs: isReordered || isDelayed ? Math.round(random.next() * delayMsMax) : 0,
    isDropped,
    duplication: isDuplicated && which !== undefined ? which : 'none',
  };
}

/** Interleaves groups at random; inside a group the order stays. A record without a group is a group of its own. */
function shuffleAcrossGroups(records: readonly SQSRecord[], random: Random): SQSRecord[] {
  const groups = new Map<string, SQSRecord[]>();
  for (const record of records) {
    const isOrdered = record.attributes.SequenceNumber !== undefined;
    const key = isOrdered ? (record.attributes.MessageGroupId ?? '') : record.messageId;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [record]);
    else group.push(record);
  }
  const waiting = [...groups.values()];
  const shuffled: SQSRecord[] = [];
  while (waiting.length > 0) {
    const index = Math.floor(random.next() * waiting.length);
    const next = waiting[index]?.shift();
    if (next === undefined) waiting.splice(index, 1);
    else shuffled.push(next);
  }
  return shuffled;
}
