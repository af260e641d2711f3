/**
 * A plan for one DaemonSet as lines for a person, and as a comment of bounded length.
 *
 * Sums first, then the steps, then nodes by what becomes of them and why. What a cluster said of itself never steers a terminal.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { PlannedEdit } from '../../app/what-if/plan-edit.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import { REASONS } from '../../core/status/reasons.ts';
import { countChanges } from '../../core/what-if/tell-plan.ts';
import type { NodeChange, PlannedNode, PlannedStep } from '../../core/what-if/tell-plan.ts';
import { code, row } from '../command-line/markdown.ts';
import { plainText, renderTextTable } from '../command-line/text-table.ts';

/** Names on one line; --json has all. */
const NAMED_MAX = 12;
/** Groups of nodes of a table. */
const GROUPS_MAX = 50;
/** Names in a cell of a comment. */
const CELL_NAMES_MAX = 8;

function sumLine({ nodes }: Pick<PlannedEdit, 'nodes'>): string {
  const { gained, lost, restarted, held, unchanged } = countChanges(nodes);
  const parts = [
    [gained, 'gets a pod', 'get a pod'],
    [lost, 'loses its pod', 'lose their pods'],
    [restarted, 'has its pod replaced', 'have their pods replaced'],
    [held, 'is held', 'are held'],
    [unchanged, 'stays as it is', 'stay as they are'],
  ] as const;
  const told = parts
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => counted(count, one, many));
  return told.length === 0 ? '0 nodes.' : `${counted(nodes.length, 'node')}: ${told.join(', ')}.`;
}

export function renderEditPlan(plan: PlannedEdit): readonly string[] {
  const { nodes, steps } = plan;
  const groups = groupsOf(nodes).filter(({ change }) => change !== 'unchanged');
  const rows = groups
    .slice(0, GROUPS_MAX)
    .map((group) => [
      group.change,
      String(group.nodes.length),
      group.reason,
      whyOf(group),
      namesOf(group.nodes, NAMED_MAX),
    ]);
  const more = groups.length - rows.length;
  const shown = steps.filter((step) => step.nodes > 0);
  return [
    sumLine(plan),
    ...(rows.length === 0 ? [] : ['', ...renderTextTable(HEADINGS, rows)]),
    ...(more === 0 ? [] : [`… ${String(more)} more: --json`]),
    ...(shown.length === 0
      ? []
      : [
          '',
          ...renderTextTable(
            STEP_HEADINGS,
            shown.map((step) => stepCells(step, steps)),
          ),
        ]),
  ];
}

const HEADINGS = ['CHANGE', 'NODES', 'REASON', 'WHY', 'NAMES'];
const STEP_HEADINGS = ['STEP', 'NODES', 'FROM', 'LAST NODE AT'];

function stepCells(step: PlannedStep, steps: readonly PlannedStep[]): readonly string[] {
  const { nodes, atMs, lastAtMs } = step;
  return [
    nameOf(step, steps),
    String(nodes),
    timeText(atMs),
    lastAtMs === undefined ? '-' : timeText(lastAtMs),
  ];
}

/** `canary`, `group 2 (zone-b)`. */
function nameOf(step: PlannedStep, steps: readonly PlannedStep[]): string {
  if (step.kind !== 'group') return step.kind.replace('-', ' ');
  const number = steps.slice(0, steps.indexOf(step) + 1).filter(({ kind }) => kind === 'group');
  return `group ${String(number.length)}${step.name === '' ? '' : ` (${step.name})`}`;
}

interface NodeGroup extends Pick<PlannedNode, 'change' | 'reason' | 'then'> {
  readonly nodes: readonly PlannedNode[];
}

const ORDER: readonly NodeChange[] = ['lost', 'held', 'restarted', 'gained', 'unchanged'];

function groupsOf(nodes: readonly PlannedNode[]): readonly NodeGroup[] {
  const groups = Map.groupBy(
    nodes,
    ({ change, reason, then = '' }) => `${change} ${reason} ${then}`,
  );
  const found = [...groups.values()].flatMap((members): readonly NodeGroup[] => {
    const [first] = members;
    return first === undefined ? [] : [{ ...first, nodes: members }];
  });
  return found.sort((left, right) => ORDER.indexOf(left.change) - ORDER.indexOf(right.change));
}

const THEN = { gained: 'would get a pod', lost: 'would lose it', restarted: 'would be replaced' };

function whyOf({ reason, then }: NodeGroup): string {
  const { title } = REASONS[reason];
  return then === undefined ? title : `${THEN[then]}; ${title}`;
}

function namesOf(nodes: readonly PlannedNode[], namedMax: number): string {
  const names = nodes.slice(0, namedMax).map(({ node }) => node);
  const more = nodes.length - names.length;
  return plainText(`${names.join(', ')}${more === 0 ? '' : ` and ${String(more)} more`}`);
}

/** The comment. `title` names the DaemonSet and its cluster. */
export function renderEditComment(
  title: string,
  plan: PlannedEdit,
  notes: readonly string[],
): readonly string[] {
  const { nodes, steps } = plan;
  const groups = groupsOf(nodes).filter(({ change }) => change !== 'unchanged');
  const shown = steps.filter((step) => step.nodes > 0);
  const more = groups.length - GROUPS_MAX;
  return [
    `### ${code(title)}`,
    ...['', `**${sumLine(plan)}**`],
    ...(groups.length === 0 ? [] : ['', '| change | nodes | why | names |', '|---|---:|---|---|']),
    ...groups.slice(0, GROUPS_MAX).map((group) => {
      const { change, nodes: members } = group;
      const names = code(namesOf(members, CELL_NAMES_MAX));
      return row([change, String(members.length), whyOf(group), names]);
    }),
    ...(more > 0 ? ['', `… ${String(more)} more.`] : []),
    ...(shown.length === 0
      ? []
      : ['', '| step | nodes | from | last node at |', '|---|---:|---|---|']),
    ...shown.map((step) => {
      const [name = '', ...cells] = stepCells(step, steps);
      return row([code(name), ...cells]);
    }),
    ...notes.flatMap((note) => ['', plainText(note).replaceAll('|', '\\|')]),
  ];
}
