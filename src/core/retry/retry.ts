/**
 * What of a key is tried again and when: the key as a whole, refused nodes, refused writes, looks.
 *
 * Pure: by the rows of retry-table.ts; the caller stores the entries, and says how a wait is jittered.
 * Failed pods have their back-off in core/pod/backoff.ts, by the same table.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { generationOf } from '../daemon-set/generation.ts';
import type { NodeName, Uid } from '../model/identifiers.ts';
import type {
  DaemonSetState,
  LookEntry,
  NameHolder,
  RefusalEntry,
  RetryEntry,
} from '../model/state.ts';
import { RETRY_TABLE, nextDelayMs } from './retry-table.ts';

/** What waits are computed with. */
export interface RetryClock {
  readonly nowMs: number;
  /** For how long from then on the API server wants to be left alone; absent: it does not. */
  readonly askedMs?: number;
  /** A wait varied by that share. */
  readonly jittered: (delayMs: number, share: number) => number;
}

/** Why a key has to wait as a whole. */
export interface RetryReason {
  readonly code: string;
  readonly holdsCreates: boolean;
  /** metadata.generation of which a write was refused. */
  readonly generation?: number;
}

/** The next step of a key's back-off; another reason starts afresh. */
export function nextRetry(
  former: RetryEntry | undefined,
  reason: RetryReason,
  { nowMs, askedMs, jittered }: RetryClock,
): RetryEntry {
  const { code, holdsCreates, generation } = reason;
  const row = RETRY_TABLE[isRefusedWrite(code) ? 'refused-write' : 'key'];
  const isSame = former?.code === code && former.generation === generation;
  const delayMs = nextDelayMs(row, isSame ? former.delayMs : undefined, askedMs);
  const notBeforeMs = nowMs + jittered(delayMs, row.jitter);
  const entry = { code, delayMs, notBeforeMs, holdsCreates };
  return generation === undefined ? entry : { ...entry, generation };
}

/** A node's refusal in this run. */
export interface Refused {
  readonly node: NodeName;
  readonly code: string;
  readonly message: string;
  readonly holder?: NameHolder;
  /** The pod whose delete was refused; absent: a create was. */
  readonly victim?: Uid;
}

/** Names in a row that may be held by pods without a controller; more than a person makes by hand. */
const HOLDERS_MAX = 16;

/** Longest part of a refusal's message that is kept. */
const MESSAGE_MAX = 300;

interface RefusalChange {
  readonly generation: number;
  readonly refused: readonly Refused[];
  readonly clearedNodes: ReadonlySet<NodeName>;
  readonly lackingNodes: ReadonlySet<NodeName>;
}

/** Refusals after a run: grown where refused again, gone where void, of this generation only. */
export function nextRefusals(
  state: Pick<DaemonSetState, 'refusals'>,
  change: RefusalChange,
  { nowMs, jittered }: RetryClock,
): readonly RefusalEntry[] {
  const row = RETRY_TABLE['refused-pod'];
  const kept = new Map<NodeName, RefusalEntry>();
  for (const entry of state.refusals ?? []) {
    if (isOfInterest(entry, change, nowMs)) kept.set(entry.node, entry);
  }
  for (const { node, code, message, holder, victim } of change.refused) {
    const former = kept.get(node);
    // A refused create says which names are taken: no refused delete takes its place.
    if (victim !== undefined && former !== undefined && former.victim === undefined) continue;
    const delayMs = nextDelayMs(row, former?.delayMs);
    kept.set(node, {
      node,
      generation: change.generation,
      code,
      message: message.slice(0, MESSAGE_MAX),
      ...(victim === undefined ? holdersAfter(former, holder) : { victim }),
      delayMs,
      notBeforeMs: nowMs + jittered(delayMs, row.jitter),
    });
  }
  return [...kept.values()].sort((left, right) => (left.node < right.node ? -1 : 1));
}

/** Of a create: until the node has its pod. Of a delete: a while longer, so that its delay can grow. */
function isOfInterest(entry: RefusalEntry, change: RefusalChange, nowMs: number): boolean {
  if (entry.generation !== change.generation) return false;
  if (entry.victim !== undefined) return nowMs < entry.notBeforeMs + entry.delayMs;
  return change.lackingNodes.has(entry.node) && !change.clearedNodes.has(entry.node);
}

/** Every holder that was found so far, the latest last: names lead from one to the next. */
function holdersAfter(
  former: RefusalEntry | undefined,
  found: NameHolder | undefined,
): Pick<RefusalEntry, 'holders'> {
  const known = (former?.holders ?? []).filter(({ name }) => name !== found?.name);
  const holders = found === undefined ? known : [...known, found];
  return holders.length === 0 ? {} : { holders: holders.slice(-HOLDERS_MAX) };
}

/** The deferral of a run that its cluster's breaker refused. */
export const BREAKER_OPEN = 'breaker-open';

/** When a key that waits for its cluster's breaker looks again, if it waits for that. */
export function breakerWaitOf(
  state: Pick<DaemonSetState, 'retry'> | undefined,
  nowMs: number,
): RetryEntry | undefined {
  const retry = state?.retry;
  return retry?.code === BREAKER_OPEN && retry.notBeforeMs > nowMs ? retry : undefined;
}

/** Writes that the API server says no to, other than of pods: repeated by their back-off, by no hint. */
export type RefusedWrite =
  /** A status. */
  | 'status-refused'
  /** A ControllerRevision. */
  | 'history-refused'
  /** An adoption or a release. */
  | 'claim-refused'
  /** The deletion of an old ControllerRevision. */
  | 'trim-refused'
  /** The removal of a start-up taint. Apply the rights that docs/modes.md names. */
  | 'start-up-refused';

