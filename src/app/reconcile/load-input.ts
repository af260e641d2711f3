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
import { guessHash, storedHistory } from './history/history.ts';
import { rebaseState } from '../../core/intents/intents.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { PodProjection } from '../../core/model/projections.ts';
import { emptyState } from '../../core/model/state.ts';
import { LazyAccess, keyOf } from './run/context.ts';
import type { LoadedInput, ReconcileInput, RunContext, Waiting } from './run/context.ts';
import { remember } from './process/process-cache.ts';
import { breakerWaitOf, withoutWaitsAhead } from '../../core/retry/retry.ts';
import type { End, Exit, Over, PutOff } from './run/exit.ts';
import { judgeDaemonSet, type JudgedDaemonSet } from './read/judge-daemon-set.ts';
import { readStored } from './read/stored-inputs.ts';
import type { KnownKey, StoredInputs, StoredRead, SlicedInputs } from './read/stored-inputs.ts';
import { isBrokenForGood, readSlices, readView, resolveOpaque } from './read/read-view.ts';
import type { ViewRead } from './read/read-view.ts';
import { RETRY_TABLE } from '../../core/retry/retry-table.ts';
import { NO_COUNTS } from './run/result.ts';
import { isAboutSentinel, lookAtSentinel } from './confirm/rival.ts';
import { decideSkip, hasMoved, type MemoInputs } from './read/skip.ts';
import type { ReconcileOptions, StepDependencies } from './process/dependencies.ts';
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
  const judgement = await judgeInput(input, context);
  if (judgement.kind === 'unavailable') {
    return { kind: 'unavailable', message: judgement.message, input };
  }
  if (judgement.kind === 'defer') {
    const { guard } = judgement;
    if (guard.code === 'view-incomplete') return exitAwaiting(guard.message, input.nowMs);
    return { ...exitDeferred(judgement), input };
  }
  const daemonSet = judgement.isLive ? await refreshLive(input) : input.daemonSet;
  if (daemonSet === undefined) {
    return { kind: 'unavailable', message: 'the DaemonSet is unreadable', input };
  }
  return { kind: 'loaded', input: withView({ ...input, daemonSet }, judgement) };
}

/** The input with its view; history where it is known without a look. */
function withView(
  input: LoadedInput,
  { kind: _judged, pods, ...judged }: Extract<Judgement, { kind: 'judged' }>,
): ReconcileInput {
  const { daemonSet, read, nowMs } = input;
  const { nodes, revisions } = read;
  const gone = [...read.gone, ...tombstonesOfMissing(read.pods, pods, nowMs)];
  const view = computeView({ daemonSet, nodes, pods, gone, revisions, nowMs });
  const { entry, isSettled } = storedHistory(input);
  const isKnown = isSettled || judged.guard.kind !== 'act';
  const currentHash = (isKnown ? entry?.hash : undefined) ?? guessHash(daemonSet, revisions);
  const answers = isKnown ? { history: { entry, isSettled } } : {};
  const known = { view, currentHash, answers };
  return { ...input, ...judged, read: { ...read, pods }, shown: read.pods, ...known };
}

/** Put off, for a doubt about the view or for own writes. */
export function exitDeferred(
  doubt: Pick<Waiting, 'guard' | 'retryInMs'>,
): Extract<PutOff, { kind: 'deferral' }> {
  const { code: doubted, message } = doubt.guard;
  const code = DEFERRAL_CODES.find((each) => each === doubted) ?? 'cluster-unavailable';
  return { kind: 'deferral', deferral: { code, message, delayMs: doubt.retryInMs } };
}

const DEFERRAL_CODES = [
  'cluster-silent',
  'cut-open',
  'own-writes-unseen',
  'view-incomplete',
] as const;

/** With a capped deferral the live DaemonSet takes the place of the one that was read. */
async function refreshLive({
  access,
  daemonSet,
}: Pick<LoadedInput, 'access' | 'daemonSet'>): Promise<DaemonSetObject | undefined> {
  const reader = await access.get();
  if (reader === undefined) return undefined;
  const { namespace = '', name, uid } = daemonSet.metadata;
  const live = await reader.getDaemonSet({ namespace, name });
  return live.kind === 'found' && live.object.metadata.uid === uid ? live.object : undefined;
}

type Opening = { readonly kind: 'opened'; readonly input: LoadedInput } | Exit;

