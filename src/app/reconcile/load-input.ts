/**
 * Steps 1 and 2 of a reconcile: read, skip if the last complete run saw exactly this, and judge.
 *
 * While `ingest` is at work on what is being read, everything is read again, at most three times;
 * then a timer looks later (protocol 2). What cannot be decided on ends the run here, with a reason.
 */
import { isOpen } from '../../core/model/breaker.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import { tombstonesOfMissing } from '../../core/pod/tombstones.ts';
import { computeView } from '../../core/view/view.ts';
import { judgeInput, type Judgement } from './confirm/guard.ts';
import { storedHistory } from './history/find-history.ts';
import { guessHash } from './history/history.ts';
import { rebaseState } from '../../core/intents/intents.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { PodProjection } from '../../core/model/projections.ts';
import { emptyState } from '../../core/model/state.ts';
import { LazyAccess, keyOf } from './run/context.ts';
import type { LoadedInput, ReconcileInput, RunContext, Waiting } from './run/context.ts';
import { remember } from './process/process-cache.ts';
import { breakerWaitOf, withoutWaitsAhead } from '../../core/retry/retry.ts';
import type { Exit, FoundInput } from './run/exit.ts';
import { judgeDaemonSet, type JudgedDaemonSet } from './read/judge-daemon-set.ts';
import { readStored } from './read/stored-inputs.ts';
import type { KnownKey, StoredInputs, StoredRead, SlicedInputs } from './read/stored-inputs.ts';
import { isBrokenForGood, readSlices, readView, resolveOpaque } from './read/read-view.ts';
import type { ViewRead } from './read/read-view.ts';
import { RETRY_TABLE } from '../../core/retry/retry-table.ts';
import { NO_COUNTS } from './run/result.ts';
import {
  checkPause,
  checkSentinel,
  isAboutSentinel,
  lookAtSentinel,
} from './confirm/rival-checks.ts';
import { decideSkip, hasMoved } from './read/skip.ts';
import type { StampAhead } from './read/load-set.ts';

/** Reads in all: the first, and three re-reads (protocol 2). */
const READS_MAX = 4;
/** A view whose slice is missing waits for a snapshot; this is only the backstop. */
const INCOMPLETE_LOOK_MS = RETRY_TABLE['view-incomplete'].firstMs;
const REGISTRY_LOOK_MS = RETRY_TABLE['registry-unreadable'].firstMs;
/** `createdAtMs` of a state that cannot have been lost, because nothing was done before. */
const NOTHING_TO_LOSE = 0;

type Loading = { readonly kind: 'loaded'; readonly input: ReconcileInput } | Exit;

/** Builds the input of a run, once: what is stored, what was read live to judge it, and the view. */
export async function loadInput(context: RunContext): Promise<Loading> {
  const opening = await readInput(context);
  if (opening.kind !== 'opened') return opening;
  const { input } = opening;
  const judged = await judgeInput(input, context);
  const guarded = await checkSentinel(judged, input, context);
  const judgement = await checkPause(guarded, input, context);
  if (judgement.kind === 'unavailable') {
    return { kind: 'unavailable', message: judgement.message, input };
  }
  if (judgement.kind === 'defer') {
    const { guard } = judgement;
    if (guard.code === 'view-incomplete') return exitAwaiting(guard.message, input.nowMs);
    return exitDeferred(judgement, input);
  }
  const current = judgement.isLive ? await refreshLive(input) : input;
  if (current === undefined) {
    return { kind: 'unavailable', message: 'the DaemonSet is unreadable', input };
  }
  return { kind: 'loaded', input: withView(current, judgement) };
}

/** The input with its view; history where it is known without a look. */
function withView(
  loaded: LoadedInput,
  { kind: _judged, pods, ...judged }: Extract<Judgement, { kind: 'judged' }>,
): ReconcileInput {
  const { daemonSet, read, nowMs } = loaded;
  const { nodes, revisions } = read;
  const gone = [...read.gone, ...tombstonesOfMissing(read.pods, pods, nowMs)];
  const view = computeView({ daemonSet, nodes, pods, gone, revisions, nowMs });
  const { entry, isSettled } = storedHistory(loaded);
  const isKnown = isSettled || judged.guard.kind !== 'act';
  const currentHash = (isKnown ? entry?.hash : undefined) ?? guessHash(daemonSet, revisions);
  const answers = isKnown ? { history: { entry, isSettled } } : {};
  const input = { ...loaded, ...judged, read: { ...read, pods }, shown: read.pods, view };
  return { ...input, currentHash, answers };
}

