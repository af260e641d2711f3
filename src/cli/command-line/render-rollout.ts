/**
 * Step, gate, halt and orders of a rollout as lines for a person, of a cluster and of a fleet alike; and one line for each change.
 *
 * It decides nothing, and adds no number of its own.
 */
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import type { OpenStep, RolloutOrders } from '../../core/model/rollout-record.ts';
import { describeNote, describeOverruled, timeText } from '../../core/rollout/gate-words.ts';
import { outageLine } from '../../core/status/outages.ts';
import type { Watched } from '../../app/rollout/watch-rollout.ts';
import { outageLines } from './freeze-words.ts';
import { sentence } from './follow-rollout.ts';
import { plainText, renderFields } from './text-table.ts';

/** A name, and what stands beside it; undefined: there is none of it. */
export type Field = readonly [string, string | undefined];

/** What both have. */
interface Staged {
  readonly step: Pick<OpenStep, 'kind' | 'openedAtMs'>;
  readonly stepText: string;
  readonly gateText: string;
  readonly orders: RolloutOrders | FleetRecord['orders'];
}

/** What a home says in its own words. */
interface OwnWords {
  /** Whose it is, as the first line names it. */
  readonly name: string;
  /** How many have it, after the step. */
  readonly counts: string;
  /** Nodes, or clusters, that showed the halt. */
  readonly haltedOn: readonly string[];
  /** What the number of an approval is of. */
  readonly approves: 'step' | 'gate';
  /** Before step and gate, after them, and after the orders. */
  readonly first: readonly Field[];
  readonly middle: readonly Field[];
  readonly last: readonly Field[];
}

/** The outages, who it is, how it stands, and the notes. */
export function renderRollout(
  status: Watched & { readonly staged?: Staged },
  own: OwnWords,
): string[] {
  const { phase, summary, staged, outages, notes } = status;
  // Of what stands still the fields are as of before.
  const isTold = staged !== undefined && phase !== 'Stopped';
  return [
    ...outageLines(outages),
    plainText(`${own.name}: ${phase}${isTold ? '' : `: ${summary}`}`),
    ...renderFields([
      ...own.first,
      ...(staged === undefined ? [] : stagedFields(staged, own)),
      ...own.last,
      // A further line of the field above.
    ]).map((line) => (line.startsWith(':') ? ` ${line.slice(1)}` : line)),
    ...notes.map((note) => `! ${plainText(note)}`),
  ];
}

function stagedFields(
  { step, stepText, gateText, orders }: Staged,
  { counts, haltedOn, middle, approves }: OwnWords,
): readonly Field[] {
  const { paused, approved, resumed, undo } = orders;
  const since = step.kind === 'waiting' ? '' : `, opened at ${timeText(step.openedAtMs)}`;
  return [
    ['step', `${stepText}${since}; ${counts}`],
    ['gate', gateText],
    ['halted on', haltedOn.length === 0 ? undefined : haltedOn.join(', ')],
    ...middle,
    ['paused', paused && describeNote(paused)],
    [
      'approved',
      approved && `up to ${approves} ${String(approved.stepIndex)} ${describeNote(approved)}`,
    ],
    ['resumed', resumed && resumedText(resumed)],
    ['undo', undo && `${'to' in undo ? `to ${undo.to} ` : ''}${describeNote(undo)}`],
  ];
}

function resumedText(resumed: NonNullable<Staged['orders']['resumed']>): string {
  const { breach } = resumed;
  return breach === undefined ? describeNote(resumed) : describeOverruled({ ...resumed, breach });
}

/** In one line, for --watch. */
export function renderChange(status: Watched, nowMs: number): string {
  const outages = status.outages.map((outage) => ` ${outageLine(outage)}.`).join('');
  const notes = status.notes.map((note) => ` ${note}`).join('');
  return `${timeText(nowMs).slice(11)} ${status.phase}: ${sentence(status.summary)}${outages}${notes}`;
}