async function readInput(context: RunContext): Promise<Opening> {
  let opening = await tryOpening(context);
  for (let read = 1; read < READS_MAX && opening.kind === 'moving'; read += 1) {
    opening = await tryOpening(context);
  }
  return opening.kind === 'moving' ? exitMoving(opening, context.dependencies) : opening;
}

/** A view that does not hold still, with what was ahead in it when it was read last. */
interface Moving {
  readonly kind: 'moving';
  readonly ahead?: StampAhead;
  readonly input: ViewInput;
}

/** What has to be known to ask for a snapshot of a view. */
interface ViewInput extends Pick<LoadedInput, 'access' | 'nowMs'> {
  readonly stored: Pick<StoredInputs, 'meta' | 'ref'>;
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
  const access = new LazyAccess(context, stored);
  const found = { stored, state: stored.state ?? emptyState(nowMs), access, nowMs };
  const early = await exitEarly(stored, nowMs, context);
  if (early !== undefined) return { ...early, input: found };
  const judged = await judgeDaemonSet(stored, keyOf(context), () => access.get());
  const rebased = rebaseState(found.state, stored.meta.era, nowMs);
  const input = { ...found, state: withoutWaitsAhead(rebased, nowMs) };
  if (judged.kind !== 'usable') return { ...exitUnusable(judged, access.refusal), input };
  const { daemonSet } = judged;
  const view = await readView(stored, dependencies, viewing);
  if (view.kind === 'moving') return { ...view, input };
  if (view.kind === 'incomplete') return { ...(await exitIncomplete(view.missing, input)), input };
  const reader = view.view.opaque.length === 0 ? undefined : await access.get();
  const resolved = await resolveOpaque(view.view, reader);
  if (resolved.kind !== 'resolved') return { ...exitUnanswered(resolved.message), input };
  const { read } = resolved;
  const isFresh = stored.state === undefined && isUntouched(daemonSet, read.pods);
  const state = isFresh ? { ...input.state, createdAtMs: NOTHING_TO_LOSE } : input.state;
  return { kind: 'opened', input: { ...input, daemonSet, state, read } };
}

function notePosition(
  { meta }: Pick<StoredInputs, 'meta'>,
  { note }: Pick<RunContext, 'note'>,
): void {
  note.epoch = meta.epoch;
  note.seq = meta.seq;
}

/** What this process knows of a key that it read before. */
function knownKeyOf(context: RunContext): KnownKey<Over, ViewRead> | undefined {
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
  const endOf = (stored: MemoInputs): Over | undefined => {
    if (isAboutSentinel(stored.daemonSet, hint.key)) return undefined;
    notePosition(stored, context);
    return exitSkipped(stored, dependencies.clock.nowMs(), dependencies.options);
  };
  return { uid, endOf, begin };
}

/**
 * A look that this process can tell early to be void: most at a due time are, after a run that was complete, and so is
 * what wakes a key because the status comes back that was all it had to tell.
 */
function expectsNothingNew({
  hint,
  dependencies,
}: Pick<RunContext, 'hint' | 'dependencies'>): boolean {
  const isToldStatus = dependencies.cache.toldStatuses.delete(formatKey(hint.key));
  return isToldStatus || hint.reason === 'due';
}

/** The API server did not say what has to be known. */
function exitUnanswered(message: string): PutOff {
  return {
    kind: 'back-off',
    reason: { code: 'cluster-unavailable', message, holdsCreates: false },
  };
}

/** What is over after the small reads: the sentinel, a skip, a wait for the cluster's breaker. */
async function exitEarly(
  stored: MemoInputs,
  nowMs: number,
  { hint, dependencies }: Pick<RunContext, 'hint' | 'dependencies'>,
): Promise<End | undefined> {
  if (isAboutSentinel(stored.daemonSet, hint.key)) return lookAtSentinel(stored, dependencies);
  const skipped = exitSkipped(stored, nowMs, dependencies.options);
  if (skipped !== undefined) return skipped;
  const { state } = stored;
  if (state === undefined || !isOpen(stored.meta.breaker, nowMs)) return undefined;
  const wait = breakerWaitOf(state, nowMs);
  if (wait === undefined) return undefined;
  // Its timer is on its way, and nothing can be done before: a flood of hints costs small reads.
  const message = 'waiting for the API server to answer again';
  return { kind: 'breaker-wait', message, untilMs: wait.notBeforeMs };
}