/** Put off, for a doubt about the view or for own writes. */
export function exitDeferred(
  doubt: Pick<Waiting, 'guard' | 'retryInMs'>,
  input: LoadedInput,
): Extract<Exit, { kind: 'deferral' }> {
  const { code: doubted, message } = doubt.guard;
  const code = DEFERRAL_CODES.find((each) => each === doubted) ?? 'cluster-unavailable';
  return { kind: 'deferral', deferral: { code, message, delayMs: doubt.retryInMs }, input };
}

const DEFERRAL_CODES = [
  'cluster-silent',
  'cut-open',
  'own-writes-unseen',
  'view-incomplete',
] as const;

/** With a capped deferral the live DaemonSet takes the place of the one that was read. */
async function refreshLive(input: LoadedInput): Promise<LoadedInput | undefined> {
  const access = await input.access.get();
  if (access === undefined) return undefined;
  const { namespace = '', name } = input.daemonSet.metadata;
  const live = await access.getDaemonSet({ namespace, name });
  if (live.kind !== 'found' || live.object.metadata.uid !== input.stored.ref.uid) return undefined;
  return { ...input, daemonSet: live.object };
}

type Opening = { readonly kind: 'opened'; readonly input: LoadedInput } | Exit;

async function readInput(context: RunContext): Promise<Opening> {
  let opening = await tryOpening(context);
  for (let read = 1; read < READS_MAX && opening.kind === 'moving'; read += 1) {
    opening = await tryOpening(context);
  }
  return opening.kind === 'moving' ? exitMoving(opening, context) : opening;
}

/** A view that does not hold still, with what was ahead in it when it was read last. */
interface Moving {
  readonly kind: 'moving';
  readonly ahead?: StampAhead;
  readonly found: Omit<LoadedInput, 'read'>;
}

async function tryOpening(context: RunContext): Promise<Opening | Moving> {
  const { dependencies } = context;
  const read = await readStored(context.hint, dependencies, knownKeyOf(context));
  if (read.kind === 'nothing-new') return read.end;
  if (read.kind !== 'read') return exitUnread(read, context);
  try {
    return await openOn(read, context);
  } finally {
    // A run that ended before it needed them leaves no request behind (spec faults 30).
    await read.viewing?.catch(() => undefined);
  }
}

async function openOn(
  { stored, viewing }: Extract<StoredRead<ViewRead>, { readonly kind: 'read' }>,
  context: RunContext,
): Promise<Opening | Moving> {
  const { dependencies } = context;
  notePosition(stored, context);
  remember(dependencies.cache.uids, formatKey(context.hint.key), stored.ref.uid);
  const nowMs = dependencies.clock.nowMs();
  const early = await exitEarly({ stored, nowMs }, context);
  if (early !== undefined) return early;
  const access = new LazyAccess(context, stored);
  const judged = await judgeDaemonSet(stored, keyOf(context), () => access.get());
  const rebased = rebaseState(stored.state ?? emptyState(nowMs), stored.meta.era, nowMs);
  const state = withoutWaitsAhead(rebased, nowMs);
  if (judged.kind !== 'usable') return exitUnusable(judged, { stored, state, access, nowMs });
  const { daemonSet } = judged;
  const view = await readView(stored, dependencies, viewing);
  const found = { stored, daemonSet, state, access, nowMs };
  if (view.kind === 'moving') return { ...view, found };
  if (view.kind === 'incomplete') return exitIncomplete(view.missing, found);
  const reader = view.view.opaque.length === 0 ? undefined : await access.get();
  const resolved = await resolveOpaque(view.view, reader);
  if (resolved.kind === 'resolved') {
    const { read: resolvedRead } = resolved;
    const isFresh = stored.state === undefined && isUntouched(daemonSet, resolvedRead.pods);
    const known = isFresh ? { ...state, createdAtMs: NOTHING_TO_LOSE } : state;
    return { kind: 'opened', input: { ...found, state: known, read: resolvedRead } };
  }
  return exitUnanswered(resolved.message, found);
}

