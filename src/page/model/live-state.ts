/**
 * What the stream of events told, as one value: the newest document of each kind, entries of the log up to a bound, and how old it is.
 *
 * A `look` ends each look of the server that succeeded, so its age is the age of all: without it nothing counts as well.
 */
import type { Freshness } from './freshness.ts';
import type {
  CommandError,
  FleetHealth,
  FleetItem,
  ListOf,
  NodeMap,
  RolloutItem,
  ToldEntry,
} from './documents.ts';

/** Entries that are kept, the newest. */
export const ENTRIES_MAX = 100;

/** What came by the stream. */
export type LiveEvent =
  | { readonly kind: 'look'; readonly atMs: number; readonly nextInMs: number }
  | { readonly kind: 'status'; readonly health: FleetHealth }
  | { readonly kind: 'nodes'; readonly map: NodeMap }
  | { readonly kind: 'rollouts'; readonly rollouts: ListOf<RolloutItem> }
  | { readonly kind: 'fleets'; readonly fleets: ListOf<FleetItem> }
  | { readonly kind: 'log'; readonly entries: readonly ToldEntry[] }
  | { readonly kind: 'trouble'; readonly error: CommandError }
  | { readonly kind: 'opened' }
  | { readonly kind: 'closed'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

/** All of it. */
export interface LiveState extends Freshness {
  readonly health?: FleetHealth;
  readonly map?: NodeMap;
  readonly rollouts?: ListOf<RolloutItem>;
  readonly fleets?: ListOf<FleetItem>;
  readonly entries: readonly ToldEntry[];
}

/** Before the first event. */
export const NOTHING_LIVE: LiveState = { connection: 'connecting', entries: [] };

/** The state after an event. */
export function reduceLive(state: LiveState, event: LiveEvent): LiveState {
  switch (event.kind) {
    case 'look': {
      const { trouble: _ended, closedWhy: _open, ...rest } = state;
      return { ...rest, connection: 'open', lookAtMs: event.atMs, nextInMs: event.nextInMs };
    }
    case 'status':
      return { ...state, health: event.health };
    case 'nodes':
      return { ...state, map: event.map };
    case 'rollouts':
      return { ...state, rollouts: event.rollouts };
    case 'fleets':
      return { ...state, fleets: event.fleets };
    case 'log':
      return { ...state, entries: [...state.entries, ...event.entries].slice(-ENTRIES_MAX) };
    case 'trouble':
      return { ...state, trouble: event.error };
    case 'opened':
      return { ...state, connection: 'open' };
    case 'closed':
      return { ...state, connection: 'closed', closedWhy: event.why };
    case 'refused':
      return { ...state, connection: 'refused', closedWhy: event.why };
  }
}

/** An event of the stream as one of ours; undefined: a newer server sent it. Throws SyntaxError for what is no JSON. */
export function liveEventOf(
  { name, data }: { readonly name: string; readonly data: string },
  atMs: number,
): LiveEvent | undefined {
  // The server's own documents, whose shapes its types make: nothing of another origin comes this way.
  switch (name) {
    case 'status':
      return { kind: 'status', health: JSON.parse(data) as FleetHealth };
    case 'look': {
      // Counted from when it came: the clocks of two machines may differ.
      const { nextInMs = 0 } = JSON.parse(data) as { readonly nextInMs?: number };
      return { kind: 'look', atMs, nextInMs };
    }
    case 'nodes':
      return { kind: 'nodes', map: JSON.parse(data) as NodeMap };
    case 'rollouts':
      return { kind: 'rollouts', rollouts: JSON.parse(data) as ListOf<RolloutItem> };
    case 'fleets':
      return { kind: 'fleets', fleets: JSON.parse(data) as ListOf<FleetItem> };
    case 'log': {
      const { entries } = JSON.parse(data) as { readonly entries: readonly ToldEntry[] };
      return { kind: 'log', entries };
    }
    case 'trouble':
      return { kind: 'trouble', error: JSON.parse(data) as CommandError };
    default:
      return undefined;
  }
}
