/**
 * A hint queue that keeps what it is given, with the deduplication of a FIFO queue.
 *
 * A hint that was accepted under the same prefix and key before is swallowed, as SQS does for five
 * minutes; `forgetDeduplication` lets that time pass. `failNext` makes sends reject.
 */
import { formatKey } from '../../src/core/model/identifiers.ts';
import type { Hint, Timer } from '../../src/core/model/hint.ts';
import type { HintPace, HintQueue } from '../../src/ports/queues/queue.ts';

/** A hint queue for tests. */
export class RecordingHintQueue implements HintQueue {
  /** Hints as a consumer would see them, in order. */
  readonly hints: Hint[] = [];
  readonly timers: Timer[] = [];
  /** One entry per call of sendHints that was accepted, also when it was all duplicates. */
  readonly sends: {
    readonly prefix: string;
    readonly keys: readonly string[];
    readonly pace?: HintPace;
  }[] = [];
  private readonly accepted = new Set<string>();
  private failures = 0;

  sendHints(
    hints: readonly Hint[],
    deduplicationPrefix: string,
    pace: HintPace = 'usual',
  ): Promise<void> {
    if (this.takeFailure()) return Promise.reject(new Error('injected: queue refuses hints'));
    this.sends.push({
      prefix: deduplicationPrefix,
      ...(pace === 'usual' ? {} : { pace }),
      keys: hints.map((hint) => formatKey(hint.key)),
    });
    for (const hint of hints) {
      const id = `${deduplicationPrefix}|${formatKey(hint.key)}`;
      if (this.accepted.has(id)) continue;
      this.accepted.add(id);
      this.hints.push(hint);
    }
    return Promise.resolve();
  }

  sendTimers(timers: readonly Timer[]): Promise<void> {
    if (this.takeFailure()) return Promise.reject(new Error('injected: queue refuses timers'));
    this.timers.push(...timers);
    return Promise.resolve();
  }

  /** The next `count` sends are refused. */
  failNext(count: number): void {
    this.failures = count;
  }

  /** Keys hinted so far, without repeats, sorted. */
  hintedKeys(): readonly string[] {
    return [...new Set(this.hints.map((hint) => formatKey(hint.key)))].sort();
  }

  /** Five minutes pass: the queue accepts repeated ids again. */
  forgetDeduplication(): void {
    this.accepted.clear();
  }

  /** Forgets what was recorded, not what was accepted. */
  clear(): void {
    this.hints.length = 0;
    this.timers.length = 0;
    this.sends.length = 0;
  }

  private takeFailure(): boolean {
    if (this.failures === 0) return false;
    this.failures -= 1;
    return true;
  }
}
