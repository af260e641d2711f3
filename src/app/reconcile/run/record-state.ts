/**
 * Compare-and-set writes of a key's state: intents before effects, outcomes after (protocol 4).
 *
 *   read v ── plan ── record intents (v → v+1) ── effects ── record outcomes (v+1 → v+2)
 *                        └─ lost: nothing was done, look again    └─ lost: merge own intents only
 *
 * The first write is the optimistic lock: its loser has done nothing yet (design 3, step 6). The
 * second must not be lost, so a loser re-reads and merges what concerns its own intents and versions,
 * never the memo or a due time.
 */
import { defined } from '@rollcall/base/defined.ts';
import { addRun } from '../../../core/cost/counted.ts';
import { findStateBreach, type StateChange } from '../../../core/plan/invariants.ts';
import type { RemovalAuthor } from '../../../core/removal-guard/removal-author.ts';
import { noteWritten, isResolvedByTime } from '../../../core/intents/intents.ts';
import { mergeIntents } from '../../../core/intents/merge-intents.ts';
import { emptyState, type DaemonSetState, type Intent } from '../../../core/model/state.ts';
import type { Plan } from '../../../core/model/plan.ts';
import { boundState, halvedState, type BoundState } from '../../../core/plan/bound-state.ts';
import { isItemTooLarge } from '../../../ports/stores/view-store.ts';
import type { DaemonSetRef, StateStore } from '../../../ports/stores/view-store.ts';
import { formatKey } from '../../../core/model/identifiers.ts';
import type { StoredInputs } from '../read/stored-inputs.ts';
import type { EndContext, StateWrite, ReconcileInput } from './context.ts';
import type { RunResult } from './result.ts';
import { tombstonesOfAnswered, keepTombstones, uidsAmong } from '../../../core/pod/tombstones.ts';
import { withEntries, withoutLog } from '../../../core/log/append-log.ts';
import { settledEntries } from '../../../core/log/effect-entries.ts';
import { transitionEntries } from '../../../core/log/transition-entries.ts';

/** Attempts at merging before the run is given up as a lost dependency. */
const MERGES_MAX = 8;

/** What a state is written with. */
type StateContext = Pick<EndContext, 'dependencies' | 'assertions' | 'note' | 'hint'>;

/** Writes a state; the answer holds the version that it has now. For the end of a run, and `recordIntents`. */
export async function writeState(
  change: StateChange,
  ref: DaemonSetRef,
  { dependencies, assertions, note, hint }: StateContext,
): Promise<StateWrite> {
  const breach = findStateBreach(change);
  if (breach !== undefined) {
    assertions.report(breach);
    return { kind: 'stopped', breach };
  }
  const { view, clock, log } = dependencies;
  const told = transitionEntries(change.from, change.to, clock.nowMs());
  const { days, noteWritten: noteCounted } = countRun(change.to, { dependencies, note });
  const whole = withEntries({ ...change.to, ...defined({ paused: note.paused, days }) }, told);
  const bound = await writeFitting(ref, boundState(whole), view);
  if (bound === undefined) return { kind: 'lost' };
  noteCounted();
  const { state, leftOut } = bound;
  if (leftOut > 0) {
    const fields = { key: formatKey(hint.key), leftOut };
    log.warn('a state does not hold the waits of all nodes', fields);
  }
  return { kind: 'written', state: { ...state, version: state.version + 1 } };
}

/** The run makes or deletes pods. */
export function noteAct({ note }: Pick<EndContext, 'note'>): void {
  if (note.counted !== undefined) note.counted = { ...note.counted, kind: 'act' };
}

/** Counts of the state with this write's part of its run in them (ADR 0082), and what is noted once it is written. */
function countRun(
  { days }: Pick<DaemonSetState, 'days'>,
  { dependencies: { clock }, note }: Pick<EndContext, 'dependencies' | 'note'>,
): Pick<DaemonSetState, 'days'> & { readonly noteWritten: () => void } {
  const { counted } = note;
  if (counted === undefined) return { ...defined({ days }), noteWritten: () => undefined };
  const toMs = clock.monotonicMs();
  const { kind, next: part } = counted;
  const run = { atMs: clock.nowMs(), kind, part, durationMs: toMs - counted.toMs };
  return {
    days: addRun(days, run),
    noteWritten: () => {
      note.counted = { toMs, kind, next: 'further' };
    },
  };
}

/** Writes it, with half of its waits where it is too large for its item, and so on; undefined: another run was first. */
async function writeFitting(
  ref: DaemonSetRef,
  { state, leftOut }: BoundState,
  view: Pick<StateStore, 'writeState'>,
): Promise<BoundState | undefined> {
  try {
    return (await view.writeState(ref, state)) === 'lost' ? undefined : { state, leftOut };
  } catch (error) {
    // What is told to people is the first to go.
    const short = isItemTooLarge(error) ? withoutLog(state) : undefined;
    if (short !== undefined) return writeFitting(ref, { state: short, leftOut }, view);
    const halved = isItemTooLarge(error) ? halvedState(state) : undefined;
    if (halved === undefined) throw error;
    return writeFitting(ref, { ...halved, leftOut: leftOut + halved.leftOut }, view);
  }
}

