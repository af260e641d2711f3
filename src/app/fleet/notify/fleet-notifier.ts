/**
 * Tells decisions of fleets to the log and to an event bus, and shows fleets in a mirror, the latter
 * two where configured (ADR 0066). What fails is logged and counted, and a rollout goes on. An event that is not taken
 * is put again a few times under the same id, then given up: `rollcall fleet history` knows for
 * certain.
 */
import type {
  FleetNotifier,
  BusEntry,
  EventBus,
  PutOutcome,
} from '../../../ports/fleet-notifier.ts';
import { MirrorShow, remember, type MirrorMemory, type MirrorOptions } from './mirror-show.ts';
import type { ProcessPorts } from '../../../ports/process.ts';
import { defined } from '@rollcall/base/defined.ts';
import { loggedText } from '../../../core/log/append-log.ts';
import type { FleetEntry } from '../../../core/model/log-entry.ts';
import type { LogStore } from '../../../ports/stores/view-store.ts';
import { fleetEvent } from '../../../core/fleet/told/fleet-facts.ts';
import type { FleetDecision } from '../../../core/fleet/rollout/fleet-decision.ts';

interface NotifierOptions {
  readonly process: Pick<ProcessPorts, 'clock' | 'log' | 'metrics'>;
  /** Absent: no bus. */
  readonly bus?: BusOptions;
  readonly logItems: LogItemOptions;
  /** Absent: no mirror, whatever the registry says. */
  readonly mirror?: MirrorOptions;
}

/** The configured notifiers. */
export function createFleetNotifier({
  process,
  logItems,
  bus,
  mirror,
}: NotifierOptions): FleetNotifier {
  const show = mirror && new MirrorShow(mirror, process);
  const guarded = async <Done>(
    what: string,
    work: Promise<Done> | undefined,
  ): Promise<Done | 'failed' | undefined> => {
    try {
      return await work;
    } catch (error) {
      // A table that does not answer, or a bug of ours: neither is the rollout's.
      process.metrics.count('FleetNotifierFailures', { outcome: what });
      process.log.error('the audience of fleets failed', { what }, error);
      return 'failed';
    }
  };
  return {
    tell: async (decisions) => {
      await guarded('log', logFleets(decisions, logItems));
      await guarded('tell', bus && tellBus(decisions, bus, process));
    },
    show: async (record) => {
      await guarded('show', show?.show(record));
    },
    hide: async (fleet) => {
      const done = await guarded('hide', show?.hide(fleet));
      return done === 'later' || done === 'failed' ? 'later' : 'hidden';
    },
  };
}

/** Where `rollcall log` finds decisions (ADR 0082). */
export interface LogItemOptions {
  readonly view: Pick<LogStore, 'putLogItem'>;
  /** Of the warm process: what has an item is not written again. */
  readonly memory: Pick<MirrorMemory, 'logged'>;
}

/** Each decision is an item under its id, so one that is told twice is written as it was. */
async function logFleets(
  decisions: readonly FleetDecision[],
  { view, memory: { logged } }: LogItemOptions,
): Promise<void> {
  for (const { id, kind, atMs, message, cluster, record } of decisions) {
    if (logged.has(id)) continue;
    const { namespace, name } = record;
    const text = loggedText(message);
    const entry: FleetEntry = {
      ...{ kind: 'fleet', atMs, decision: kind, message: text },
      ...defined({ cluster }),
    };
    await view.putLogItem(undefined, {
      ...{ subject: { kind: 'name', namespace, name }, entries: [entry] },
      ...{ atMs, token: id },
    });
    remember(logged, id, true);
  }
}

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

async function tellBus(
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
