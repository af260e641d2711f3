/**
 * A watch stream in memory: frames are pushed in and read out in order, until it ends or is aborted.
 *
 * Each frame counts as bytes received. Ends after a `failed` or `ended` frame, as the port demands.
 */
import type { WatchFrame, WatchOptions } from '../../src/ports/cluster/watch-source.ts';

/** One stream of frames. */
export class FrameStream implements AsyncIterable<WatchFrame> {
  isClosed = false;
  readonly #frames: WatchFrame[] = [];
  readonly #options: Pick<WatchOptions, 'signal' | 'onBytes'>;
  #wake: (() => void) | undefined;

  constructor(options: Pick<WatchOptions, 'signal' | 'onBytes'>) {
    this.#options = options;
    const close = (): void => {
      this.isClosed = true;
      this.#wake?.();
    };
    if (options.signal.aborted) close();
    else options.signal.addEventListener('abort', close, { once: true });
  }

  /** Delivers a frame, unless the stream is over. */
  push(frame: WatchFrame): void {
    if (this.isClosed) return;
    this.#frames.push(frame);
    if (frame.kind === 'ended' || frame.kind === 'failed') this.isClosed = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchFrame> {
    while (!this.#options.signal.aborted) {
      const frame = this.#frames.shift();
      if (frame !== undefined) {
        this.#options.onBytes();
        yield frame;
        if (frame.kind === 'ended' || frame.kind === 'failed') return;
      } else {
        await this.#next();
      }
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
