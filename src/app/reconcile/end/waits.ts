/**
 * What a run leaves undone, and when that is looked at next: back-off of the key, refused nodes, and looks
 * at what is about to change by itself.
 *
 * A wait that lasts is kept as it is, whatever made this run look: hints neither shorten nor lengthen it, so
 * they start no timers of their own (L5). What never gets any further waits longer each time, up to the
 * longest wait, and is then told of.
 */
import { defined } from '@rollcall/base/defined.ts';
import { nextLook } from '../../../core/hints/looks.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import type { NodeName } from '../../../core/model/identifiers.ts';
import type { IntentJudgement, Plan } from '../../../core/model/plan.ts';
import type {
  DaemonSetState,
  HistoryEntry,
  LookEntry,
  RetryEntry,
  StatusPause,
} from '../../../core/model/state.ts';
import { guardOfPause } from '../../../core/status/status-writers.ts';
import { revisionHashOfPod } from '../../../core/pod/pod-facts.ts';
import { allowsSurge } from '../../../core/daemon-set/strategy.ts';
import type { RunContext, ViewedSubject } from '../run/context.ts';
import type { Ledger, Problem } from '../run/ledger.ts';
import { generationOf, isRefusedWrite, nextRefusedWrites } from '../run/refused-writes.ts';
import { nextRefusals, nextRetry } from '../process/retry.ts';
import type { RetryReason } from '../process/retry.ts';

/** After effects, a look this soon finds what the watcher never reported (row 91). */
const LOOK_AFTER_EFFECTS_MS = 2_000;

/** Nodes whose pods were refused. */
type Refusals = NonNullable<DaemonSetState['refusals']>;

/** What a run came to, as far as waits follow from it. */
export interface WaitsInput {
  readonly context: RunContext;
  readonly subject: ViewedSubject;
  readonly ledger: Ledger;
  readonly plan: Plan;
  /** The state as stored now: read, or written with intents. */
  readonly stored: DaemonSetState;
  readonly history: HistoryEntry | undefined;
  /** What became of earlier intents. */
  readonly intents: IntentJudgement;
}

/** What a run leaves undone. */
export interface Waits {
  readonly retry: RetryEntry | undefined;
  readonly refusedWrites: readonly RetryEntry[];
  readonly refusals: Refusals;
  readonly look: LookEntry | undefined;
  /** The earliest need to look again; undefined: nothing but the expiry of the memo. */
  readonly nearAtMs: number | undefined;
}

/** Decides what is waited for after a run, and until when. */
export function decideWaits(input: WaitsInput): Waits {
  const retry = decideRetry(input);
  const refusedWrites = decideRefusedWrites(input);
  const refusals = decideRefusals(input);
  const look = decideLook(input);
  const decided = { retry, refusedWrites, refusals, look };
  tellOfPatience(input, decided);
  return { ...decided, nearAtMs: findNear(input, decided) };
}

function decideRefusedWrites({
  context,
  subject,
  ledger,
  stored,
}: WaitsInput): readonly RetryEntry[] {
  const { options, random } = context.dependencies;
  const { nowMs, daemonSet } = subject;
  const refused = ledger.problems.filter(({ code }) => isRefusedWrite(code)).map(retryReasonOf);
  const generation = generationOf(daemonSet);
  return nextRefusedWrites(stored, refused, { nowMs, random, options, generation });
}

function decideRetry({ context, subject, ledger, stored }: WaitsInput): RetryEntry | undefined {
  const { options, random } = context.dependencies;
  const at = { nowMs: subject.nowMs, random, options };
  const problem = ledger.problems.find(
    ({ pace, code }) => pace === 'backoff' && !isRefusedWrite(code),
  );
  const { retry } = stored;
  if (problem !== undefined) {
    const reason = retryReasonOf(problem);
    // A hint that comes while it waits neither shortens nor lengthens the wait (L5).
    return isWaitingFor(retry, reason, subject.nowMs) ? retry : nextRetry(retry, reason, at);
  }
  return retry !== undefined && retry.holdsCreates && retry.notBeforeMs > subject.nowMs
    ? retry
    : undefined;
}

function isWaitingFor(
  retry: RetryEntry | undefined,
  { code, retryAfterMs = 0 }: RetryReason,
  nowMs: number,
): retry is RetryEntry {
  if (retry?.code !== code) return false;
  return retry.notBeforeMs > nowMs && retry.notBeforeMs >= nowMs + retryAfterMs;
}

function retryReasonOf({ code, holdsCreates = false, retryAfterMs }: Problem): RetryReason {
  return { code, holdsCreates, ...defined({ retryAfterMs }) };
}

