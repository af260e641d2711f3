/**
 * Puts decisions of fleets on an event bus, each as a CloudEvent; what was not taken is put again, a few times, under the same id.
 *
 * Then it is given up: logged and counted. Whoever has to know for certain reads `rollcall fleet history`.
 */
import { fleetEvent } from '../../../core/fleet/told/fleet-event.ts';
import type { FleetDecision } from '../../../core/fleet/rollout/fleet-decision.ts';
import type { BusEntry, EventBus, PutOutcome } from '../../../ports/event-bus.ts';
import type { ProcessPorts } from '../../../ports/process.ts';

/** Where decisions are put. */
export interface BusOptions {
  readonly bus: EventBus;
  /** `rollcall-<stage>`: of which stack an event is. */
  readonly stackName: string;
}

/** How often an event is put, and the first pause between; it doubles. */
export const PUTS_MAX = 3;
const FIRST_PAUSE_MS = 200;

interface Open {
  readonly entry: BusEntry;
  readonly outcome: PutOutcome;
}

/** Tells the bus. Rejects never but for a bug. */
export async function tellBus(
  decisions: readonly FleetDecision[],
  { bus, stackName }: BusOptions,
  { clock, log, metrics }: Pick<ProcessPorts, 'clock' | 'log' | 'metrics'>,
): Promise<void> {
  let entries: readonly BusEntry[] = decisions.map((decision) => {
    const { type, atMs, event } = fleetEvent(decision, stackName);
    return { type, atMs, detail: JSON.stringify(event) };
  });
  const lost: PutOutcome[] = [];
  for (let put = 1; entries.length > 0; put += 1) {
    const outcomes = await bus.put(entries);
    const open = entries.flatMap((entry, index): readonly Open[] => {
      const outcome = outcomes[index] ?? { kind: 'retry', code: 'no-answer' };
      return outcome.kind === 'put' ? [] : [{ entry, outcome }];
    });
    if (open.length < entries.length) {
      metrics.count('FleetEvents', { outcome: 'put', by: entries.length - open.length });
    }
    const isLast = put === PUTS_MAX;
    const isGivenUp = ({ outcome }: Open): boolean => isLast || outcome.kind === 'refused';
    lost.push(...open.filter(isGivenUp).map(({ outcome }) => outcome));
    entries = open.filter((one) => !isGivenUp(one)).map(({ entry }) => entry);
    if (entries.length > 0) await clock.sleep(FIRST_PAUSE_MS * 2 ** (put - 1));
  }
  if (lost.length === 0) return;
  metrics.count('FleetEvents', { outcome: 'lost', by: lost.length });
  const [first] = lost;
  const code = first === undefined || first.kind === 'put' ? '' : first.code;
  log.warn('decisions of fleets could not be told', { events: lost.length, code });
}
