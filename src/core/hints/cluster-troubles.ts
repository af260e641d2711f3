/**
 * What is the matter with clusters, and what of it is new: the walk of `resync` remembers both.
 *
 *   holds ──for as long as its kind takes──▶ counted once ──ends──▶ forgotten after an hour without
 *
 * An alarm acts when its state changes, so it looks at beginnings, of each trouble of a cluster once an hour
 * (docs/operations.md).
 */
import { defined } from '@rollcall/base/defined.ts';
import { isNotCalm, lastingTroubles } from '../model/breaker.ts';
import type { ClusterBreaker, NotedTrouble } from '../model/breaker.ts';
import type { ClusterId } from '../model/identifiers.ts';
import type { ClusterMeta } from '../model/view-items.ts';

/** The kinds, the worst first; each is an outcome of the metric `ClusterTroubles`. */
export type ClusterTrouble = 'silent' | 'never-heard' | 'incomplete' | 'unreachable' | NotedTrouble;

const MINUTE_MS = 60_000;
/** How long one holds before it counts; what is seen in notes has lasted already, and silence has a bound of its own. */
const LASTS_MS: Readonly<Partial<Record<ClusterTrouble, number>>> = {
  'never-heard': 60 * MINUTE_MS,
  incomplete: 30 * MINUTE_MS,
  unreachable: 15 * MINUTE_MS,
};
/** Without it for so long, it counts anew. */
const FORGOTTEN_AFTER_MS = 60 * MINUTE_MS;
/** Clusters in trouble that are remembered, so that the item stays small; of more only the share tells. */
const TROUBLED_MAX = 2_000;

interface TroubleEntry {
  /** Absent: it does not hold any more. */
  readonly sinceMs?: number;
  /** When it last held since it was counted; absent: it was not, or that is forgotten. */
  readonly countedMs?: number;
}

export type ClusterTroubles = Readonly<Partial<Record<ClusterTrouble, TroubleEntry>>>;

export interface TroubleBook {
  /** As the walk before found it, by cluster. */
  readonly former: Readonly<Record<string, ClusterTroubles>>;
  readonly found: Readonly<Record<string, ClusterTroubles>>;
  /** Clusters that this walk has looked at, and those of them in a trouble that counts. */
  readonly clusters: number;
  readonly troubled: number;
}

/** Nothing is known of any cluster. */
export const EMPTY_BOOK: TroubleBook = { former: {}, found: {}, clusters: 0, troubled: 0 };

export function nextBook({ found }: TroubleBook): TroubleBook {
  return { ...EMPTY_BOOK, former: found };
}

/** What is the matter with a cluster of this META just now; undefined: it has none. */
export function troublesOf(
  meta: Pick<ClusterMeta, 'isComplete' | 'lastSentAtMs' | 'breaker'> | undefined,
  at: { readonly nowMs: number; readonly silenceBoundMs: number },
): readonly ClusterTrouble[] {
  if (meta === undefined) return ['never-heard'];
  const isSilent = at.nowMs - meta.lastSentAtMs > at.silenceBoundMs;
  // A silent cluster says nothing new about its view.
  const ofView: readonly ClusterTrouble[] = meta.isComplete ? [] : ['incomplete'];
  return [...(isSilent ? (['silent'] as const) : ofView), ...troublesOfBreaker(meta.breaker, at)];
}

function troublesOfBreaker(
  breaker: ClusterBreaker | undefined,
  { nowMs }: { readonly nowMs: number },
): readonly ClusterTrouble[] {
  if (breaker === undefined) return [];
  const noted = lastingTroubles(breaker, nowMs);
  return isNotCalm(breaker, nowMs) ? ['unreachable', ...noted] : noted;
}

export interface TroubleLook {
  readonly troubles: ClusterTroubles;
  /** Those that count from this look on. */
  readonly begun: readonly ClusterTrouble[];
  /** True if any of them counts. */
  readonly isTroubled: boolean;
}

/** What is remembered after a look that found these. */
function afterLook(
  former: ClusterTroubles,
  holding: readonly ClusterTrouble[],
  nowMs: number,
): TroubleLook {
  const kinds = [...new Set([...holding, ...(Object.keys(former) as ClusterTrouble[])])];
  const next = kinds.map((kind) => {
    const entry = former[kind] ?? {};
    const sinceMs = holding.includes(kind) ? (entry.sinceMs ?? nowMs) : undefined;
    const isLasting = sinceMs !== undefined && nowMs - sinceMs >= (LASTS_MS[kind] ?? 0);
    const { countedMs } = entry;
    // One that held at the look before goes on, however long ago that was: no walk may have looked since.
    const isKnown =
      countedMs !== undefined &&
      (entry.sinceMs !== undefined || nowMs - countedMs < FORGOTTEN_AFTER_MS);
    const isStanding = isLasting || (isKnown && sinceMs !== undefined);
    const keptMs = isKnown ? countedMs : undefined;
    return { kind, sinceMs, isLasting, isKnown, countedMs: isStanding ? nowMs : keptMs };
  });
  const kept = next.filter((one) => one.sinceMs !== undefined || one.countedMs !== undefined);
  return {
    troubles: Object.fromEntries(
      kept.map(({ kind, sinceMs, countedMs }) => [kind, defined({ sinceMs, countedMs })]),
    ),
    begun: next.filter((one) => one.isLasting && !one.isKnown).map(({ kind }) => kind),
    isTroubled: next.some(({ isLasting }) => isLasting),
  };
}

/** The looks of one invocation, beside what the walk remembers. */
export class TroubleCount {
  readonly #book: TroubleBook;
  readonly #found = new Map<ClusterId, ClusterTroubles>();
  readonly #begun = new Map<ClusterTrouble, number>();
  readonly #seen = new Set<ClusterId>();
  #troubled = 0;

  constructor(book: TroubleBook) {
    this.#book = book;
  }

  /** Clusters by the kind that begins to count with this invocation. */
  get begun(): ReadonlyMap<ClusterTrouble, number> {
    return this.#begun;
  }

  /** The book after these looks. */
  get book(): TroubleBook {
    const { former, found, clusters, troubled } = this.#book;
    return {
      former,
      found: { ...found, ...Object.fromEntries(this.#found) },
      clusters: clusters + this.#seen.size,
      troubled: troubled + this.#troubled,
    };
  }

  /** Notes what a first look found; undefined: it failed, and what was known stays. */
  note(cluster: ClusterId, holding: readonly ClusterTrouble[] | undefined, nowMs: number): void {
    if (this.#seen.has(cluster)) return;
    this.#seen.add(cluster);
    const former = this.#book.former[cluster] ?? {};
    const look =
      holding === undefined
        ? { troubles: former, begun: [], isTroubled: false }
        : afterLook(former, holding, nowMs);
    if (look.isTroubled) this.#troubled += 1;
    if (Object.keys(look.troubles).length === 0) return;
    // What cannot be remembered would begin anew with each walk.
    if (this.#found.size + Object.keys(this.#book.found).length >= TROUBLED_MAX) return;
    this.#found.set(cluster, look.troubles);
    for (const kind of look.begun) this.#begun.set(kind, (this.#begun.get(kind) ?? 0) + 1);
  }
}
