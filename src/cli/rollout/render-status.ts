/**
 * A rollout's status as lines for a person, one matter a line: step, gate, budget, evidence, what is proven, what was halted.
 *
 * The words are those of core/rollout/describe-record.ts, which Events and the table of `npm start` use alike. It decides
 * nothing, and adds no number of its own.
 */
import { describeEvidence, describeNote, timeText } from '../../core/rollout/describe-record.ts';
import type { RolloutStatus } from '../../app/rollout/rollout-status.ts';
import type { StagedStatus } from '../../app/rollout/staged-status.ts';
import { plainText, renderFields } from '../command-line/text-table.ts';

type Field = readonly [string, string | undefined];

/** All that is known. */
export function renderStatus(status: RolloutStatus): string[] {
  const { cluster, namespace, name, phase, summary, staged } = status;
  return [
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
  const notes = status.notes.map((note) => ` ${note}`).join('');
  return `${timeText(nowMs).slice(11)} ${status.phase}: ${sentence(status.summary)}${notes}`;
}

function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`;
}

function commonFields(status: RolloutStatus): readonly Field[] {
  const { nodes, budget, generation, observedGeneration, mode, policyProblems = [] } = status;
  const seen =
    observedGeneration < generation ? `, ${String(observedGeneration)} is in the status` : '';
  return [
    [
      'pods',
      `${String(nodes.updated)} updated, ${String(nodes.available)} available, of ${String(nodes.desired)}`,
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

function budgetText(budget: NonNullable<RolloutStatus['budget']>): string {
  const { unavailableNodes, unavailableNodesMax, surgingNodes, surgeNodesMax, waitingNodes } =
    budget;
  const used =
    surgeNodesMax > 0
      ? `${String(surgingNodes)} of ${String(surgeNodesMax)} surging`
      : `${String(unavailableNodes)} of ${String(unavailableNodesMax)} unavailable`;
  return waitingNodes === 0 ? used : `${used}, ${String(waitingNodes)} nodes wait for their turn`;
}

function stagedFields(staged: StagedStatus): readonly Field[] {
  const { revision, startedAtMs, evidence, proven, former, refused, orders } = staged;
  const since = proven && `since ${timeText(proven.provenAtMs)}`;
  return [
    ['revision', `${revision}, since ${timeText(startedAtMs)}`],
    ['step', stepText(staged)],
    ['gate', staged.gateText],
    ...describeEvidence(evidence).map((line, index): Field => [
      index === 0 ? 'evidence' : '',
      line,
    ]),
    [
      'proven',
      proven &&
        `${proven.hash}, ${proven.isBaseline ? 'as found, not soaked, ' : ''}${since ?? ''}`,
    ],
    ['former', former && former.hash !== proven?.hash ? former.hash : undefined],
    ...refused.map(({ hash, cause, atMs }): Field => [
      'refused',
      `${hash}: ${cause} at ${timeText(atMs)}`,
    ]),
    ['paused', orders.paused && describeNote(orders.paused)],
    [
      'approved',
      orders.approved &&
        `up to step ${String(orders.approved.stepIndex)} ${describeNote(orders.approved)}`,
    ],
    ['resumed', orders.resumed && describeNote(orders.resumed)],
    ['undo', orders.undo && `to ${orders.undo.to} ${describeNote(orders.undo)}`],
  ];
}

function stepText({ step, stepText: words, baseNodes }: StagedStatus): string {
  const { updatedNodes, openedAtMs, kind } = step;
  const since = kind === 'waiting' ? '' : `, opened at ${timeText(openedAtMs)}`;
  return `${words}${since}; ${String(updatedNodes)} of ${String(baseNodes)} nodes updated`;
}
