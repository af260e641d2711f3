/** Writes a run's events at its end: condensed, best effort, never failing the run (design 3). */
import type { CreateEventEffect } from '../../core/model/effects.ts';
import type { DaemonSetObject } from '../../core/model/kubernetes.ts';
import type { PlannedEvent } from '../../core/model/plan.ts';
import { buildEvent, condenseEvents } from '../../core/events.ts';
import type { ClusterAccess } from '../../ports/cluster-access.ts';
import type { RunContext } from './context.ts';

/** Sends the events; failures are counted and forgotten. */
export async function writeEvents(
  events: readonly PlannedEvent[],
  input: {
    readonly context: RunContext;
    readonly daemonSet: DaemonSetObject;
    readonly access: ClusterAccess;
  },
): Promise<void> {
  if (events.length === 0) return;
  const { context, daemonSet, access } = input;
  const { clock, random, metrics } = context.dependencies;
  const effects = condenseEvents(events).map((event): CreateEventEffect => {
    const built = buildEvent({
      daemonSet,
      event,
      nowMs: clock.nowMs(),
      uniqueId: random.uniqueId(),
    });
    return { kind: 'create-event', namespace: context.hint.key.namespace, ...built };
  });
  const outcomes = await access.execute(effects, { deadlineMs: context.run.deadlineMs });
  const lost = outcomes.filter(({ kind }) => kind !== 'done').length;
  if (lost > 0) metrics.count('ReconcileEventsLost', { by: lost });
}
