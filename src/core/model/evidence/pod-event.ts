/**
 * Events about pods, and the causes that they name (ADR 0062).
 *
 * Values only: what a word means is decided in core/health/event-causes.ts.
 */

/** What an Event tells of a pod, as a live read found it: raw, of whoever wrote it. */
export interface PodEvent {
  /** A word as `FailedMount`. */
  readonly reason: string;
  /** Somebody's text: it is searched for names, and never repeated whole. Cut at 1,024 characters. */
  readonly message: string;
  /** When it was told last, by the clock of who told it; absent: it does not say. */
  readonly atMs?: number;
}

/** What one pod's Events came to (core/health/event-causes.ts). */
export type PodCause =
  /** In words, with the Event's reason. */
  | { readonly kind: 'known'; readonly words: string }
  /** None of them is of a kind that is known, or there is none. */
  | { readonly kind: 'silent' }
  | { readonly kind: 'unreadable' };
