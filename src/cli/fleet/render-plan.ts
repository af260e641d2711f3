/**
 * A plan for a fleet as lines for a person, and as a document.
 *
 * Stages first, then a bounded number of clusters of each, then those that are not touched and why.
 */
import { counted } from '@rollcall/base/counted.ts';
import { formatShare } from '../../core/policy/share.ts';
import type { OfflineCluster, FleetPlan, PlannedStage } from '../../core/fleet/plan-fleet.ts';
import type { PlannedCluster, ImageChange } from '../../core/fleet/plan-cluster.ts';
import { code, row } from '../command-line/markdown.ts';
import { plainText, renderAge, renderTextTable } from '../command-line/text-table.ts';

/** Lines of one stage's clusters; the document has all. */
const ROWS_MAX = 50;

/** Sums over the clusters that would be changed. */
export function totalsOf({ stages, untouched, offline }: FleetPlan): {
  readonly clusters: number;
  readonly created: number;
  readonly updated: number;
  readonly adjusted: number;
  readonly same: number;
  readonly unknown: number;
  readonly changedNodes: number;
  readonly untouched: number;
  readonly offline: number;
} {
  const clusters = stages.flatMap((stage) => stage.clusters);
  const count = (change: PlannedCluster['change']): number =>
    clusters.filter((cluster) => cluster.change === change).length;
  return {
    clusters: clusters.length,
    created: count('create'),
    updated: count('update'),
    adjusted: count('adjust'),
    same: count('none'),
    unknown: count('unknown'),
    changedNodes: clusters.reduce((sum, { changedNodes }) => sum + changedNodes, 0),
    untouched: untouched.length,
    offline: offline.length,
  };
}

/** Of a stage of some nodes: of which clusters it takes the first ones, and of which all. */
function shareText({ nodes, clusters }: PlannedStage): string {
  if (nodes === undefined || clusters.length === 0) return '';
  const first = `first ${formatShare(nodes)} of each cluster`;
  const created = clusters.filter(({ change }) => change === 'create').length;
  if (created === 0) return ` (${first})`;
  return created === clusters.length
    ? ' (all at once: none has it yet)'
    : ` (${first}; all at once where none has it yet)`;
}

function clusterDocument<Planned extends PlannedCluster>({
  differences,
  ...cluster
}: Planned): Counted<Planned> {
  return { ...cluster, differentFields: differences.length };
}

/** A cluster of a plan, with the count of its differences; `fleet diff` has them. */
type Counted<Planned extends PlannedCluster> = Omit<Planned, 'differences'> & {
  readonly differentFields: number;
};

/** What `fleet plan` and `fleet describe` say of a plan. */
interface PlanDocument extends Pick<FleetPlan, 'refused' | 'unknownNames'> {
  readonly totals: ReturnType<typeof totalsOf>;
  readonly stages: readonly (Omit<PlannedStage, 'clusters'> & {
    readonly clusters: readonly Counted<PlannedCluster>[];
  })[];
  readonly untouched: readonly Counted<FleetPlan['untouched'][number]>[];
  readonly offline: readonly Counted<OfflineCluster>[];
}

export function planDocument(plan: FleetPlan): PlanDocument {
  const { stages, untouched, offline, refused, unknownNames } = plan;
  return {
    totals: totalsOf(plan),
    stages: stages.map((stage) => ({ ...stage, clusters: stage.clusters.map(clusterDocument) })),
    untouched: untouched.map(clusterDocument),
    offline: offline.map(clusterDocument),
    refused,
    unknownNames,
  };
}

export function renderPlan(plan: FleetPlan): string[] {
  const { stages, untouched, offline, refused, unknownNames } = plan;
  const shown = shownStages(plan);
  return [
    sumLine(plan),
    '',
    ...renderTextTable(STAGE_HEADINGS, shown.map(stageRow)),
    '',
    ...renderTextTable(
      CLUSTER_HEADINGS,
      shown.flatMap((stage) => clusterRows(stage, stages)),
    ),
    ...(untouched.length === 0 ? [] : ['', 'Not touched, whatever the fleet says:']),
    ...renderUntouched(untouched),
    ...(offline.length === 0
      ? []
      : ['', 'Offline: they neither block nor count; they follow in a ring of their own.']),
    ...offline.slice(0, ROWS_MAX).map(offlineLine),
    ...moreLine(offline.length),
    ...(refused.length === 0 ? [] : ['', 'Could be given nothing:']),
    ...refused.flatMap(({ id, problems }) =>
      problems.map(({ field, message }) => plainText(`  ${id} ${field}: ${message}`)),
    ),
    ...(unknownNames.length === 0
      ? []
      : ['', plainText(`Named, and not registered: ${unknownNames.join(', ')}`)]),
  ];
}

/** Stages with clusters; the first one in any case. */
function shownStages({ stages }: FleetPlan): readonly PlannedStage[] {
  return stages.filter(({ clusters }, index) => clusters.length > 0 || index === 0);
}

