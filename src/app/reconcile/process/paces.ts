/**
 * Remembers how fast the creates of a DaemonSet went lately, so that the next run need not start at one.
 *
 * A rollout is many runs with some ten creates each; starting slowly in each of them costs more than the
 * pods do. A pace holds for one generation of one DaemonSet, for a few seconds, and only after a run in
 * which no create failed; a process that is cold starts slowly. Never needed for correctness: the
 * fence before each batch stays (protocol 7), and a batch is no larger than this.
 */

const KEPT_MS = 10_000;
const KEYS_MAX = 10_000;
/** What goes wrong after all went well costs no more requests than this. */
const BATCH_KEPT_MAX = 64;

/** Whose pace it is: other pods may fare differently. */
export interface PaceKey {
  readonly clusterUid: string;
  readonly uid: string;
  readonly generation: number;
}

/** Paces by DaemonSet; times are monotonic. */
export class Paces {
  readonly #kept = new Map<string, { readonly batchSize: number; readonly atMs: number }>();

  /** Size of the first batch: 1 if nothing is known, or not any more. */
  firstBatchSize(key: PaceKey, monotonicMs: number): number {
    const kept = this.#kept.get(textOf(key));
    return kept !== undefined && monotonicMs - kept.atMs < KEPT_MS ? kept.batchSize : 1;
  }

  /** Notes the batch size that a run ended with; undefined: something went wrong, start anew. */
  note(key: PaceKey, batchSize: number | undefined, monotonicMs: number): void {
    const text = textOf(key);
    this.#kept.delete(text);
    if (batchSize === undefined) return;
    this.#kept.set(text, { batchSize: Math.min(batchSize, BATCH_KEPT_MAX), atMs: monotonicMs });
    if (this.#kept.size <= KEYS_MAX) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}

function textOf({ clusterUid, uid, generation }: PaceKey): string {
  return `${clusterUid}/${uid}/${generation}`;
}
