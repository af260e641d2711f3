/**
 * Steps 1 and 2 of a reconcile: read, skip if the last complete run saw exactly this, and digest.
 *
 * While `ingest` is at work on what is being read, everything is read again, at most three times;
 * then a timer looks later (protocol 2). What cannot be decided on ends the run here, with a reason.
 */
import { isOpen } from '../../core/breaker.ts';
import { rebaseState } from '../../core/intents.ts';
import type { DaemonSetObject } from '../../core/model/kubernetes.ts';
import type { PodProjection } from '../../core/model/projections.ts';
import { emptyState } from '../../core/model/state.ts';
import { LazyAccess, keyOf } from './context.ts';
import type { RunContext, Subject } from './context.ts';
import { backOffRun, breakerWaitOf, deferRun, deferUnrecorded, waitForBreaker } from './defer.ts';
import { endUnavailable } from './end-unavailable.ts';
import { digestDaemonSet } from './digest-daemon-set.ts';
import type { Digest } from './digest-daemon-set.ts';
import { readBasis } from './read-basis.ts';
import type { Basis } from './read-basis.ts';
import { readView } from './read-view.ts';
import type { ReconcileResult } from './result.ts';
import { resolveOpaque } from './resolve-opaque.ts';
import { isAboutSentinel, lookAtSentinel } from './rival-sentinel.ts';
import { keepLook } from './schedule.ts';
import { refuseSelectingAll } from './selecting-all.ts';
import { decideSkip } from './skip.ts';
import { isTorn } from './torn-view.ts';
import type { StampAhead } from './torn-view.ts';
import { withoutWaitsAhead } from './waits-ahead.ts';

/** Reads in all: the first, and three re-reads (protocol 2). */
const READS_MAX = 4;
/** A view whose slice is missing waits for a snapshot; this is only the backstop. */
const INCOMPLETE_LOOK_MS = 60_000;
const REGISTRY_LOOK_MS = 15_000;
/** `createdAtMs` of a state that cannot have been lost, because nothing was done before. */
const NOTHING_TO_LOSE = 0;

/** A subject to be decided on, or the end of the run. */
export type Opening =
  | { readonly kind: 'opened'; readonly subject: Subject }
  | { readonly kind: 'ended'; readonly result: ReconcileResult };

/** Opens the subject of a run. */
export async function openSubject(context: RunContext): Promise<Opening> {
  let opening = await tryOpening(context);
  for (let read = 1; read < READS_MAX && opening.kind === 'moving'; read += 1) {
    opening = await tryOpening(context);
  }
  return opening.kind === 'moving' ? endMoving(opening, context) : opening;
}

/** A view that does not hold still, with what was ahead in it when it was read last. */
interface Moving {
  readonly kind: 'moving';
  readonly ahead?: StampAhead;
  readonly found: Omit<Subject, 'read'>;
}

async function tryOpening(context: RunContext): Promise<Opening | Moving> {
  const { dependencies } = context;
  const read = await readBasis(context.hint, dependencies);
  if (read.kind !== 'read') return endWithoutBasis(read, context);
  const { basis } = read;
  context.note.epoch = basis.meta.epoch;
  context.note.seq = basis.meta.seq;
  const nowMs = dependencies.clock.nowMs();
  const early = await endEarly({ basis, nowMs }, context);
  if (early !== undefined) return ended(early);
  const access = new LazyAccess({ connector: dependencies.connector, gate: context.gate, basis });
  const digest = await digestDaemonSet(basis, keyOf(context), () => access.get());
  const stored = rebaseState(basis.state ?? emptyState(nowMs), basis.meta.era, nowMs);
  const state = withoutWaitsAhead(stored, nowMs);
  if (digest.kind !== 'usable') {
    return ended(await endUndigested(digest, { context, basis, state, access, nowMs }));
  }
  const { daemonSet } = digest;
  const view = await readView(basis, dependencies);
  const found = { basis, daemonSet, state, access, nowMs };
  if (view.kind === 'moving') return { ...view, found };
  if (view.kind === 'incomplete') return endIncomplete(view.missing, { context, found });
  const reader = view.view.opaque.length === 0 ? undefined : await access.get();
  const resolved = await resolveOpaque(view.view, reader);
  if (resolved.kind === 'resolved') {
    const { read: resolvedRead } = resolved;
    const isFresh = basis.state === undefined && isUntouched(daemonSet, resolvedRead.pods);
    const known = isFresh ? { ...state, createdAtMs: NOTHING_TO_LOSE } : state;
    return { kind: 'opened', subject: { ...found, state: known, read: resolvedRead } };
  }
  const { message } = resolved;
  const reason = { code: 'cluster-unavailable' as const, message, holdsCreates: false };
  return ended(await backOffRun(reason, { context, subject: found }));
}

/** What is over after the small reads: the sentinel, a skip, a wait for the cluster's breaker. */
async function endEarly(
  at: { readonly basis: Basis; readonly nowMs: number },
  context: RunContext,
): Promise<ReconcileResult | undefined> {
  const { basis, nowMs } = at;
  if (isAboutSentinel(basis, context)) return lookAtSentinel(basis, context);
  if (await isSkipped(at, context)) return { kind: 'skipped' };
  const { state } = basis;
  if (state === undefined || !isOpen(basis.meta.breaker, nowMs)) return undefined;
  const wait = breakerWaitOf(state, nowMs);
  if (wait === undefined) return undefined;
  // Its timer is on its way, and nothing can be done before: a flood of hints costs small reads.
  const message = 'waiting for the API server to answer again';
  const subject = { basis, state, nowMs };
  return waitForBreaker({ message, untilMs: wait.notBeforeMs }, { context, subject });
}