function notePosition({ meta }: StoredInputs, { note }: RunContext): void {
  note.epoch = meta.epoch;
  note.seq = meta.seq;
}

/** What this process knows of a key that it read before. */
function knownKeyOf(context: RunContext): KnownKey<Exit, ViewRead> | undefined {
  const { hint, dependencies } = context;
  const uid = dependencies.cache.uids.get(formatKey(hint.key));
  const isExpected = expectsNothingNew(context);
  if (uid === undefined) return undefined;
  const begin = (of: SlicedInputs): Promise<ViewRead> | undefined => {
    // Of a cluster whose breaker is open nothing is asked that may not be needed.
    const isCertain = hasMoved(of) && !isOpen(of.meta.breaker, dependencies.clock.nowMs());
    return isCertain ? readSlices(of, dependencies) : undefined;
  };
  if (!isExpected) return { uid, begin };
  const endOf = (stored: StoredInputs): Exit | undefined => {
    if (isAboutSentinel(stored, context)) return undefined;
    notePosition(stored, context);
    return exitSkipped({ stored, nowMs: dependencies.clock.nowMs() }, context);
  };
  return { uid, endOf, begin };
}

/**
 * A look that this process can tell early to be void: most at a due time are, after a run that was complete, and so is
 * what wakes a key because the status comes back that was all it had to tell.
 */
function expectsNothingNew({ hint, dependencies }: RunContext): boolean {
  const isToldStatus = dependencies.cache.toldStatuses.delete(formatKey(hint.key));
  return isToldStatus || hint.reason === 'due';
}

/** The API server did not say what has to be known. */
function exitUnanswered(message: string, input: FoundInput): Exit {
  const reason = { code: 'cluster-unavailable', message, holdsCreates: false } as const;
  return { kind: 'back-off', reason, input };
}

/** What is over after the small reads: the sentinel, a skip, a wait for the cluster's breaker. */
async function exitEarly(
  at: { readonly stored: StoredInputs; readonly nowMs: number },
  context: RunContext,
): Promise<Exit | undefined> {
  const { stored, nowMs } = at;
  if (isAboutSentinel(stored, context)) return lookAtSentinel(stored, context);
  const skipped = exitSkipped(at, context);
  if (skipped !== undefined) return skipped;
  const { state } = stored;
  if (state === undefined || !isOpen(stored.meta.breaker, nowMs)) return undefined;
  const wait = breakerWaitOf(state, nowMs);
  if (wait === undefined) return undefined;
  // Its timer is on its way, and nothing can be done before: a flood of hints costs small reads.
  const message = 'waiting for the API server to answer again';
  const input = { stored, state, nowMs };
  return { kind: 'breaker-wait', message, untilMs: wait.notBeforeMs, input };
}

/** Step 2. A due time that is near is sent once more (protocol 12). */
function exitSkipped(
  { stored, nowMs }: { readonly stored: StoredInputs; readonly nowMs: number },
  context: RunContext,
): Exit | undefined {
  const { release, memoLifeMs } = context.dependencies.options;
  const skip = decideSkip(stored, { release, nowMs, memoLifeMs });
  if (skip.kind === 'run') return undefined;
  return { kind: 'skipped', nowMs, resendDueAtMs: skip.resendDueAtMs };
}

/**
 * No controller has ever finished a run on it, and it has no pods: a missing state item is then no
 * loss, and the caution of protocol 6 would only delay the first deletes and successors.
 */
function isUntouched(daemonSet: DaemonSetObject, pods: readonly PodProjection[]): boolean {
  return pods.length === 0 && (daemonSet.status?.observedGeneration ?? 0) === 0;
}

