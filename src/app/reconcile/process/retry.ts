/**
 * Growing back-off of a key, and of nodes whose pods were refused.
 *
 * Doubling, jittered, capped; kept in the state so that it survives the process. Nothing hot-loops,
 * nothing is given up (row 57). Failed pods have a back-off of their own, in the core (spec 2.7).
 */
import type { NodeName, Uid } from '../../../core/model/identifiers.ts';
import type {
  DaemonSetState,
  NameHolder,
  RefusalEntry,
  RetryEntry,
} from '../../../core/model/state.ts';
import { jittered } from '@rollcall/base/ports/random.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { ReconcileOptions } from './dependencies.ts';

const JITTER = 0.2;

/** What back-off is computed with. */
export interface RetryClock {
  readonly nowMs: number;
  readonly random: Random;
  readonly options: Pick<ReconcileOptions, 'retryFirstMs' | 'retryMaxMs'>;
}

/** Why a key has to wait as a whole. */
export interface RetryReason {
  readonly code: string;
  readonly holdsCreates: boolean;
  /** What the API server asked for, if it did. */
  readonly retryAfterMs?: number;
  /** metadata.generation of which a write was refused. */
  readonly generation?: number;
}

/** The next step of a key's back-off; another reason starts afresh. */
export function nextRetry(
  former: RetryEntry | undefined,
  reason: RetryReason,
  at: RetryClock,
): RetryEntry {
  const isSame = former?.code === reason.code && former.generation === reason.generation;
  const grown = isSame ? former.delayMs * 2 : at.options.retryFirstMs;
  const delayMs = Math.min(Math.max(grown, reason.retryAfterMs ?? 0), at.options.retryMaxMs);
  return {
    code: reason.code,
    delayMs,
    notBeforeMs: at.nowMs + jittered(at.random, delayMs, JITTER),
    holdsCreates: reason.holdsCreates,
    ...(reason.generation === undefined ? {} : { generation: reason.generation }),
  };
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

/** What a run changes about refusals. */
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
  at: RetryClock,
): readonly RefusalEntry[] {
  const kept = new Map<NodeName, RefusalEntry>();
  for (const entry of state.refusals ?? []) {
    if (isOfInterest(entry, change, at.nowMs)) kept.set(entry.node, entry);
  }
  for (const { node, code, message, holder, victim } of change.refused) {
    const former = kept.get(node);
    // A refused create says which names are taken: no refused delete takes its place.
    if (victim !== undefined && former !== undefined && former.victim === undefined) continue;
    const grown = former === undefined ? at.options.retryFirstMs : former.delayMs * 2;
    const delayMs = Math.min(grown, at.options.retryMaxMs);
    const notBeforeMs = at.nowMs + jittered(at.random, delayMs, JITTER);
    kept.set(node, {
      node,
      generation: change.generation,
      code,
      message: message.slice(0, MESSAGE_MAX),
      ...(victim === undefined ? holdersAfter(former, holder) : { victim }),
      delayMs,
      notBeforeMs,
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

/** When a key that waits for its cluster's breaker, by the code of its back-off, looks again, if it does (protocol 11, 12). */
export function breakerWaitOf(
  state: Pick<DaemonSetState, 'retry'> | undefined,
  nowMs: number,
): RetryEntry | undefined {
  const retry = state?.retry;
  return retry?.code === BREAKER_OPEN && retry.notBeforeMs > nowMs ? retry : undefined;
}
