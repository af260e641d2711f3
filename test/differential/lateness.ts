/**
 * How long each side needed after a step until nothing changed any more, and whether Rollcall is late: in counts and
 * as a ratio within the run, since both sides share the machine. Pure.
 *
 * A single step says nothing: kubelets, collectors and the machine are on both sides of it. Not measured are points at
 * which the original had to be touched before it moved, or that Rollcall left later than the original by a known
 * difference; those are notes (known-differences.ts), and `rollcall-late` among them is counted here.
 */

export interface Settling {
  readonly step: number;
  readonly originalMs: number;
  readonly rollcallMs: number;
}

export interface Measured {
  readonly settlings: readonly Settling[];
  readonly notes: readonly { readonly reason: string }[];
}

/** Of one side. */
export interface SideLateness {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly sumMs: number;
}

/** Of a run. */
export interface Lateness {
  readonly pointsCount: number;
  readonly original: SideLateness;
  readonly rollcall: SideLateness;
  /** Rollcall's sum by what it is granted. */
  readonly ratio: number;
  /** Points at which Rollcall needed far longer. */
  readonly farLaterCount: number;
  /** Points at which Rollcall changed although both had been quiet for long. */
  readonly lateCount: number;
  /** What of it is too much; empty in a good run. */
  readonly faults: readonly string[];
}

/**
 * Rollcall may need so much of what it is granted over a whole run: the original's time, and half a second a point for the
 * queues between. Half of all points need next to nothing, so the original's time alone measures the machine. 1.6 was
 * measured at a load of thirteen on two cores; two seconds more at each point are beyond it anywhere.
 */
const LATE_RATIO_MAX = 3;
const QUEUES_MS = 500;
/** A point is far later beyond this many times the original's, and these milliseconds. */
const FAR_RATIO = 5;
const FAR_MS = 10_000;
/** One in so many points may be far later, or late after quiet. */
const POINTS_FOR_ONE = 50;
/** Fewer points are no run. */
const POINTS_MIN = 100;

/** Counts over all scenarios. */
export function measureLateness(results: readonly Measured[]): Lateness {
  const settlings = results.flatMap((it) => it.settlings);
  const original = ofSide(settlings.map((it) => it.originalMs));
  const rollcall = ofSide(settlings.map((it) => it.rollcallMs));
  const grantedMs = original.sumMs + QUEUES_MS * settlings.length;
  const ratio = grantedMs === 0 ? 0 : rollcall.sumMs / grantedMs;
  const farLaterCount = settlings.filter(isFarLater).length;
  const notes = results.flatMap((it) => it.notes);
  const lateCount = notes.filter(({ reason }) => reason === 'rollcall-late').length;
  const counted = { pointsCount: settlings.length, ratio, farLaterCount, lateCount };
  return { ...counted, original, rollcall, faults: faultsOf(counted) };
}

function isFarLater({ originalMs, rollcallMs }: Settling): boolean {
  return rollcallMs > originalMs * FAR_RATIO + FAR_MS;
}

function faultsOf(
  counted: Pick<Lateness, 'pointsCount' | 'ratio' | 'farLaterCount' | 'lateCount'>,
): readonly string[] {
  const { pointsCount, ratio, farLaterCount, lateCount } = counted;
  const countMax = Math.max(1, Math.floor(pointsCount / POINTS_FOR_ONE));
  const faults: string[] = [];
  if (pointsCount >= POINTS_MIN && ratio > LATE_RATIO_MAX) {
    faults.push(`Rollcall needs ${ratio.toFixed(2)} times the time that it is granted`);
  }
  if (farLaterCount > countMax) {
    faults.push(`Rollcall is far later at ${farLaterCount} of ${pointsCount} points`);
  }
  if (lateCount > countMax) {
    faults.push(`Rollcall changed after both were quiet at ${lateCount} of ${pointsCount} points`);
  }
  return faults;
}

function ofSide(values: readonly number[]): SideLateness {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  const sumMs = values.reduce((sum, value) => sum + value, 0);
  return { p50Ms: at(0.5), p95Ms: at(0.95), sumMs };
}

/** For the closing table. */
export function describeLateness(lateness: Lateness): readonly string[] {
  const { pointsCount, ratio, farLaterCount, lateCount, faults } = lateness;
  const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(2);
  const side = ({ p50Ms, p95Ms, sumMs }: SideLateness): string =>
    `p50 ${seconds(p50Ms)} s, p95 ${seconds(p95Ms)} s, sum ${seconds(sumMs)} s`;
  return [
    `settled        at ${pointsCount} points`,
    `  original     ${side(lateness.original)}`,
    `  rollcall     ${side(lateness.rollcall)}`,
    `  ratio        ${ratio.toFixed(2)} of at most ${LATE_RATIO_MAX}; far later ${farLaterCount}, after quiet ${lateCount}`,
    ...faults.map((fault) => `  TOO LATE     ${fault}`),
  ];
}
