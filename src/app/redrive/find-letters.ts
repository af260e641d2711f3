/**
 * Finds records of dead letters: by cluster, by sender, by age, queue and code. Read only.
 *
 * Partitions are read one after the other, each up to a bound and in the order of time, so that neither
 * a flood in one of them nor the number of clusters makes a listing endless; what was left out is said.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isSenderPartition } from '../../core/hints/dead-letter-place.ts';
import type { DeadLetterPartition } from '../../core/hints/dead-letter-place.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { DeadLetterStore, KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';

/** Which records. */
export interface LetterFilter {
  /**
   * `all`; `verified`: clusters, and letters of nobody known; `unverified`: senders that nobody vouched
   * for; or one cluster. What an unverified sender claims about a cluster is not that cluster's.
   */
  readonly of: 'all' | 'verified' | 'unverified' | { readonly cluster: ClusterId };
  readonly sinceMs?: number;
  readonly queue?: string;
  readonly code?: string;
}

interface FoundLetters {
  /** By partition, in the order of time. */
  readonly letters: readonly KeptDeadLetter[];
  /** Partitions that hold more than was looked at. */
  readonly unfinished: readonly DeadLetterPartition[];
}

const PAGE_LIMIT = 100;

/** Finds records; looks at no more than `readMax` in each partition. */
export async function findLetters(
  store: Pick<DeadLetterStore, 'listPartitions' | 'list'>,
  filter: LetterFilter,
  { readMax }: { readonly readMax: number },
): Promise<FoundLetters> {
  const letters: KeptDeadLetter[] = [];
  const unfinished: DeadLetterPartition[] = [];
  for (const partition of await partitionsOf(store, filter)) {
    const isWhole = await readPartition(store, { partition, filter, readMax }, letters);
    if (!isWhole) unfinished.push(partition);
  }
  return { letters, unfinished };
}

async function partitionsOf(
  store: Pick<DeadLetterStore, 'listPartitions'>,
  { of }: LetterFilter,
): Promise<readonly DeadLetterPartition[]> {
  if (typeof of === 'object') return [of.cluster];
  const partitions = await store.listPartitions();
  if (of === 'all') return partitions;
  const isWanted = of === 'unverified';
  return partitions.filter((partition) => isSenderPartition(partition) === isWanted);
}

async function readPartition(
  store: Pick<DeadLetterStore, 'list'>,
  scope: {
    readonly partition: DeadLetterPartition;
    readonly filter: LetterFilter;
    readonly readMax: number;
  },
  found: KeptDeadLetter[],
): Promise<boolean> {
  const { partition, filter, readMax } = scope;
  let cursor: string | undefined;
  for (let read = 0; read < readMax; read += PAGE_LIMIT) {
    const page = await store.list(partition, {
      limit: Math.min(PAGE_LIMIT, readMax - read),
      ...defined({ cursor, sinceMs: filter.sinceMs }),
    });
    found.push(...page.letters.filter((letter) => isWanted(letter, filter)));
    ({ cursor } = page);
    if (cursor === undefined) return true;
  }
  return false;
}

function isWanted(letter: KeptDeadLetter, { queue, code }: LetterFilter): boolean {
  return (
    (queue === undefined || letter.queue === queue) && (code === undefined || letter.code === code)
  );
}
