/**
 * Puts decisions of fleets on an event bus, each as a CloudEvent; what was not taken is put again, a few times, under the same id.
 *
 * Then it is given up: logged and counted. Whoever has to know for certain reads `rollcall fleet history`. A decision is asked for twice,
 * since who made it may have died before it told; a process that knows that the bus took it does not put it again.
 */
import { fleetEvent } from '../../../core/fleet/told/fleet-event.ts';
import type { FleetDecision } from '../../../core/fleet/rollout/fleet-decision.ts';
import type { BusEntry, EventBus, PutOutcome } from '../../../ports/event-bus.ts';
import type { ProcessPorts } from '../../../ports/process.ts';
import { remember } from './mirror-memory.ts';
import type { MirrorMemory } from './mirror-memory.ts';

/** Where decisions are put. */
export interface BusOptions {
  readonly bus: EventBus;
  /** `rollcall-<stage>`: of which stack an event is. */
  readonly stackName: string;
  /** Of the warm process. */
  readonly memory: Pick<MirrorMemory, 'told'>;
}

/** How often an event is put, and the first pause between; it doubles. */
export const PUTS_MAX = 3;
const FIRST_PAUSE_MS = 200;

interface Entry {
  readonly id: string;
  readonly entry: BusEntry;
}

interface Open extends Entry {
  readonly outcome: PutOutcome;
}

/** Tells the bus. Rejects never but for a bug. */
export async function tellBus(
  decisions: readonly FleetDecision[],
  { bus, stackName, memory: { told } }: BusOptions,
  { clock, log, metrics }: Pick<ProcessPorts, 'clock' | 'log' | 'metrics'>,
): Promise<void> {
  let entries: readonly Entry[] = decisions
    .filter(({ id }) => !told.has(id))
    .map((decision) => {
      const { type, atMs, event } = fleetEvent(decision, stackName);
      return { id: decision.id, entry: { type, atMs, detail: JSON.stringify(event) } };
    });
  const lost: PutOutcome[] = [];
  for (let put = 1; entries.length > 0; put += 1) {
    const outcomes = await bus.put(entries.map(({ entry }) => entry));
    const answered = entries.map(({ id, entry }, index): Open => {
      const outcome = outcomes[index] ?? { kind: 'retry', code: 'no-answer' };
      return { id, entry, outcome };
    });
    const taken = answered.filter(({ outcome }) => outcome.kind === 'put');
    for (const { id } of taken) remember(told, id, true);
    if (taken.length > 0) metrics.count('FleetEvents', { outcome: 'put', by: taken.length });
    const open = answered.filter(({ outcome }) => outcome.kind !== 'put');
    const isLast = put === PUTS_MAX;
    const isGivenUp = ({ outcome }: Open): boolean => isLast || outcome.kind === 'refused';
    lost.push(...open.filter(isGivenUp).map(({ outcome }) => outcome));
    entries = open.filter((one) => !isGivenUp(one));
    if (entries.length > 0) await clock.sleep(FIRST_PAUSE_MS * 2 ** (put - 1));
  }
  if (lost.length === 0) return;
  metrics.count('FleetEvents', { outcome: 'lost', by: lost.length });
  const [first] = lost;
  const code = first === undefined || first.kind === 'put' ? '' : first.code;
  log.warn('decisions of fleets could not be told', { events: lost.length, code });
}
