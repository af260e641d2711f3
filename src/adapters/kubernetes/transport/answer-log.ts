/**
 * How long one API server took to answer the last requests of a transport (ADR 0055): bounded, in memory, of this process alone.
 *
 * Measured from the moment at which a request could be sent on a connection that was used before, so that neither making a connection
 * nor a server's first look at a token counts. Left out are lists, refusals for too many requests and errors, which say nothing of
 * speed, and what went beside many others of our own: those wait for each other. A request that was given up counts with the time that it
 * was waited for.
 */
import type { AnswerTiming } from '../../../core/model/projections.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';

/** The newest measurements that are kept. */
export const TIMINGS_MAX = 64;
/** With more of our own requests under way, or begun, while one ran, its time is partly of our own making. */
const BESIDE_MAX = 8;

/** As much of a request as its kind depends on. */
interface AskedFor {
  readonly method: keyof typeof VERBS;
  readonly path: string;
}

/** As much of an answer as tells whether its time counts. */
type Told =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'unsent' | 'ambiguous' };

const VERBS = {
  GET: 'get',
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
} as const;
/** `/api/v1/nodes/n1`, `/apis/apps/v1/namespaces/ns/daemonsets/name/status`. */
const OBJECT_PATH =
  /^\/apis?\/(?:[^/]+\/)?v[^/]+\/(?:namespaces\/[^/]+\/)?([a-z]+)(?:\/[^/]+)?(\/[a-z]+)?$/;
const ONE_BY_NAME = /^fieldSelector=metadata\.name%3D[^&]+$/;

/** Verb and resource of a request of one object; undefined: a list, or nothing that is known. */
export function answerKindOf({ method, path }: AskedFor): string | undefined {
  const [own = '', query] = path.split('?', 2);
  if (query !== undefined && !ONE_BY_NAME.test(query)) return undefined;
  const [, resource, part = ''] = OBJECT_PATH.exec(own) ?? [];
  return resource === undefined ? undefined : `${VERBS[method]} ${resource}${part}`;
}

export interface Underway {
  readonly kind: string | undefined;
  readonly begun: number;
  readonly beside: number;
  /** When it could be sent; absent: not yet. */
  sentMs?: number;
}

export class AnswerLog {
  readonly #clock: Clock;
  #begun = 0;
  #underway = 0;
  #timings: readonly AnswerTiming[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The newest, the oldest of them first. */
  get timings(): readonly AnswerTiming[] {
    return this.#timings;
  }

  begin(request: AskedFor): Underway {
    this.#begun += 1;
    const beside = this.#underway;
    this.#underway += 1;
    return { kind: answerKindOf(request), begun: this.#begun, beside };
  }

  /** Its connection stands. */
  noteSent(request: Underway): void {
    request.sentMs = this.#clock.monotonicMs();
  }

  /** It is over. `isReused`: on a connection that had answered before. */
  end(
    { kind, sentMs, begun, beside }: Underway,
    { answer, isReused }: { readonly answer: Told | 'timed-out'; readonly isReused: boolean },
  ): void {
    this.#underway -= 1;
    const isCrowded = beside + this.#begun - begun > BESIDE_MAX;
    if (kind === undefined || sentMs === undefined || !isReused || isCrowded) return;
    if (answer !== 'timed-out' && !tellsTime(answer)) return;
    const tookMs = this.#clock.monotonicMs() - sentMs;
    const timing = { kind, atMs: this.#clock.nowMs(), tookMs };
    this.#timings = [...this.#timings, timing].slice(-TIMINGS_MAX);
  }
}

function tellsTime(answer: Told): boolean {
  return answer.kind === 'answered' && answer.status < 500 && answer.status !== 429;
}