function sumLine(plan: FleetPlan): string {
  const { clusters, created, updated, adjusted, same, unknown, changedNodes } = totalsOf(plan);
  const parts = [
    counted(created, 'gets it', 'get it'),
    counted(updated, 'changes', 'change'),
    ...(adjusted === 0
      ? []
      : [counted(adjusted, 'changes without a new pod', 'change without a new pod')]),
    counted(same, 'has it', 'have it'),
    ...(unknown === 0 ? [] : [`${String(unknown)} cannot be told`]),
  ];
  const nodes = counted(changedNodes, 'node changes', 'nodes change');
  return `${counted(clusters, 'cluster')}: ${parts.join(', ')}; ${nodes}.`;
}

const STAGE_HEADINGS = [
  'STAGE',
  'CLUSTERS',
  'NODES',
  'AT ONCE',
  'MAY FAIL',
  'SOAK',
  'APPROVAL',
  'WINDOW',
];

function stageRow(stage: PlannedStage): readonly string[] {
  const windows = counted(stage.windows.length, 'window');
  return [...stageCells(stage), stage.windows.length === 0 ? 'any time' : windows];
}

/** Name, clusters, nodes, at once, may fail, soak, approval. */
function stageCells(stage: PlannedStage): readonly [name: string, ...numbers: string[]] {
  const { name, clusters, share, baseClusters, changedNodes } = stage;
  const of = share === undefined ? '' : ` (${formatShare(share)} of ${String(baseClusters)})`;
  return [
    name,
    `${String(clusters.length)}${of}`,
    `${String(changedNodes)}${shareText(stage)}`,
    String(stage.concurrentClusters),
    String(stage.failedClustersMax),
    renderAge(stage.soakMs),
    stage.approval,
  ];
}

const CLUSTER_HEADINGS = ['CLUSTER', 'STAGE', 'MODE', 'CHANGE', 'NODES', 'NOW', 'IMAGES'];

function clusterRows(
  { name, clusters, nodes }: PlannedStage,
  stages: readonly PlannedStage[],
): readonly (readonly string[])[] {
  // Only a first stage takes the first nodes of its clusters.
  const next = nodes === undefined ? undefined : stages[1]?.name;
  const both = next && nodes && `${name} (first ${formatShare(nodes)}), then ${next}`;
  const rows = clusters
    .slice(0, ROWS_MAX)
    .map((cluster) => [
      cluster.id,
      both !== undefined && cluster.change === 'update' ? both : name,
      cluster.mode,
      cluster.change,
      numberText(cluster.nodes),
      numberText(cluster.nodesNow),
      imagesText(cluster),
    ]);
  const more = clusters.length - rows.length;
  return more === 0 ? rows : [...rows, [`… ${String(more)} more`, name, '', '', '', '', '--json']];
}

function nodesText({ nodes }: PlannedCluster): string {
  return nodes === undefined ? '? nodes' : counted(nodes, 'node');
}

function numberText(number: number | undefined): string {
  return number === undefined ? '?' : String(number);
}

/** Where they differ: `agent: a:1 -> a:2`. */
function imagesText({ images }: Pick<PlannedCluster, 'images'>): string {
  return images
    .map(({ container, from = '-', to = '-' }) => `${container}: ${from} -> ${to}`)
    .join(', ');
}

const WHY: Readonly<Record<FleetPlan['untouched'][number]['why'], string>> = {
  observe: 'mode observe: Rollcall only looks',
  frozen: 'frozen',
  conflict: 'another controller was seen there',
};

function renderUntouched(untouched: FleetPlan['untouched']): string[] {
  return [
    ...untouched
      .slice(0, ROWS_MAX)
      .map((one) =>
        plainText(
          `  ${one.id}: ${WHY[one.why]}; ${one.change}, ${nodesText(one)} ${imagesText(one)}`,
        ).trimEnd(),
      ),
    ...moreLine(untouched.length),
  ];
}

function offlineLine({ id, silentForMs, change }: OfflineCluster): string {
  const since =
    silentForMs === undefined
      ? 'never heard'
      : `not heard for ${renderAge(silentForMs)}; as of then: ${change}`;
  return plainText(`  ${id}: ${since}`);
}

function moreLine(count: number): string[] {
  return count <= ROWS_MAX ? [] : [`  … ${String(count - ROWS_MAX)} more: --json`];
}

/** Characters of a comment at most; GitHub takes 65,536. */
export const COMMENT_CHARACTERS_MAX = 40_000;

const CLUSTERS_MAX = 50;
const IMAGES_MAX = 20;
const OTHERS_MAX = 20;

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
    `**${sumLine(plan)}**`,
    ...besideLines(plan),
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
    ...moreText(refused.length, OTHERS_MAX),
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

function besideLines({ untouched, offline }: FleetPlan): readonly string[] {
  const beside = [
    [untouched, 'not touched by Rollcall (mode observe, frozen, or another controller)'],
    [offline, 'offline: they neither block nor count'],
  ] as const;
  return beside
    .filter(([clusters]) => clusters.length > 0)
    .flatMap(([{ length }, what]) => ['', `${String(length)} ${what}.`]);
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
    ...moreText(changed.length, CLUSTERS_MAX),
    ...['', '</details>'],
  ];
}

function moreText(count: number, shownMax: number): readonly string[] {
  return count <= shownMax ? [] : ['', `… ${String(count - shownMax)} more.`];
}
