/**
 * The rollout of a fleet in words: the same in `rollcall fleet status`, the table of `npm start`, mirrors and events.
 *
 * Sentences hold absolute times (UTC), so that they change only when something else does. Nothing is decided here. Names and
 * messages are what clusters and operators said: whoever prints them takes control characters out.
 */
import { describeNote, timeText } from '../../rollout/describe-record.ts';
import type { RolloutPhase } from '../../rollout/gate.ts';
import { backAtOf } from '../rollout/way-back.ts';
import type {
  FleetBreachNote,
  FleetCounts,
  FleetGate,
  FleetRecord,
} from '../rollout/fleet-record.ts';

/** How it stands, in one word. Public; docs/cli.md lists them. */
export type FleetPhase = RolloutPhase | 'Frozen' | 'Invalid';

const PHASES: Readonly<Record<FleetGate['kind'], FleetPhase>> = {
  rolling: 'Progressing',
  soaking: 'Progressing',
  next: 'Progressing',
  approval: 'Waiting',
  window: 'Waiting',
  'no-evidence': 'Waiting',
  refused: 'Waiting',
  paused: 'Paused',
  breach: 'Halted',
  returning: 'Returning',
  returned: 'Returned',
  frozen: 'Frozen',
  invalid: 'Invalid',
  done: 'Done',
};

/** The phase of a record. */
export function fleetPhaseOf({ gate }: Pick<FleetRecord, 'gate'>): FleetPhase {
  return PHASES[gate.kind];
}

/** In one line: the stage, its clusters, the gate. */
export function summarizeFleet(record: FleetRecord): string {
  const words = describeFleetGate(record);
  const isAboutStage = record.stage >= 0 && record.stage < record.stages.length;
  if (!isAboutStage) return words;
  const where = `${describeStage(record)}, ${describeCounts(record.counts)}`;
  const { breach, gate, orders } = record;
  // Its phase says that it is halted, and a line that is cut says why.
  if (gate.kind === 'breach' && breach !== undefined) {
    return `${describeFleetBreach(breach)}; ${where}`;
  }
  const cause = orders.resumed?.breach?.cause;
  return `${where}: ${words}${cause === undefined ? '' : ` (${cause} overruled)`}`;
}

/** A breach, with its cause and its time. */
export function describeFleetBreach({ cause, atMs, message }: FleetBreachNote): string {
  return `${cause} at ${timeText(atMs)}: ${message}`;
}

/** The stage that is open. */
function describeStage({ stage, stages }: Pick<FleetRecord, 'stage' | 'stages'>): string {
  if (stage < 0) return 'no stage is open yet';
  const open = stages[stage];
  if (open === undefined) return 'all stages have passed';
  return `stage ${open.name} (${String(stage + 1)} of ${String(stages.length)})`;
}

/** Its clusters, the bad ones first; none is in two of these. */
function describeCounts(counts: FleetCounts): string {
  const parts = [
    [counts.failed, 'failed'],
    [counts.rolling, 'rolling'],
    [counts.well, 'well'],
    [counts.waiting, 'waiting'],
    [counts.offline, 'offline'],
    [counts.untouched, 'not touched'],
    [counts.returning, 'coming back'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return shown.length === 0 ? 'no clusters' : shown.join(', ');
}

/** What it waits for, as the end of a sentence. */
export function describeFleetGate(record: FleetRecord): string {
  const { gate } = record;
  if (gate.kind === 'frozen')
    return `frozen by ${gate.by}${gate.why === '' ? '' : `: ${gate.why}`}`;
  if (gate.kind === 'invalid') {
    return `held, because it cannot be used as it is written: ${gate.message}`;
  }
  if (isAnyOf(gate, PROGRESS)) return describeProgress(gate, record);
  return isAnyOf(gate, WAITS) ? describeWait(gate, record) : describeHold(gate.kind, record);
}

type Of<Kind> = Extract<FleetGate, { readonly kind: Kind }>;

/** What goes on by itself. */
const PROGRESS = ['rolling', 'soaking', 'next', 'done'] as const;
const WAITS = ['approval', 'no-evidence', 'window', 'refused'] as const;

function isAnyOf<Gate extends FleetGate, const Kind extends Gate['kind']>(
  gate: Gate,
  kinds: readonly Kind[],
): gate is Extract<Gate, { readonly kind: Kind }> {
  return (kinds as readonly FleetGate['kind'][]).includes(gate.kind);
}

function describeProgress(gate: Of<(typeof PROGRESS)[number]>, { release }: FleetRecord): string {
  switch (gate.kind) {
    case 'rolling':
      return 'its clusters are updating';
    case 'soaking':
      return `soaks until ${timeText(gate.untilMs)}`;
    case 'next':
      return 'goes on with the next look, within a minute';
    case 'done':
      return `generation ${String(release.generation)} is rolled out`;
  }
}

function describeWait(gate: Of<(typeof WAITS)[number]>, record: FleetRecord): string {
  switch (gate.kind) {
    case 'approval':
      return `waits for approval ${describeGateIndex(gate.gate, record)}`;
    case 'no-evidence':
      return `no cluster of stage ${gate.stage} shows that it runs, which is no success: waits for approval ${describeGateIndex(gate.gate, record)}`;
    case 'window':
      return gate.opensAtMs === undefined
        ? 'waits for its window, which does not open within eight days'
        : `waits for its window, which opens at ${timeText(gate.opensAtMs)}`;
    case 'refused':
      return `none of its clusters is given it, because ${gate.cluster} would refuse it: ${gate.message}. Give it what it lacks (rights: rollcall fleet rights ${gate.cluster}), or freeze it to go on without it. It is asked again at ${timeText(gate.askAtMs)}`;
  }
}

/** What only a person ends, or the way back does. */
function describeHold(
  kind: 'paused' | 'breach' | 'returning' | 'returned',
  record: FleetRecord,
): string {
  const { orders, breach, release, counts } = record;
  const target = backAtOf(record);
  const back = target === undefined ? 'what was good' : `generation ${String(target.generation)}`;
  const failed = counts.failed === 0 ? '' : ` but ${String(counts.failed)} that failed on the way`;
  switch (kind) {
    case 'paused':
      return `paused ${orders.paused === undefined ? 'by an operator' : describeNote(orders.paused)}`;
    case 'breach':
      return breach === undefined ? 'halted' : `halted: ${describeFleetBreach(breach)}`;
    case 'returning':
      return `clusters go back to ${back}${whyBack(record)}`;
    case 'returned':
      return `all clusters within reach${failed} are back at ${back}; generation ${String(release.generation)} is held${whyBack(record)}`;
  }
}

function whyBack({ orders, breach }: Pick<FleetRecord, 'orders' | 'breach'>): string {
  if (orders.undo !== undefined) return `, asked for ${describeNote(orders.undo)}`;
  if (breach === undefined) return '';
  return ` (${describeFleetBreach(breach)})`;
}

/** Which gate that is: 2k before stage k, 2k + 1 after it. */
function describeGateIndex(index: number, { stages }: Pick<FleetRecord, 'stages'>): string {
  const name = stages[Math.floor(index / 2)]?.name ?? 'the next one';
  return `${index % 2 === 0 ? 'before' : 'after'} stage ${name} (gate ${String(index)})`;
}
