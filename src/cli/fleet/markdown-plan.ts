/**
 * A plan for a fleet as a comment on a pull request: Markdown of bounded length, whatever the
 * fleet. What comes from manifests and registrations stands in code spans, so it is no link and no
 * mention.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { FleetPlan } from '../../core/fleet/plan-fleet.ts';
import type { ImageChange, PlannedCluster } from '../../core/fleet/plan-cluster.ts';
import { plainText } from '../command-line/text-table.ts';
import { shownStages, stageCells, totalsOf } from './render-plan.ts';

/** Characters of a comment at most; GitHub takes 65,536. */
export const COMMENT_CHARACTERS_MAX = 40_000;

const CLUSTERS_MAX = 50;
const IMAGES_MAX = 20;
const OTHERS_MAX = 20;
/** A digest and the name of its registry. */
const CODE_CHARACTERS_MAX = 120;

/** The comment. `title` names the fleet and what of it is planned. */
export function renderMarkdownPlan(title: string, plan: FleetPlan): string[] {
  const { stages, refused, unknownNames } = plan;
  const changed = stages.flatMap(({ name, clusters }) =>
    clusters
      .filter(({ change }) => change !== 'none')
      .map((cluster): Row => ({ stage: name, cluster })),
  );
  return [
    `### ${code(title)}`,
    '',
    ...sumLines(plan),
    '',
    '| stage | clusters | nodes that change | at once | may fail | soak | approval |',
    '|---|---:|---:|---:|---:|---|---|',
    ...shownStages(plan).map((stage) => {
      const [name, ...numbers] = stageCells(stage);
      return row([code(name), ...numbers]);
    }),
    ...imageLines(changed),
    ...clusterLines(changed),
    ...(refused.length === 0
      ? []
      : ['', `**${counted(refused.length, 'cluster')} could be given nothing:**`]),
    ...refused.slice(0, OTHERS_MAX).map(({ id, problems: [problem] }) => {
      const why = problem === undefined ? '' : `: ${code(`${problem.field} ${problem.message}`)}`;
      return `* ${code(id)}${why}`;
    }),
    ...moreLine(refused.length, OTHERS_MAX),
    ...(unknownNames.length === 0
      ? []
      : [
          '',
          `Named, and not registered: ${unknownNames.slice(0, OTHERS_MAX).map(code).join(', ')}`,
        ]),
  ];
}

interface Row {
  readonly stage: string;
  readonly cluster: PlannedCluster;
}

function sumLines(plan: FleetPlan): readonly string[] {
  const totals = totalsOf(plan);
  const { clusters, created, updated, adjusted, same, unknown, changedNodes } = totals;
  const others = [
    [adjusted, 'changes without a new pod', 'change without a new pod'],
    [same, 'has it', 'have it'],
    [unknown, 'cannot be told', 'cannot be told'],
  ] as const;
  const rest = others
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => counted(count, one, many));
  const beside = [
    [totals.untouched, 'not touched by Rollcall (mode observe, frozen, or another controller)'],
    [totals.offline, 'offline: they neither block nor count'],
  ] as const;
  return [
    `**${counted(changedNodes, 'node changes', 'nodes change')}** in ${String(created + updated)} of ${counted(clusters, 'cluster')}: ` +
      [counted(created, 'gets it', 'get it'), counted(updated, 'changes', 'change'), ...rest].join(
        ', ',
      ) +
      '.',
    ...beside
      .filter(([count]) => count > 0)
      .flatMap(([count, what]) => ['', `${String(count)} ${what}.`]),
  ];
}

/** Each change of an image once, with the clusters that have it: overrides make few of them. */
function imageLines(changed: readonly Row[]): readonly string[] {
  const counts = new Map<string, { readonly image: ImageChange; clusters: number }>();
  for (const image of changed.flatMap(({ cluster }) => cluster.images)) {
    const key = JSON.stringify([image.container, image.from, image.to]);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { image, clusters: 1 });
    else known.clusters += 1;
  }
  if (counts.size === 0) return [];
  const most = [...counts.values()].sort((left, right) => right.clusters - left.clusters);
  const rows = most
    .slice(0, IMAGES_MAX)
    .map(({ image: { container, from, to }, clusters }) =>
      row([
        code(container),
        from === undefined ? '–' : code(from),
        to === undefined ? '–' : code(to),
        String(clusters),
      ]),
    );
  const more = most.length - rows.length;
  return [
    ...['', '| container | image now | image then | clusters |', '|---|---|---|---:|'],
    ...rows,
    ...(more === 0 ? [] : ['', `… ${counted(more, 'more change', 'more changes')} of images.`]),
  ];
}

function clusterLines(changed: readonly Row[]): readonly string[] {
  if (changed.length === 0) return [];
  return [
    ...['', '<details><summary>Clusters that change</summary>', ''],
    ...['| cluster | stage | change | nodes |', '|---|---|---|---:|'],
    ...changed
      .slice(0, CLUSTERS_MAX)
      .map(({ stage, cluster: { id, change, nodes } }) =>
        row([code(id), code(stage), change, nodes === undefined ? '?' : String(nodes)]),
      ),
    ...moreLine(changed.length, CLUSTERS_MAX),
    ...['', '</details>'],
  ];
}

function moreLine(count: number, shownMax: number): readonly string[] {
  return count <= shownMax ? [] : ['', `… ${String(count - shownMax)} more.`];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** In a table, too, where a bar ends a cell even in a code span. */
function code(text: string): string {
  const line = plainText(text).replaceAll('`', "'").replaceAll('|', '\\|');
  const { length } = line;
  return `\`${length <= CODE_CHARACTERS_MAX ? line : `${line.slice(0, CODE_CHARACTERS_MAX - 1)}…`}\``;
}