/** Step 2. A due time that is near is sent once more (protocol 12). */
function exitSkipped(
  stored: MemoInputs,
  nowMs: number,
  { release, memoLifeMs }: ReconcileOptions,
): Over | undefined {
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

function exitUnread(
  read: Exclude<StoredRead, { kind: 'read' }>,
  { hint, dependencies }: Pick<RunContext, 'hint' | 'dependencies'>,
): Over {
  switch (read.kind) {
    case 'absent':
      return { kind: 'over', result: { kind: 'absent' } };
    case 'unregistered': {
      const message = `cluster ${hint.key.cluster} is not registered`;
      return { kind: 'over', result: { kind: 'refused', reason: 'unknown-cluster', message } };
    }
    case 'registry-unreadable': {
      // Counts as frozen and writes nothing (protocol 13); the log has the cause, for the operator (row 69).
      const { log, random } = dependencies;
      log.warn('the registry is unreadable', { code: 'registry-unreadable' }, read.cause);
      const message = 'the registry is unreadable, which counts as frozen';
      const delayMs = Math.round(REGISTRY_LOOK_MS * (1 + random.next()));
      return { kind: 'unrecorded', deferral: { code: 'registry-unreadable', message, delayMs } };
    }
  }
}

function exitUnusable(
  judged: Exclude<JudgedDaemonSet, { kind: 'usable' }>,
  refusal: LazyAccess['refusal'],
): End {
  switch (judged.kind) {
    case 'gone':
      return { kind: 'over', result: { kind: 'absent' } };
    case 'terminating':
      // Children are the garbage collector's business (spec 2.3 step 5).
      return { kind: 'over', result: { kind: 'terminating' } };
    case 'malformed': {
      const { problem: message } = judged;
      // No live read was possible: an outage must not make it malformed for good (protocol 22).
      const isUnseen = refusal !== undefined && refusal.kind !== 'no-credential';
      if (isUnseen) return { kind: 'unavailable', message };
      return { kind: 'over', result: { kind: 'refused', reason: 'malformed-daemon-set', message } };
    }
    case 'selecting-all':
      return { kind: 'selecting-all', daemonSet: judged.daemonSet };
    case 'unavailable':
      return exitUnanswered(judged.message);
  }
}

/** It is looked at again soon; what no message will ever reach needs a snapshot instead (L1). */
async function exitMoving(
  { ahead, input }: Moving,
  { view }: Pick<StepDependencies, 'view'>,
): Promise<Over> {
  const { stored, nowMs } = input;
  const code = 'view-moving';
  if (ahead === undefined || !(await isBrokenForGood(ahead, stored.ref, view))) {
    const message = 'the view kept moving while it was read';
    return { kind: 'unrecorded', deferral: { code, message, delayMs: 1_000 } };
  }
  const message = 'a part of the view is ahead of its position for good; waiting for a snapshot';
  if (!stored.meta.isComplete) return exitAwaiting(message, nowMs);
  await askForSnapshot('ahead', input);
  return { kind: 'unrecorded', deferral: { code, message, delayMs: INCOMPLETE_LOOK_MS } };
}

/** META calls itself whole, and a slice is missing (protocol 18). */
async function exitIncomplete(missing: string, input: ViewInput): Promise<End> {
  const { meta } = input.stored;
  const message = `a slice of ${missing} is missing; waiting for a snapshot`;
  if (!meta.isComplete) return exitAwaiting(message, input.nowMs);
  await askForSnapshot(`missing-${missing.replace('/', '-')}`, input);
  const deferral = { code: 'view-incomplete', message, delayMs: INCOMPLETE_LOOK_MS } as const;
  return { kind: 'deferral', deferral };
}

/**
 * Idempotently: the id names the last snapshot. A watcher answers each id once, and the same may be the
 * matter after that again.
 */
async function askForSnapshot(why: string, input: ViewInput): Promise<void> {
  const { meta } = input.stored;
  const access = await input.access.get();
  const last = `${meta.era}-${meta.epoch}-${meta.announcedSeq ?? 0}`;
  await access?.requestSnapshot(`${why}-${last}-${meta.broken}`);
}

/** The manifest that completes the view hints every key (protocol 20): no timer is needed. */
function exitAwaiting(message: string, nowMs: number): Over {
  const why = { code: 'view-incomplete', message, nextLookAtMs: nowMs } as const;
  return { kind: 'over', result: { kind: 'deferred', ...why, counts: NO_COUNTS } };
}