/** Step 2. A due time that is near is sent once more (protocol 12). */
async function isSkipped(
  { basis, nowMs }: { readonly basis: Basis; readonly nowMs: number },
  context: RunContext,
): Promise<boolean> {
  const { release, memoLifeMs } = context.dependencies.options;
  const skip = decideSkip(basis, { release, nowMs, memoLifeMs });
  if (skip.kind === 'run') return false;
  const { resendDueAtMs } = skip;
  if (resendDueAtMs !== undefined) await keepLook(resendDueAtMs, context, nowMs);
  return true;
}

/**
 * No controller has ever finished a run on it, and it has no pods: a missing state item is then no
 * loss, and the caution of protocol 6 would only delay the first deletes and successors.
 */
function isUntouched(daemonSet: DaemonSetObject, pods: readonly PodProjection[]): boolean {
  return pods.length === 0 && (daemonSet.status?.observedGeneration ?? 0) === 0;
}

function ended(result: ReconcileResult): Opening {
  return { kind: 'ended', result };
}

async function endWithoutBasis(
  read: Exclude<Awaited<ReturnType<typeof readBasis>>, { kind: 'read' }>,
  context: RunContext,
): Promise<Opening> {
  switch (read.kind) {
    case 'absent':
      return ended({ kind: 'absent' });
    case 'unregistered': {
      const message = `cluster ${context.hint.key.cluster} is not registered`;
      return ended({ kind: 'refused', reason: 'unknown-cluster', message });
    }
    case 'registry-unreadable': {
      // Counts as frozen and writes nothing (protocol 13); why is for whoever must mend it (row 69).
      context.dependencies.log.warn(
        'the registry is unreadable',
        { code: 'registry-unreadable' },
        read.cause,
      );
      const message = 'the registry is unreadable, which counts as frozen';
      const delayMs = Math.round(REGISTRY_LOOK_MS * (1 + context.dependencies.random.next()));
      const deferral = { code: 'registry-unreadable' as const, message, delayMs };
      return ended(await deferUnrecorded(deferral, context));
    }
  }
}

async function endUndigested(
  digest: Exclude<Digest, { kind: 'usable' }>,
  found: Omit<Subject, 'read' | 'daemonSet'> & { readonly context: RunContext },
): Promise<ReconcileResult> {
  switch (digest.kind) {
    case 'gone':
      return { kind: 'absent' };
    case 'terminating':
      // Children are the garbage collector's business (spec 2.3 step 5).
      return { kind: 'terminating' };
    case 'malformed': {
      const { context, access } = found;
      // Nobody could look at it live: an outage does not make it malformed for good (protocol 22).
      const isUnseen = access.refusal !== undefined && access.refusal.kind !== 'no-credential';
      if (isUnseen) return endUnavailable(digest.problem, context, found);
      return { kind: 'refused', reason: 'malformed-daemon-set', message: digest.problem };
    }
    case 'selecting-all':
      return refuseSelectingAll(digest.daemonSet, found);
    case 'unavailable': {
      const { message } = digest;
      const reason = { code: 'cluster-unavailable' as const, message, holdsCreates: false };
      return backOffRun(reason, { context: found.context, subject: found });
    }
  }
}

/** It is looked at again soon; what no message will ever reach needs a snapshot instead (L1). */
async function endMoving({ ahead, found }: Moving, context: RunContext): Promise<Opening> {
  const { basis, nowMs } = found;
  const code = 'view-moving';
  if (ahead === undefined || !(await isTorn(ahead, basis, context.dependencies))) {
    const message = 'the view kept moving while it was read';
    return ended(await deferUnrecorded({ code, message, delayMs: 1_000 }, context));
  }
  const message = 'a part of the view is ahead of its position for good; waiting for a snapshot';
  if (!basis.meta.isComplete) return ended(await endAwaiting(message, nowMs));
  await askForSnapshot('ahead', found);
  return ended(await deferUnrecorded({ code, message, delayMs: INCOMPLETE_LOOK_MS }, context));
}

/** META calls itself whole, and a slice is missing (protocol 18). */
async function endIncomplete(
  missing: string,
  { context, found }: { readonly context: RunContext; readonly found: Omit<Subject, 'read'> },
): Promise<Opening> {
  const { meta } = found.basis;
  const message = `a slice of ${missing} is missing; waiting for a snapshot`;
  if (!meta.isComplete) return ended(await endAwaiting(message, found.nowMs));
  await askForSnapshot(`missing-${missing.replace('/', '-')}`, found);
  const read = { nodes: [], pods: [], gone: [], revisions: [], opaque: [] };
  const deferral = { code: 'view-incomplete' as const, message, delayMs: INCOMPLETE_LOOK_MS };
  return ended(await deferRun(deferral, { context, subject: { ...found, read } }));
}

/**
 * Idempotently: the id names the last snapshot. A watcher answers each id once, and the same may be the
 * matter after that again.
 */
async function askForSnapshot(why: string, found: Omit<Subject, 'read'>): Promise<void> {
  const { meta } = found.basis;
  const access = await found.access.get();
  const last = `${meta.era}-${meta.epoch}-${meta.announcedSeq ?? 0}`;
  await access?.requestSnapshot(`${why}-${last}-${meta.broken}`);
}

/** The manifest that completes the view hints every key (protocol 20): no timer is needed. */
export function endAwaiting(message: string, nowMs: number): Promise<ReconcileResult> {
  return Promise.resolve({
    kind: 'deferred',
    code: 'view-incomplete',
    message,
    nextLookAtMs: nowMs,
    counts: { creates: 0, deletes: 0, patches: 0, refused: 0, isStatusWritten: false },
  });
}