/** Marks of own writes raised by what this run's writes returned. */
export function raiseWritten(
  state: DaemonSetState,
  result: RunResult,
  era: number,
): DaemonSetState['written'] {
  let { written } = state;
  for (const type of ['pods', 'daemonSet'] as const) {
    const version = result.written[type];
    if (version !== undefined) {
      written = noteWritten(written, { era, type, resourceVersion: version });
    }
  }
  return written;
}

/**
 * Merges a run's outcomes into whatever state is stored now. Needed only when the final write was
 * lost; writes nothing if the run has nothing of its own to tell.
 */
export async function mergeOutcomes(
  result: RunResult,
  { ref, meta }: Pick<StoredInputs, 'ref' | 'meta'>,
  context: StateContext,
): Promise<void> {
  const hasOwn =
    result.recorded.length + result.sent.length > 0 || result.hasEffects || result.isStatusWritten;
  if (!hasOwn) return;
  const { view, clock } = context.dependencies;
  for (let attempt = 0; attempt < MERGES_MAX; attempt += 1) {
    const recorded = await view.readState(ref);
    const base = recorded ?? emptyState(clock.nowMs());
    // An item that was lost meanwhile gets this run's intents back, open ones above all.
    const record = recorded === undefined ? { record: result.recorded } : {};
    const { answers, settled: settle } = result;
    const entries = settledEntries(result.logged, result.sent);
    const merged: DaemonSetState = {
      ...withEntries(base, entries),
      intents: mergeIntents(base.intents, { ...record, answers, settle }),
      written: raiseWritten(base, result, meta.era),
    };
    const change = { from: base, to: merged, settled: result.settled };
    const write = await writeState(change, ref, context);
    // Stopped: the intents stay as they were recorded, and time resolves them (protocol 5).
    if (write.kind !== 'lost') return;
  }
  throw new Error(`outcomes of ${ref.uid} could not be recorded: the state never stood still`);
}

/**
 * What a state keeps of pods that are gone and that no view ever showed, after these intents were settled (S13, ADR
 * 0030). An answered create is settled once its pod is seen, or once the view has been read past it: then this state
 * alone knows that the pod's name was used, and keeps it by the very write that settles the intent. Each is kept until
 * ten minutes have passed by the clock of the run and by that of the view's messages: either may be wrong (row 13).
 */
export function buriedAfter(
  recorded: Pick<DaemonSetState, 'buried'>,
  settled: readonly Intent[],
  { read, shown, nowMs, stored }: Pick<ReconcileInput, 'read' | 'shown' | 'nowMs' | 'stored'>,
): Pick<DaemonSetState, 'buried'> {
  const { lastSentAtMs: toldAtMs } = stored.meta;
  const all = [...(recorded.buried ?? []), ...tombstonesOfAnswered(settled, nowMs)].map((each) => ({
    toldAtMs,
    ...each,
  }));
  if (all.length === 0) return {};
  const known = uidsAmong(all, shown, read.gone);
  const buried = keepTombstones(all, { nowMs, toldAtMs, isLiving: (uid) => known.has(uid) });
  return buried.length === 0 ? {} : { buried };
}

/** What a state knows of mass removals after a plan; a run that may not judge them leaves it as it is (ADR 0057). */
export function removalAfter(
  { shrink }: Pick<DaemonSetState, 'shrink'>,
  plan: Pick<Plan, 'shrink'>,
  author?: RemovalAuthor,
): Pick<DaemonSetState, 'shrink'> {
  const after = plan.shrink?.record ?? shrink;
  if (after?.held === undefined || author === undefined) return defined({ shrink: after });
  return { shrink: { ...after, held: { ...after.held, author } } };
}

/**
 * The state after a run that settled these intents; `foreignListed`: what this very run listed (protocol 9). A list
 * counts no more once a create was resolved by time alone: what its request made at its last moment has a name that
 * the next one need not meet. Nor does one after which the store looks restored (null): that brings pods back. The next
 * creates list again, until a list finds no pod that the view does not know (S1).
 */
export function withListed(
  state: DaemonSetState,
  { foreignListed }: { readonly foreignListed?: DaemonSetState['foreignListed'] | null },
  settled: readonly Intent[],
): DaemonSetState {
  if (foreignListed) return { ...state, foreignListed };
  const isKept = foreignListed === undefined && !settled.some(isResolvedByTime);
  if (isKept || state.foreignListed === undefined) return state;
  const { foreignListed: _void, ...rest } = state;
  return rest;
}
