/**
 * A rollout's status as lines for a person, one matter a line: step, gate, budget, evidence, what is proven, what was halted.
 *
 * The words are those of core/rollout/describe-record.ts, which Events and the table of `npm start` use alike. It decides
 * nothing, and adds no number of its own.
 */
import { timeText } from '../../core/rollout/gate-words.ts';
import { describeEvidence } from '../../core/rollout/describe-record.ts';
import { describeCopies } from '../../core/rollout/shown-copies.ts';
import type { RolloutStatus } from '../../app/rollout/rollout-status.ts';
import type { StagedStatus } from '../../app/rollout/staged-status.ts';
import { renderRollout } from '../command-line/render-rollout.ts';
import type { Field } from '../command-line/render-rollout.ts';
import { budgetText, strayText } from './rollout-words.ts';

/** All that is known. */
export function renderStatus(status: RolloutStatus): string[] {
  const { cluster, namespace, name, staged } = status;
  const revision = staged && `${staged.revision}, since ${timeText(staged.startedAtMs)}`;
  return renderRollout(status, {
    name: `${cluster}/${namespace}/${name}`,
    counts: staged === undefined ? '' : countsText(staged),
    haltedOn: staged?.breach?.nodes ?? [],
    approves: 'step',
    first: [['revision', revision]],
    middle: staged === undefined ? [] : evidenceFields(staged),
    last: commonFields(status),
  });
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

function countsText({ step, baseNodes }: StagedStatus): string {
  return `${String(step.updatedNodes)} of ${String(baseNodes)} nodes updated`;
}

function evidenceFields(staged: StagedStatus): readonly Field[] {
  const { evidence, refused, breach, strays = [] } = staged;
  return [
    ['strays', strays.length === 0 ? undefined : strayText(strays)],
    ...fieldsOf('evidence', describeEvidence(evidence, breach)),
    ...provenFields(staged),
    ['copies', staged.copies && describeCopies(staged.copies)],
    ...refused.map(({ hash, cause, atMs }): Field => [
      'refused',
      `${hash}: ${cause} at ${timeText(atMs)}`,
    ]),
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
