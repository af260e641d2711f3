/**
 * Answers of `rollcall why` as lines and as documents.
 *
 * A line says how many nodes have which reason, their names, and the matter; the line below it what to do. What a cluster said of
 * itself never steers a terminal.
 */
import { formatKey } from '../../core/model/identifiers.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import type { ReasonGroup } from '../../core/status/reason-groups.ts';
import { toned, type Line } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText } from '../command-line/text-table.ts';
import { budgetText } from '../rollout/render-status.ts';
import type { Answer, Told } from './answers.ts';

/** Names on one line; --json has all. */
const NAMED_MAX = 12;

const TONES = { failing: 'failing', held: 'waiting' } as const;

/** Lines of several answers; an outage that is of all stands above the first alone. */
export function linesOf(answers: readonly Answer[]): readonly Line[] {
  const said = new Set<string>();
  return answers.flatMap((answer) => {
    const outages = answer.outages.filter(({ message }) => !said.has(message));
    for (const { message } of outages) said.add(message);
    return [...outageLines(outages), ...linesOfAnswer(answer)];
  });
}

function linesOfAnswer(answer: Answer): readonly Line[] {
  const name = plainText(formatKey(answer.key));
  if (answer.kind === 'untold') {
    const untold = `its nodes cannot be judged: ${plainText(answer.message)}`;
    return [[`${name}: `, toned(untold, 'failing')], `  do: ${plainText(answer.remedy)}`];
  }
  const { counts, lastSentAtMs, groups } = answer;
  return [
    `${name}: ${countsText(counts)}; told at ${timeText(lastSentAtMs)}`,
    ...groups.flatMap(linesOfGroup),
    ...linesBeside(answer),
  ];
}

function linesOfGroup({ kind, code, message, nodes, remedy }: ReasonGroup): readonly Line[] {
  const more = nodes.length > NAMED_MAX ? ` and ${String(nodes.length - NAMED_MAX)} more` : '';
  const names = plainText(nodes.slice(0, NAMED_MAX).join(', '));
  const tone = kind === 'failing' || kind === 'held' ? TONES[kind] : undefined;
  return [
    [
      `  ${String(nodes.length)} `,
      toned(kind.replaceAll('-', ' '), tone),
      `: ${names}${more} (${code}: ${plainText(message)})`,
    ],
    ...(remedy === undefined ? [] : [`    do: ${plainText(remedy)}`]),
  ];
}

/** Who else has a say in what comes next. */
function linesBeside({ budget, fleet, counts }: Told): readonly string[] {
  const isWaiting = (counts.WaitingForRollout ?? 0) > 0;
  const isBound = budget !== undefined && (isWaiting || budget.users.length > 0);
  const stage = fleet?.stage === undefined ? '' : `, stage ${fleet.stage.name}`;
  return [
    ...(isBound ? [`  budget: ${plainText(budgetText(budget))}`] : []),
    ...(fleet === undefined
      ? []
      : [
          `  held by fleet ${plainText(`${fleet.name}${stage}: ${fleet.gateText}`)}`,
          `    do: ${plainText(fleet.command)}`,
        ]),
  ];
}

function countsText(counts: Told['counts']): string {
  const parts = Object.entries(counts).map(([code, count]) => `${String(count)} ${code}`);
  return parts.length === 0 ? 'no nodes' : parts.join(', ');
}

/** An answer as a document. */
export function documentOf(answer: Answer): object {
  const { key, kind, outages } = answer;
  if (kind === 'untold') {
    const { message, remedy } = answer;
    return { ...key, outages, message, remedy };
  }
  const { mode, lastSentAtMs, counts, groups, nodes, budget, fleet } = answer;
  const told = nodes.map(nodeOf);
  return { ...key, mode, lastSentAtMs, outages, counts, groups, nodes: told, budget, fleet };
}

function nodeOf({ node, placement, reason, code, guard, pod, message, untilMs }: Verdict): object {
  return { node, placement, reason, code, guard, pod, message, untilMs };
}