function exitUnread(read: Exclude<StoredRead, { kind: 'read' }>, context: RunContext): Exit {
  switch (read.kind) {
    case 'absent':
      return { kind: 'over', result: { kind: 'absent' } };
    case 'unregistered': {
      const message = `cluster ${context.hint.key.cluster} is not registered`;
      return { kind: 'over', result: { kind: 'refused', reason: 'unknown-cluster', message } };
    }
    case 'registry-unreadable': {
      // Counts as frozen and writes nothing (protocol 13); the log has the cause, for the operator (row 69).
      context.dependencies.log.warn(
        'the registry is unreadable',
        { code: 'registry-unreadable' },
        read.cause,
      );
      const message = 'the registry is unreadable, which counts as frozen';
      const delayMs = Math.round(REGISTRY_LOOK_MS * (1 + context.dependencies.random.next()));
      return { kind: 'unrecorded', deferral: { code: 'registry-unreadable', message, delayMs } };
    }
  }
}

function exitUnusable(
  judged: Exclude<JudgedDaemonSet, { kind: 'usable' }>,
  input: FoundInput,
): Exit {
  switch (judged.kind) {
    case 'gone':
      return { kind: 'over', result: { kind: 'absent' } };
    case 'terminating':
      // Children are the garbage collector's business (spec 2.3 step 5).
      return { kind: 'over', result: { kind: 'terminating' } };
    case 'malformed': {
      const { refusal } = input.access;
      const { problem: message } = judged;
      // No live read was possible: an outage must not make it malformed for good (protocol 22).
      const isUnseen = refusal !== undefined && refusal.kind !== 'no-credential';
      if (isUnseen) return { kind: 'unavailable', message, input };
      return { kind: 'over', result: { kind: 'refused', reason: 'malformed-daemon-set', message } };
    }
    case 'selecting-all':
      return { kind: 'selecting-all', daemonSet: judged.daemonSet, input };
    case 'unavailable':
      return exitUnanswered(judged.message, input);
  }
}

/** It is looked at again soon; what no message will ever reach needs a snapshot instead (L1). */
async function exitMoving({ ahead, found }: Moving, context: RunContext): Promise<Exit> {
  const { stored, nowMs } = found;
  const code = 'view-moving';
  if (ahead === undefined || !(await isBrokenForGood(ahead, stored, context.dependencies))) {
    const message = 'the view kept moving while it was read';
    return { kind: 'unrecorded', deferral: { code, message, delayMs: 1_000 } };
  }
  const message = 'a part of the view is ahead of its position for good; waiting for a snapshot';
  if (!stored.meta.isComplete) return exitAwaiting(message, nowMs);
  await askForSnapshot('ahead', found);
  return { kind: 'unrecorded', deferral: { code, message, delayMs: INCOMPLETE_LOOK_MS } };
}

/** META calls itself whole, and a slice is missing (protocol 18). */
async function exitIncomplete(missing: string, found: Omit<LoadedInput, 'read'>): Promise<Exit> {
  const { meta } = found.stored;
  const message = `a slice of ${missing} is missing; waiting for a snapshot`;
  if (!meta.isComplete) return exitAwaiting(message, found.nowMs);
  await askForSnapshot(`missing-${missing.replace('/', '-')}`, found);
  const deferral = { code: 'view-incomplete', message, delayMs: INCOMPLETE_LOOK_MS } as const;
  return { kind: 'deferral', deferral, input: found };
}

/**
 * Idempotently: the id names the last snapshot. A watcher answers each id once, and the same may be the
 * matter after that again.
 */
async function askForSnapshot(why: string, found: Omit<LoadedInput, 'read'>): Promise<void> {
  const { meta } = found.stored;
  const access = await found.access.get();
  const last = `${meta.era}-${meta.epoch}-${meta.announcedSeq ?? 0}`;
  await access?.requestSnapshot(`${why}-${last}-${meta.broken}`);
}

/** The manifest that completes the view hints every key (protocol 20): no timer is needed. */
function exitAwaiting(message: string, nowMs: number): Exit {
  const why = { code: 'view-incomplete', message, nextLookAtMs: nowMs } as const;
  return { kind: 'over', result: { kind: 'deferred', ...why, counts: NO_COUNTS } };
}
