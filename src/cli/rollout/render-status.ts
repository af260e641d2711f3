/**
 * A rollout's status as lines for a person, one matter a line: step, gate, budget, evidence, what is proven, what was halted.
 *
 * The words are those of core/rollout/describe-record.ts, which Events and the table of `npm start` use alike. It decides
 * nothing, and adds no number of its own.
 */
import {
  describeBreach,
  describeEvidence,
  describeNote,
  describeOverruled,
  timeText,
} from '../../core/rollout/describe-record.ts';
import { describeCopies } from '../../core/rollout/shown-copies.ts';
import type { RolloutStatus } from '../../app/rollout/rollout-status.ts';
import type { StagedStatus } from '../../app/rollout/staged-status.ts';
import { sentence } from '../command-line/follow-rollout.ts';
import { outageLine } from '../../core/status/outages.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText, renderFields } from '../command-line/text-table.ts';
import { budgetText, strayText } from './rollout-words.ts';

type Field = readonly [string, string | undefined];

/** All that is known. */
export function renderStatus(status: RolloutStatus): string[] {
  const { cluster, namespace, name, phase, summary, staged } = status;
  return [
    ...outageLines(status.outages),
    `${cluster}/${namespace}/${name}: ${phase}${staged === undefined ? `: ${summary}` : ''}`,
    ...renderFields([
      ...(staged === undefined ? [] : stagedFields(staged)),
      ...commonFields(status),
      // A further line of the field above.
    ]).map((line) => (line.startsWith(':') ? ` ${line.slice(1)}` : line)),
    ...status.notes.map((note) => `! ${plainText(note)}`),
  ];
}

/** In one line, for --watch. */
export function renderChange(status: RolloutStatus, nowMs: number): string {
  const outages = status.outages.map((outage) => ` ${outageLine(outage)}.`).join('');
  const notes = status.notes.map((note) => ` ${note}`).join('');
  return `${timeText(nowMs).slice(11)} ${status.phase}: ${sentence(status.summary)}${outages}${notes}`;
}

function commonFields(status: RolloutStatus): readonly Field[] {
  const { nodes, budget, generation, observedGeneration, mode, policyProblems = [] } = status;
  const seen =
    observedGeneration < generation ? `, ${String(observedGeneration)} is in the status` : '';
  return [
    [
      'pods',
      `${String(nodes.updated)} updated, ${String(nodes.available)} available, of ${String(nodes.desired)}${isOld(status) ? ', as of the last run' : ''}`,
    ],
    ['budget', budget && budgetText(budget)],
    ['generation', `${String(generation)}${seen}`],
    ['mode', mode],
    ['told at', timeText(status.lastSentAtMs)],
    ...policyProblems.map(({ field, message }): Field => [
      'policy',
      field === '' ? message : `${field}: ${message}`,
    ]),
  ];
}

/** True if the counters are those of a run long past. */
function isOld({ summary }: RolloutStatus): boolean {
  return summary.startsWith('as of the last run');
}

/** The lines of one matter: its name stands before the first. */
function fieldsOf(name: string, lines: readonly string[]): readonly Field[] {
  return lines.map((line, index): Field => [index === 0 ? name : '', line]);
}

function stagedFields(staged: StagedStatus): readonly Field[] {
  const { revision, startedAtMs, evidence, refused, breach, strays = [] } = staged;
  const haltedOn = breach === undefined ? [] : breach.nodes;
  return [
    ['revision', `${revision}, since ${timeText(startedAtMs)}`],
    ['step', stepText(staged)],
    ['gate', staged.gateText],
    ['halted on', haltedOn.length === 0 ? undefined : haltedOn.join(', ')],
    ['strays', strays.length === 0 ? undefined : strayText(strays)],
    ...fieldsOf('evidence', describeEvidence(evidence, breach)),
    ...provenFields(staged),
    ['copies', staged.copies && describeCopies(staged.copies)],
    ...refused.map(({ hash, cause, atMs }): Field => [
      'refused',
      `${hash}: ${cause} at ${timeText(atMs)}`,
    ]),
    ...orderFields(staged),
  ];
}

/** What was running when the policy came is where a rollback leads, and nothing has proven it. */
function provenFields({ proven, former }: StagedStatus): readonly Field[] {
  const isBaseline = proven?.isBaseline === true;
  const how = isBaseline ? ', as found and never soaked' : '';
  return [
    [
      isBaseline ? 'baseline' : 'proven',
      proven && `${proven.hash}, since ${timeText(proven.provenAtMs)}${how}`,
    ],
    ['former', former && former.hash !== proven?.hash ? former.hash : undefined],
  ];
}

function orderFields({ orders }: StagedStatus): readonly Field[] {
  const { paused, approved, resumed, undo } = orders;
  return [
    ['paused', paused && describeNote(paused)],
    ['approved', approved && `up to step ${String(approved.stepIndex)} ${describeNote(approved)}`],
    ['resumed', resumed && describeOverruled(resumed, describeBreach(resumed.breach))],
    ['undo', undo && `to ${undo.to} ${describeNote(undo)}`],
  ];
}

function stepText({ step, stepText: words, baseNodes }: StagedStatus): string {
  const { updatedNodes, openedAtMs, kind } = step;
  const since = kind === 'waiting' ? '' : `, opened at ${timeText(openedAtMs)}`;
  return `${words}${since}; ${String(updatedNodes)} of ${String(baseNodes)} nodes updated`;
}
