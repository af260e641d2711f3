/**
 * What an audited ConfigMap held, since when, and what may have been believed of it at a moment: for the audit of content.
 *
 * A change is heard of once it could be read for as long as a watcher takes for a look; until then, and for as long as a view may be
 * old, the content before it may be taken for the present one. Keys do not change in it.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { OLD_MS } from './staged-pods.ts';

/** A watcher looks once a minute, and a new one a minute later. */
const LOOK_MS = 2 * 60_000;
/** Then a view may be old. */
const BELIEVED_MS = LOOK_MS + OLD_MS;

/** What the object held from then on. */
interface Epoch {
  readonly content: string;
  readonly sinceMs: number;
}

/** For so long it could be read without a change, and was heard of if that is long enough. */
interface Span {
  readonly fromMs: number;
  toMs: number;
}

/** What the world tells of the object. */
export interface AuditedContent {
  /** What it holds; undefined: it is not there. */
  readonly read: () => string | undefined;
  /** False: nobody can read it, or hash it. */
  readonly isTold: () => boolean;
  /** What pods are called that are made while this is known; undefined: there is nothing to call them by. */
  readonly name: () => string | undefined;
}

/** Of one object, by one clock. */
export class ContentHistory {
  readonly #clock: Clock;
  readonly #source: AuditedContent;
  #epochs: readonly Epoch[] = [];
  #spans: readonly Span[] = [];

  constructor(clock: Clock, source: AuditedContent) {
    this.#clock = clock;
    this.#source = source;
    this.noteChange();
  }

  /** What it held before any change. */
  get first(): string | undefined {
    return this.#epochs[0]?.content;
  }

  /** What it holds, or held last. */
  get last(): string | undefined {
    return this.#epochs.at(-1)?.content;
  }

  /** All that it held. */
  get contents(): ReadonlySet<string> {
    return new Set(this.#epochs.map(({ content }) => content));
  }

  /** What pods are called that are made while the present content is known. */
  get name(): string | undefined {
    return this.#source.name();
  }

  /** The object, or who may read it, changed. */
  noteChange(): void {
    const nowMs = this.#clock.monotonicMs();
    const span = this.#spans.at(-1);
    if (span?.toMs === Infinity) span.toMs = nowMs;
    const content = this.#source.read();
    if (content === undefined) return;
    const isNew = this.#epochs.at(-1)?.content !== content;
    if (isNew) this.#epochs = [...this.#epochs, { content, sinceMs: nowMs }];
    if (this.#source.isTold()) this.#spans = [...this.#spans, { fromMs: nowMs, toMs: Infinity }];
  }

  /** Contents that functions may have taken for the present one at that moment. */
  believedAt(atMs: number): readonly string[] {
    const found = new Set<string>();
    for (const [index, { content, sinceMs }] of this.#epochs.entries()) {
      if (sinceMs > atMs) break;
      const endMs = this.#epochs[index + 1]?.sinceMs ?? Infinity;
      // It is believed until another one was heard of.
      const heard = this.#spans.find(
        ({ fromMs, toMs }) => fromMs >= endMs && toMs - fromMs >= LOOK_MS,
      );
      if ((heard?.fromMs ?? Infinity) + BELIEVED_MS >= atMs) found.add(content);
    }
    return [...found];
  }
}
