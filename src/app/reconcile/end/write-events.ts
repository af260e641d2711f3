/**
 * Tells a run's events: correlated with what was told before, best effort, never failing the run.
 *
 * `correlateRun` decides, and its tallies go into the state with whatever else the run records;
 * `writeEvents` sends, beside or after that. An Event whose count should rise and that has expired is
 * made anew under its name. Lost answers and refusals are counted and forgotten (spec 2.8).
 */
import type { Effect } from '../../../core/model/effects.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { PlannedEvent } from '../../../core/model/plan.ts';
import type { EventTally } from '../../../core/model/state.ts';
import { correlateEvents } from '../../../core/events/event-correlation.ts';
import type { Correlation, EventWrite } from '../../../core/events/event-correlation.ts';
import { buildEvent, buildEventPatch, eventBaseName } from '../../../core/events/events.ts';
import type { EventComponent } from '../../../core/events/events.ts';
import type { ClusterMode } from '../../../core/model/registration.ts';
import type { ClusterAccess } from '../../../ports/cluster/cluster-access.ts';
import type { RunContext } from '../run/context.ts';

/** Decides which Events are written, and what is to be remembered of them. */
export function correlateRun(
  events: readonly PlannedEvent[],
  told: { readonly context: RunContext; readonly tallies: readonly EventTally[] | undefined },
): Correlation {
  const { context, tallies = [] } = told;
  if (events.length === 0) return { writes: [], tallies };
  const { clock, random } = context.dependencies;
  const baseName = eventBaseName(context.hint.key.name, random.uniqueId());
  return correlateEvents({ tallies, events, nowMs: clock.nowMs(), baseName });
}

/** Who tells: beside the built-in controller not under its name. */
export function componentIn(mode: ClusterMode): EventComponent {
  return mode === 'copilot' ? 'rollcall' : 'daemonset-controller';
}

/** Sends the writes; failures are counted and forgotten. Never rejects. */
export async function writeEvents(
  writes: readonly EventWrite[],
  input: {
    readonly context: RunContext;
    readonly daemonSet: DaemonSetObject;
    readonly access: ClusterAccess;
    readonly component: EventComponent;
  },
): Promise<void> {
  if (writes.length === 0) return;
  const { context, daemonSet, access, component } = input;
  const { namespace } = context.hint.key;
  const create = (write: EventWrite): Effect => ({
    kind: 'create-event',
    namespace,
    name: write.name,
    body: buildEvent(daemonSet, write, component),
  });
  const raise = (write: EventWrite): Effect => ({
    kind: 'patch-event',
    namespace,
    name: write.name,
    body: buildEventPatch(write),
  });
  const limits = { deadlineMs: context.run.deadlineMs };
  const effects = writes.map((write) => (write.kind === 'create' ? create(write) : raise(write)));
  const outcomes = await access.execute(effects, limits);
  const expired = writes.filter(
    ({ kind }, index) => kind === 'raise' && outcomes[index]?.kind === 'gone',
  );
  const again = expired.length === 0 ? [] : await access.execute(expired.map(create), limits);
  const written = [...outcomes, ...again].filter(({ kind }) => kind === 'done').length;
  const lost = writes.length - written;
  if (lost > 0) context.dependencies.metrics.count('ReconcileEventsLost', { by: lost });
}
