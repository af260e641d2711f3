/**
 * Which faults, in which order, how long, by seed: decided before anything runs, so that every planned
 * fault can be shown to have fired (M1).
 *
 * Lane 0 plays the whole deck, shuffled, as often as the time allows, and at least once. Lane 1 starts
 * later and plays short faults over it. Faults on the same thing wait for each other (chaos.ts), so the
 * plan says when a fault may begin, not when it does. Pure.
 */
import type { Seeded } from '../scenarios/seeded.ts';

/** Everything that is done to the theatre. */
export const FAULT_KINDS = [
  'kill-watcher',
  'kill-engine',
  'kill-api-server',
  'stop-watcher',
  'stop-engine',
  'stop-api-server',
  'compact-etcd',
  'restore-etcd',
  'delete-lease',
  'second-watcher',
  'cut-watcher-api',
  'cut-watcher-queue',
  'cut-functions-api',
  'late-writes',
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export interface PlannedFault {
  readonly index: number;
  readonly kind: FaultKind;
  readonly lane: 0 | 1;
  /** After the fault before it in its lane has ended. */
  readonly gapMs: number;
  /** How long it lasts; what that means depends on the kind. */
  readonly durationMs: number;
  /** Chooses between variants of the kind: [0, 1). */
  readonly variant: number;
}

export interface PlanOptions {
  readonly minutes: number;
  readonly kinds: readonly FaultKind[];
  readonly seeded: Seeded;
}

interface Lasting {
  readonly fromMs: number;
  readonly toMs: number;
  /** What it takes besides, e.g. until the API server is ready again. */
  readonly extraMs: number;
}

const MINUTE_MS = 60_000;
const KILL: Lasting = { fromMs: 0, toMs: 5_000, extraMs: 1_000 };
const STOP: Lasting = { fromMs: 5_000, toMs: 60_000, extraMs: 0 };
const CUT: Lasting = { fromMs: 60_000, toMs: 60_000, extraMs: 0 };

const LASTING: Readonly<Record<FaultKind, Lasting>> = {
  'kill-watcher': KILL,
  'kill-engine': KILL,
  'kill-api-server': { ...KILL, extraMs: 6_000 },
  'stop-watcher': STOP,
  'stop-engine': STOP,
  'stop-api-server': STOP,
  'compact-etcd': { fromMs: 4_000, toMs: 10_000, extraMs: 10_000 },
  'restore-etcd': { fromMs: 20_000, toMs: 30_000, extraMs: 20_000 },
  'delete-lease': { fromMs: 0, toMs: 0, extraMs: 1_000 },
  'second-watcher': { fromMs: 15_000, toMs: 40_000, extraMs: 3_000 },
  'cut-watcher-api': CUT,
  'cut-watcher-queue': CUT,
  'cut-functions-api': CUT,
  // Functions give up after 10 s; a request is taken to be dead after twice that (docs/promise.md).
  'late-writes': { fromMs: 11_000, toMs: 17_000, extraMs: 5_000 },
};

/** Those whose length has a meaning of its own, and is not shortened in a short run. */
const UNSCALED: readonly FaultKind[] = ['restore-etcd', 'late-writes', 'compact-etcd'];
const OVER_OTHERS: readonly FaultKind[] = [
  'kill-watcher',
  'kill-engine',
  'kill-api-server',
  'stop-watcher',
  'stop-engine',
  'delete-lease',
];
const FULL_MINUTES = 10;
const SHORTEST_MS = 4_000;
const OVER_LASTS_MAX_MS = 15_000;
/** Long enough that rollouts move on: what stands still cannot break a budget. */
const GAP_MS = { from: 4_000, to: 14_000 };
const GAP_SCALE_MIN = 0.4;
const OVER_GAP_MS = { from: 8_000, to: 30_000 };
const OVER_BEGINS = 0.2;

/** By how much a short run shortens freezes and cuts. */
function scaleOf(minutes: number): number {
  return Math.min(1, minutes / FULL_MINUTES);
}

/** For how long a process is stopped at most in a run of so many minutes. */
export function longestFreezeMs(minutes: number): number {
  return Math.max(SHORTEST_MS, Math.round(STOP.toMs * scaleOf(minutes)));
}

/** Plans; the same seed plans the same. */
export function planFaults(options: PlanOptions): readonly PlannedFault[] {
  const endMs = options.minutes * MINUTE_MS;
  const scale = scaleOf(options.minutes);
  const main = planMain(options, { endMs, scale });
  const over = planOver(options, { endMs, scale });
  return [...main, ...over].map((fault, index) => ({ ...fault, index }));
}

type Unnumbered = Omit<PlannedFault, 'index'>;
interface Frame {
  readonly endMs: number;
  readonly scale: number;
}

function planMain({ kinds, seeded }: PlanOptions, { endMs, scale }: Frame): Unnumbered[] {
  const faults: Unnumbered[] = [];
  let atMs = 0;
  for (let round = 0; ; round += 1) {
    for (const kind of shuffled(kinds, seeded)) {
      if (round > 0 && atMs >= endMs) return faults;
      const gapMs = Math.round(seeded.integer(GAP_MS) * Math.max(scale, GAP_SCALE_MIN));
      const durationMs = durationOf(kind, seeded, scale);
      faults.push({ kind, lane: 0, gapMs, durationMs, variant: seeded.next() });
      atMs += gapMs + durationMs + LASTING[kind].extraMs;
    }
    if (kinds.length === 0) return faults;
  }
}

function planOver({ kinds, seeded }: PlanOptions, { endMs, scale }: Frame): Unnumbered[] {
  const short = kinds.filter((kind) => OVER_OTHERS.includes(kind));
  if (short.length === 0) return [];
  const faults: Unnumbered[] = [];
  let atMs = 0;
  for (;;) {
    const kind = seeded.pick(short);
    const isFirst = faults.length === 0;
    const gapMs = isFirst ? endMs * OVER_BEGINS : Math.round(seeded.integer(OVER_GAP_MS) * scale);
    const durationMs = Math.min(durationOf(kind, seeded, scale), OVER_LASTS_MAX_MS);
    atMs += gapMs + durationMs + LASTING[kind].extraMs;
    if (atMs > endMs) return faults;
    faults.push({ kind, lane: 1, gapMs, durationMs, variant: seeded.next() });
  }
}

function durationOf(kind: FaultKind, seeded: Seeded, scale: number): number {
  const { fromMs, toMs } = LASTING[kind];
  const durationMs = seeded.integer({ from: fromMs, to: toMs });
  if (UNSCALED.includes(kind)) return durationMs;
  const shortestMs = Math.min(SHORTEST_MS, durationMs);
  return Math.max(shortestMs, Math.round(durationMs * scale));
}

function shuffled<Item>(items: readonly Item[], seeded: Seeded): Item[] {
  const left = [...items];
  const result: Item[] = [];
  while (left.length > 0) {
    const index = seeded.integer({ from: 0, to: left.length - 1 });
    result.push(...left.splice(index, 1));
  }
  return result;
}