/** True if a back-off with this code is of a refused write. */
export function isRefusedWrite(code: string): code is RefusedWrite {
  return code.endsWith('-refused');
}

type Refusals = Pick<DaemonSetState, 'refusedWrites' | 'retry'>;

/**
 * The problem of a write that was refused, and is not to be sent yet; undefined: it may be sent. A webhook that
 * refuses one status refuses the next one too, so forty changes of nodes must not send forty writes; an edit of
 * the DaemonSet may be the remedy. Differs from upstream: it tries at every event.
 */
export function heldWrite(
  code: RefusedWrite,
  at: {
    readonly state: Refusals;
    readonly daemonSet: DaemonSetObject;
    readonly nowMs: number;
  },
): { readonly code: RefusedWrite; readonly message: string; readonly pace: 'backoff' } | undefined {
  const entry = findRefusal(at.state, { code, generation: generationOf(at.daemonSet) });
  if (entry === undefined || entry.notBeforeMs <= at.nowMs) return undefined;
  const message = 'the API server refused this write; it is sent again after its back-off';
  return { code, message, pace: 'backoff' };
}

/** The back-off of that write of that generation; in `retry` where its refusal ended the run. */
function findRefusal(
  { refusedWrites = [], retry }: Refusals,
  of: { readonly code: string; readonly generation: number },
): RetryEntry | undefined {
  const all = retry === undefined ? refusedWrites : [...refusedWrites, retry];
  return all.find(({ code, generation }) => code === of.code && generation === of.generation);
}

/**
 * The entries after a run that met these refusals, or was held by them. Each kind of write has its own: with one
 * for all, two refused kinds would end each other's wait in turn. One that waits stays as it is, whatever made this
 * run look (L5); one that this run did not get to is kept a while, so that its delay can grow.
 */
export function nextRefusedWrites(
  stored: Refusals,
  refused: readonly RetryReason[],
  at: RetryClock & { readonly generation: number },
): readonly RetryEntry[] {
  const { generation, nowMs } = at;
  const met = new Map<string, RetryEntry>();
  for (const reason of refused) {
    const former = findRefusal(stored, { code: reason.code, generation });
    const isWaiting = former !== undefined && former.notBeforeMs > nowMs;
    met.set(reason.code, isWaiting ? former : nextRetry(former, { ...reason, generation }, at));
  }
  const others = (stored.refusedWrites ?? []).filter(
    (entry) =>
      !met.has(entry.code) &&
      entry.generation === generation &&
      nowMs < entry.notBeforeMs + entry.delayMs,
  );
  return [...others, ...met.values()].sort((left, right) => (left.code < right.code ? -1 : 1));
}

/** What the next look after an unfinished run is computed from. */
export interface LookReason {
  readonly code: string;
  readonly nowMs: number;
  /** True if the run changed something: then the same reason is another one. */
  readonly hasProgressed: boolean;
  readonly row: 'soon' | 'after-effects';
}

/** The next look at what is about to change by itself; a hint that comes in between lengthens nothing. */
export function nextLook(former: LookEntry | undefined, reason: LookReason): LookEntry {
  const { code, nowMs, hasProgressed, row } = reason;
  const isSame = former?.code === code && !hasProgressed;
  if (isSame && former.atMs > nowMs) return former;
  const delayMs = nextDelayMs(RETRY_TABLE[row], isSame ? former.delayMs : undefined);
  return { code, delayMs, atMs: nowMs + delayMs };
}

/** How much longer than it was to be a wait may last: jitter, and clocks that differ by a little. */
const LONGER_SHARE = 2;

/** Since when something lasts may be this far in the future: no machine's clock is that wrong by itself. */
export const CLOCKS_DIFFER_MS = 60_000;

/**
 * The state without waits that a clock ahead of ours recorded (row 14, L1). If an end is still more than twice the
 * wait's length away, the timer for it has fired already, and waiting on would block the key for as long as the clocks
 * differ: the key tries now, and a new refusal starts a longer wait by this clock. Intents and names are not touched:
 * their times are for safety, where too long does no harm.
 */
export function withoutWaitsAhead(state: DaemonSetState, nowMs: number): DaemonSetState {
  const isAhead = (delayMs: number, endsAtMs: number): boolean =>
    endsAtMs - nowMs > delayMs * LONGER_SHARE;
  const ended = <T extends { readonly delayMs: number; readonly notBeforeMs: number }>(
    wait: T,
  ): T => (isAhead(wait.delayMs, wait.notBeforeMs) ? { ...wait, notBeforeMs: nowMs } : wait);
  const { retry, refusals, refusedWrites, look, backoff, deferredSinceMs, ...rest } = state;
  const isDeferred = deferredSinceMs !== undefined && deferredSinceMs - nowMs <= CLOCKS_DIFFER_MS;
  const isLooking = look !== undefined && !isAhead(look.delayMs, look.atMs);
  return {
    ...rest,
    ...(retry === undefined ? {} : { retry: ended(retry) }),
    ...(refusals === undefined ? {} : { refusals: refusals.map(ended) }),
    ...(refusedWrites === undefined ? {} : { refusedWrites: refusedWrites.map(ended) }),
    ...(isLooking ? { look } : {}),
    backoff: backoff.map((entry) => {
      const { advancedAtMs, delayMs } = entry;
      const isOver = isAhead(delayMs, advancedAtMs + delayMs);
      return isOver ? { ...entry, advancedAtMs: nowMs - delayMs } : entry;
    }),
    ...(isDeferred ? { deferredSinceMs } : {}),
  };
}
