/**
 * A DaemonSet whose selector is exactly empty: one warning event, nothing else (spec 2.3 step 4).
 *
 * The API server's validation refuses such objects, so this is a last defence. A memo keeps the
 * warning from being repeated by every hint.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { selectingAllEvent } from '../../../core/events/events.ts';
import type { EndContext } from '../run/context.ts';
import type { FoundSubject } from '../run/exit.ts';
import { guardOfRegistration } from '../live/guard.ts';
import { stateWriterOf, writeState } from '../run/record-state.ts';
import type { ReconcileResult } from '../run/result.ts';
import { memoOf } from '../read/skip.ts';
import { correlateRun, writeEvents } from './write-events.ts';

/** Warns once per version of the DaemonSet. */
export async function refuseSelectingAll(
  daemonSet: DaemonSetObject,
  found: { readonly context: EndContext; readonly subject: FoundSubject },
): Promise<ReconcileResult> {
  const { context, subject } = found;
  const { basis, state, nowMs } = subject;
  const event = selectingAllEvent();
  const mayAct = guardOfRegistration(basis.registration).kind === 'act';
  const access = mayAct ? await subject.access.get() : undefined;
  const told = correlateRun([event], { context, tallies: state.events });
  if (access !== undefined) await writeEvents(told.writes, { context, daemonSet, access });
  const { release } = context.dependencies.options;
  const memo = memoOf(basis, { release, nowMs });
  const events = access === undefined ? {} : { events: told.tallies };
  const change = { from: state, to: { ...state, ...events, memo } };
  await writeState(change, basis.ref, stateWriterOf(context));
  return { kind: 'refused', reason: 'selecting-all', message: event.message };
}
