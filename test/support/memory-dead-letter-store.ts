/**
 * Dead letters in memory, with the semantics of the port: places, pages, notes.
 *
 * One suite (dead-letter-suite.ts) holds it and the DynamoDB adapter to the same answers.
 */
import {
  formatDeadLetterId,
  placeOfDeadLetter,
  timeKey,
} from '../../src/core/hints/dead-letter-place.ts';
import type {
  DeadLetterPartition,
  DeadLetterPlace,
} from '../../src/core/hints/dead-letter-place.ts';
import type {
  DeadLetterPage,
  DeadLetterQuery,
  DeadLetterStore,
  KeptDeadLetter,
  RedriveNote,
} from '../../src/ports/stores/dead-letter-store.ts';
import type { DeadLetterOutcome, DeadLetterRecord } from '../../src/ports/stores/registry-store.ts';

const BODY_CHARACTERS_MAX = 16_384;
const UNVERIFIED_BODY_CHARACTERS_MAX = 1024;

/** Dead letters in memory. */
export class MemoryDeadLetterStore implements DeadLetterStore {
  readonly #letters = new Map<string, KeptDeadLetter>();
  readonly #partitions = new Set<DeadLetterPartition>();

  /** Keeps a record as the registry store does. */
  recordDeadLetter(record: DeadLetterRecord): Promise<DeadLetterOutcome> {
    const place = placeOfDeadLetter(record);
    const { claim, ...fields } = record;
    const charactersMax =
      claim === undefined ? BODY_CHARACTERS_MAX : UNVERIFIED_BODY_CHARACTERS_MAX;
    this.#partitions.add(place.partition);
    this.#letters.set(formatDeadLetterId(place), {
      ...fields,
      ...(claim === undefined ? {} : { claimedCluster: claim.cluster.slice(0, 256) }),
      cluster: record.cluster.slice(0, 256),
      messageId: record.messageId.slice(0, 256),
      body: record.body.slice(0, charactersMax),
      isBodyCut: record.body.length > charactersMax,
      place,
    });
    return Promise.resolve('kept');
  }

  listPartitions(): Promise<readonly DeadLetterPartition[]> {
    return Promise.resolve([...this.#partitions]);
  }

  list(partition: DeadLetterPartition, query: DeadLetterQuery): Promise<DeadLetterPage> {
    const after = query.cursor ?? (query.sinceMs === undefined ? '' : timeKey(query.sinceMs));
    const letters = [...this.#letters.values()]
      .filter(({ place }) => place.partition === partition && place.sort > after)
      .sort((left, right) => (left.place.sort < right.place.sort ? -1 : 1));
    const page = letters.slice(0, query.limit);
    const last = page.at(-1);
    const isWhole = page.length === letters.length || last === undefined;
    return Promise.resolve(
      isWhole ? { letters: page } : { letters: page, cursor: last.place.sort },
    );
  }

  read(place: DeadLetterPlace): Promise<KeptDeadLetter | undefined> {
    return Promise.resolve(this.#letters.get(formatDeadLetterId(place)));
  }

  noteRedrive(place: DeadLetterPlace, redrive: RedriveNote): Promise<'noted' | 'gone'> {
    const id = formatDeadLetterId(place);
    const letter = this.#letters.get(id);
    if (letter === undefined) return Promise.resolve('gone');
    this.#letters.set(id, { ...letter, redrive });
    return Promise.resolve('noted');
  }

  remove(place: DeadLetterPlace): Promise<void> {
    this.#letters.delete(formatDeadLetterId(place));
    return Promise.resolve();
  }
}
