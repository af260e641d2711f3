/**
 * A DaemonSet whose selector is exactly empty: one warning event, nothing else (spec 2.3 step 4).
 *
 * The API server's validation refuses such objects, so this is a last defence. A memo keeps the
 * warning from being repeated by every hint.
 */
import type { DaemonSetObject } from '../../core/model/kubernetes.ts';
import { selectingAllEvent } from '../../core/events.ts';
import type { RunContext, Subject } from './context.ts';
import { guardOfRegistration } from './guard.ts';
import { writeState } from './record-state.ts';
import type { ReconcileResult } from './result.ts';
import { memoOf } from './skip.ts';
import { correlateRun, writeEvents } from './write-events.ts';

/** Warns once per version of the DaemonSet. */
export async function refuseSelectingAll(
  daemonSet: DaemonSetObject,
  found: Omit<Subject, 'read' | 'daemonSet'> & { readonly context: RunContext },
): Promise<ReconcileResult> {
  const { context, basis, state, nowMs } = found;
  const event = selectingAllEvent();
  const mayAct = guardOfRegistration(basis.registration).kind === 'act';
  const access = mayAct ? await found.access.get() : undefined;
  const told = correlateRun([event], { context, tallies: state.events });
  if (access !== undefined) await writeEvents(told.writes, { context, daemonSet, access });
  const { release } = context.dependencies.options;
  const memo = memoOf(basis, { release, nowMs });
  const events = access === undefined ? {} : { events: told.tallies };
  await writeState({ ...state, ...events, memo }, { context, subject: found });
  return { kind: 'refused', reason: 'selecting-all', message: event.message };
}
