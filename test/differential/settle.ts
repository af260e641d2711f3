/**
 * The quiet point after a step: waits until both clusters rest, and holds their portraits against each other.
 *
 * A difference counts only when it lasts: as long as something changes, and for a while after, it is looked
 * at again. The original is known to miss wake-ups (status after a NoSchedule taint, the look after
 * minReadySeconds): before a difference counts, its DaemonSets are touched, as long as that moves it; that is
 * noted, with who changed. Rollcall is never touched.
 */
import { findUnrest, lacksPods } from './at-rest.ts';
import { canonical, comparePortraits, type ComparisonResult } from './compare.ts';
import type { Pair, SideName } from './pair.ts';
import type { Place } from './place.ts';
import { drawPortrait, NUDGE_ANNOTATION, type Portrait } from './portrait.ts';
import type { Step } from './scenario.ts';
import { SET_NAMES } from './set-spec.ts';
import type { Comparable } from './spoilt.ts';
import { waitForChange } from './wait-for-change.ts';

export interface QuietPoint extends ComparisonResult {
  readonly original: Portrait;
  readonly rollcall: Portrait;
  /** Who changed after the original's DaemonSets had been touched; empty where that was not needed. */
  readonly changedByNudge: readonly SideName[];
  readonly waitedMs: number;
  /** What differed when the original was touched for the first time. */
  readonly early: readonly string[];
  /** How long nothing at all had happened before the change that brought agreement. */
  readonly longestQuietMs: number;
  /** What was still under way; empty as a rule. */
  readonly unrest: readonly string[];
  /** What was under way on Rollcall's side alone, when the patience was over. */
  readonly lateUnrest: readonly string[];
}

export interface Patience {
  /** Nothing may have changed for so long. */
  readonly quietMs: number;
  /** A difference at rest is believed after so long. */
  readonly differenceMs: number;
  /** Unrest is waited out no longer than this. */
  readonly deadlineMs: number;
}

/** Patience of ordinary steps. */
export const PATIENCE: Patience = { quietMs: 800, differenceMs: 40_000, deadlineMs: 120_000 };

/** At the end of a scenario: what comes late must not go unseen. */
export const LAST_PATIENCE: Patience = { ...PATIENCE, quietMs: 2500 };

const NUDGE_AFTER_MS = 2500;
/** One for each node that a rollout with surge and minReadySeconds may forget. */
const NUDGES_MAX = 12;
/** While admission refuses pods the original may need luck, or wait for its back-off (see play.ts). */
const NUDGES_REFUSED_MAX = 3;
const ASK_PERIOD_MAX_MS = 250;

export interface Memory extends Comparable {
  readonly original: ReadonlySet<string>;
  readonly rollcall: ReadonlySet<string>;
}

export function memoryDuring(memory: Memory, step: Step): Memory {
  const { spoiltHistories } = memory;
  if (step.op === 'set-flip' && step.field === 'template') {
    return {
      ...memory,
      isKeptCompared: false,
      isAgeCompared: false,
      spoiltHistories: spoiltHistories.union(new Set([step.set])),
    };
  }
  return { ...memory, spoiltHistories: spoiltAfter(spoiltHistories, step) };
}

/** A history goes with its set, unless it is orphaned: whoever takes the pods takes the revisions, too. */
function spoiltAfter(spoilt: ReadonlySet<string>, step: Step): ReadonlySet<string> {
  const ends = ['set-delete', 'set-remake', 'set-replace'].includes(step.op);
  if (!ends || !('set' in step)) return spoilt;
  const isOrphaned = 'propagation' in step && step.propagation === 'Orphan';
  if (!isOrphaned) return spoilt.difference(new Set([step.set]));
  return spoilt.has(step.set) ? new Set(SET_NAMES) : spoilt;
}