function decideRefusals(input: WaitsInput): Refusals {
  const { context, subject, ledger, stored } = input;
  if (ledger.refused.length === 0 && (stored.refusals ?? []).length === 0) return [];
  const { options, random } = context.dependencies;
  return nextRefusals(
    stored,
    {
      generation: subject.daemonSet.metadata.generation ?? 0,
      refused: ledger.refused,
      clearedNodes: ledger.clearedNodes,
      lackingNodes: lackingNodesOf(input),
    },
    { nowMs: subject.nowMs, random, options },
  );
}

/**
 * Nodes that should have a pod and have none: only for these a refusal is still of interest. With surge the
 * pod is one of the current revision: an older one beside it says nothing about names.
 */
function lackingNodesOf({ subject, history }: WaitsInput): ReadonlySet<NodeName> {
  const { view } = subject;
  const hash = allowsSurge(view.daemonSet) ? history?.hash : undefined;
  const lacking = view.nodes.filter(
    ({ placement, pods }) =>
      placement === 'run' &&
      pods.every(
        (pod) => pod.isTerminating || (hash !== undefined && revisionHashOfPod(pod) !== hash),
      ),
  );
  return new Set(lacking.map(({ node }) => node.name));
}

/**
 * The look at what is about to change by itself, if there is such a thing. Touched pods are looked at in a
 * moment; what a run left undone without getting anywhere waits longer each time (L5).
 */
function decideLook(input: WaitsInput): LookEntry | undefined {
  const { context, subject, ledger, plan, stored, intents } = input;
  const { nowMs } = subject;
  const { deferralLookMs, retryMaxMs } = context.dependencies.options;
  const { hasEffects, isStatusWritten, isStatusPostponed, problems } = ledger;
  const soon = problems.find(({ pace }) => pace === 'soon')?.code;
  // An own pod that lives and is never shown is waited for, as any other own write (protocol 11).
  const isUnseen = isStatusPostponed || intents.unseen.length > 0;
  const isOpen = hasEffects || isUnseen || plan.cappedCount > 0;
  const code = soon ?? (isUnseen ? 'own-writes-unseen' : 'capped');
  if (soon === undefined && !isOpen) return undefined;
  return nextLook(stored.look, {
    code,
    nowMs,
    hasProgressed: hasEffects || isStatusWritten,
    firstMs: soon === undefined ? LOOK_AFTER_EFFECTS_MS : deferralLookMs,
    longestMs: retryMaxMs,
  });
}

/** What waits as long as anything may is not going to succeed by itself: somebody has to know. */
function tellOfPatience(
  { context, ledger, stored }: WaitsInput,
  { retry, refusedWrites, look }: Omit<Waits, 'nearAtMs'>,
): void {
  const { log, metrics, options } = context.dependencies;
  const known = new Set([stored.retry, stored.look, ...(stored.refusedWrites ?? [])]);
  for (const wait of [retry, look, ...refusedWrites]) {
    if (wait === undefined || wait.delayMs < options.retryMaxMs || known.has(wait)) continue;
    metrics.count('ReconcileStuck', { outcome: wait.code });
    const detail = ledger.problems.find(({ code }) => code === wait.code)?.message;
    log.warn('a key is tried ever more seldom: it does not get any further by itself', {
      key: formatKey(context.hint.key),
      code: wait.code,
      ...(detail === undefined ? {} : { detail }),
    });
  }
}

/** The pause that stands after a run: found by it, or not over. */
export function pausedAfter({
  context,
  subject,
  stored,
}: Pick<WaitsInput, 'context' | 'subject' | 'stored'>): StatusPause | undefined {
  const { registration } = subject.basis;
  const isHeld = guardOfPause(stored.paused, registration, subject.nowMs) !== undefined;
  return context.note.paused ?? (isHeld ? stored.paused : undefined);
}

/** The earliest need to look, if time or this run gives one. */
function findNear(input: WaitsInput, decided: Omit<Waits, 'nearAtMs'>): number | undefined {
  const { subject, plan, ledger } = input;
  const isOpen = new Set<string>(ledger.problems.map(({ code }) => code));
  const moments = [
    plan.dueAtMs,
    pausedAfter(input)?.untilMs,
    decided.retry?.notBeforeMs,
    decided.look?.atMs,
    ...decided.refusedWrites
      .filter(({ code }) => isOpen.has(code))
      .map(({ notBeforeMs }) => notBeforeMs),
    // One that expired was tried again in this run, or waits for something else that has its time.
    ...decided.refusals
      .map(({ notBeforeMs }) => notBeforeMs)
      .filter((atMs) => atMs > subject.nowMs),
  ].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : Math.min(...moments);
}
