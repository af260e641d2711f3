/** How old what the page shows is, and the words for it: silence is never shown as well. */
import type { CommandError } from './documents.ts';

export interface Freshness {
  /** `refused`: the token is not taken, so nothing is tried again. */
  readonly connection: 'connecting' | 'open' | 'closed' | 'refused';
  readonly closedWhy?: string;
  /** When the last look that succeeded was heard of, by the browser's clock. */
  readonly lookAtMs?: number;
  /** When the next one begins, after it. */
  readonly nextInMs?: number;
  /** Why the last look failed. */
  readonly trouble?: CommandError;
}

/** So long after the next look should have been there. */
const LATE_AFTER_MS = 15_000;

/** `fresh`: what is shown is of now. `waiting`: nothing was heard yet. `late`: it is as of before. */
export type Age =
  { readonly kind: 'waiting' } | { readonly kind: 'fresh' | 'late'; readonly ageMs: number };

/** How old it is. */
export function ageOf(freshness: Freshness, nowMs: number): Age {
  const { lookAtMs, nextInMs = 0, connection } = freshness;
  if (lookAtMs === undefined) return { kind: 'waiting' };
  const ageMs = Math.max(0, nowMs - lookAtMs);
  // A look takes a tenth of the pause after it at most.
  const isLate = ageMs > LATE_AFTER_MS + 1.5 * nextInMs || connection === 'refused';
  return { kind: isLate ? 'late' : 'fresh', ageMs };
}

/** `4 s`, `3 min`, `2 h`, `5 d`. */
export function durationText(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 100) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 100) return `${String(minutes)} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${String(hours)} h` : `${String(Math.floor(hours / 24))} d`;
}

export interface Notice {
  readonly tone: 'failing' | 'waiting';
  readonly text: string;
  readonly remedy?: string;
}

/** What is said of the connection; undefined: nothing is the matter. */
export function connectionNotice(freshness: Freshness, age: Age): Notice | undefined {
  const { connection, trouble, closedWhy } = freshness;
  if (connection === 'refused') {
    const remedy = 'Open the address that rollcall ui printed; it has the token.';
    return { tone: 'failing', text: `The server refuses this page: ${closedWhy ?? ''}`, remedy };
  }
  const asOf = age.kind === 'waiting' ? '' : ` What is shown is ${durationText(age.ageMs)} old.`;
  const unknown = age.kind === 'late' ? ' No node counts as well meanwhile.' : '';
  if (connection === 'closed') {
    const why = closedWhy === undefined ? '' : ` (${closedWhy})`;
    const remedy = 'The page tries again by itself. Is rollcall ui still running?';
    return {
      tone: 'failing',
      text: `The connection to rollcall ui is lost${why}.${asOf}${unknown}`,
      remedy,
    };
  }
  if (trouble !== undefined) {
    return { tone: 'failing', text: `${trouble.message}${asOf}${unknown}`, remedy: trouble.remedy };
  }
  if (age.kind === 'late') {
    return { tone: 'failing', text: `The server tells nothing new.${asOf}${unknown}` };
  }
  return undefined;
}

/** `as of 3 s ago`, for the head of the page. */
export function ageText(age: Age): string {
  return age.kind === 'waiting'
    ? 'waiting for the first look'
    : `as of ${durationText(age.ageMs)} ago`;
}