/** Waits for the quiet point and compares. */
export async function settle(
  pair: Pair,
  place: Place,
  options: {
    readonly memory: Memory;
    readonly patience: Patience;
    /** True while admission refuses pods: the original then backs off, and is touched more often. */
    readonly isRefusing: boolean;
  },
): Promise<QuietPoint> {
  const { memory, patience } = options;
  const mirrors = [pair.original.mirror, pair.rollcall.mirror];
  const startedAtMs = performance.now();
  const nudger = createNudger(pair, { place, isRefusing: options.isRefusing });
  let longestQuietMs = 0;
  for (;;) {
    const nowMs = performance.now();
    const quietForMs = nowMs - Math.max(startedAtMs, ...mirrors.map((it) => it.changedAtMs(place)));
    const { unrest, lateUnrest } = unrestAt(pair, place);
    const isOver = nowMs - startedAtMs > patience.deadlineMs;
    if (isOver || (quietForMs >= patience.quietMs && unrest.length === 0)) {
      const found = look(pair, place, memory);
      const isBelieved = isOver || (nudger.isDone() && quietForMs >= patience.differenceMs);
      if (isAgreed(found, pair, { place, isRefusing: options.isRefusing }) || isBelieved) {
        const waitedMs = performance.now() - startedAtMs;
        return {
          ...found,
          ...nudger.changesUntil(found),
          waitedMs,
          longestQuietMs,
          unrest,
          lateUnrest,
        };
      }
      longestQuietMs = Math.max(longestQuietMs, quietForMs);
      if (quietForMs >= Math.max(NUDGE_AFTER_MS, patience.quietMs)) await nudger.nudge(found);
    }
    const restMs = patience.quietMs - quietForMs;
    const timeoutMs = restMs > 0 ? Math.min(restMs + 1, ASK_PERIOD_MAX_MS) : ASK_PERIOD_MAX_MS;
    await waitForChange(mirrors, { place, timeoutMs });
  }
}

function unrestAt(
  { original, rollcall }: Pair,
  place: Place,
): Pick<QuietPoint, 'unrest' | 'lateUnrest'> {
  const originals = findUnrest(original.mirror, place);
  const own = findUnrest(rollcall.mirror, place);
  return { unrest: [...originals, ...own], lateUnrest: originals.length === 0 ? own : [] };
}

function isAgreed(
  { differences }: Look,
  { original, rollcall }: Pair,
  { place, isRefusing }: { readonly place: Place; readonly isRefusing: boolean },
): boolean {
  if (differences.length > 0) return false;
  return isRefusing || ![original, rollcall].some(({ mirror }) => lacksPods(mirror, place));
}

type Look = Pick<QuietPoint, 'original' | 'rollcall' | 'differences' | 'unalignedNodes'>;

function look({ original, rollcall }: Pair, place: Place, memory: Memory): Look {
  const portraits = {
    original: drawPortrait(original.mirror, place, memory.original),
    rollcall: drawPortrait(rollcall.mirror, place, memory.rollcall),
  };
  return { ...portraits, ...comparePortraits(portraits, memory) };
}

interface Nudger {
  /** True once touching the original has been tried. */
  readonly isDone: () => boolean;
  /** Touches the original's DaemonSets, unless that changed nothing the last time. */
  readonly nudge: (found: Look) => Promise<void>;
  readonly changesUntil: (found: Look) => Pick<QuietPoint, 'changedByNudge' | 'early'>;
}

function createNudger(
  { original }: Pair,
  { place, isRefusing }: { readonly place: Place; readonly isRefusing: boolean },
): Nudger {
  let early: readonly string[] = [];
  let before: Readonly<Record<SideName, string>> | undefined;
  let last: string | undefined;
  let left = isRefusing ? NUDGES_REFUSED_MAX : NUDGES_MAX;
  const path = `/apis/apps/v1/namespaces/${place.namespace}/daemonsets`;
  return {
    isDone: () => before !== undefined,
    nudge: async (found) => {
      const text = textOf(found.original);
      if ((text === last && !isRefusing) || left === 0) return;
      last = text;
      left -= 1;
      if (before === undefined) {
        before = { original: text, rollcall: textOf(found.rollcall) };
        early =
          found.differences.length === 0
            ? ['pods that both lack']
            : found.differences.map(({ comparison, subject }) => `${comparison} of ${subject}`);
      }
      for (const { metadata } of original.mirror.at(place).daemonSets) {
        await original.admin.request({
          method: 'PATCH',
          path: `${path}/${metadata.name}`,
          body: { metadata: { annotations: { [NUDGE_ANNOTATION]: String(performance.now()) } } },
        });
      }
    },
    changesUntil: (found) => {
      if (before === undefined) return { changedByNudge: [], early };
      const { original: first, rollcall: second } = before;
      const changedByNudge = [
        ...(first === textOf(found.original) ? [] : (['original'] as const)),
        ...(second === textOf(found.rollcall) ? [] : (['rollcall'] as const)),
      ];
      return { changedByNudge, early };
    },
  };
}

function textOf({ sets, ownerless }: Portrait): string {
  return canonical({ sets, ownerless });
}
