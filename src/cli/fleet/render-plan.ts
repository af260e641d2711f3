/**
 * A plan for a fleet as lines for a person, and as a document.
 *
 * Stages first, each with what its numbers are of; then every cluster, a bounded number of each stage; then who is not touched
 * and why. It decides nothing.
 */
import { formatShare } from '../../core/policy/share.ts';
import type { OfflineCluster, FleetPlan, PlannedStage } from '../../core/fleet/plan-fleet.ts';
import type { PlannedCluster } from '../../core/fleet/plan-cluster.ts';
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
    changedNodes: clusters.reduce((sum, cluster) => sum + nodesChanged(cluster), 0),
    untouched: untouched.length,
    offline: offline.length,
  };
}

function nodesChanged({ change, nodes = 0 }: PlannedCluster): number {
  return change === 'create' || change === 'update' ? nodes : 0;
}

/** The document's part of one cluster. */
function clusterDocument({
  differences,
  ...cluster
}: PlannedCluster): Readonly<Record<string, unknown>> {
  return { ...cluster, differentFields: differences.length };
}

/** The plan as a document. */
export function planDocument(plan: FleetPlan): Readonly<Record<string, unknown>> {
  const { stages, untouched, offline, refused, unknownNames } = plan;
  return {
    totals: totalsOf(plan),
    stages: stages.map((stage) => ({ ...stage, clusters: stage.clusters.map(clusterDocument) })),
    untouched: untouched.map((one) => ({ ...clusterDocument(one), why: one.why })),
    offline: offline.map(clusterDocument),
    refused,
    unknownNames,
  };
}

/** The plan for a person. */
export function renderPlan(plan: FleetPlan): string[] {
  const { stages, untouched, offline, refused, unknownNames } = plan;
  const shown = stages.filter(({ clusters }, index) => clusters.length > 0 || index === 0);
  return [
    sumLine(plan),
    '',
    ...renderTextTable(STAGE_HEADINGS, shown.map(stageRow)),
    '',
    ...renderTextTable(CLUSTER_HEADINGS, shown.flatMap(clusterRows)),
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

function sumLine(plan: FleetPlan): string {
  const { clusters, created, updated, adjusted, same, unknown, changedNodes } = totalsOf(plan);
  const adjustedText = adjusted === 0 ? '' : `${String(adjusted)} change without a new pod, `;
  const unknownText = unknown === 0 ? '' : `, ${String(unknown)} cannot be told`;
  return (
    `${String(clusters)} clusters: ${String(created)} get it, ${String(updated)} change, ` +
    `${adjustedText}${String(same)} have it${unknownText}; ${String(changedNodes)} nodes change.`
  );
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
  const { name, clusters, share, baseClusters, nodes, changedNodes } = stage;
  const of = share === undefined ? '' : ` (${formatShare(share)} of ${String(baseClusters)})`;
  const part = nodes === undefined ? '' : ` (${formatShare(nodes)} of each cluster)`;
  return [
    name,
    `${String(clusters.length)}${of}`,
    `${String(changedNodes)}${part}`,
    String(stage.concurrentClusters),
    String(stage.failedClustersMax),
    renderAge(stage.soakMs),
    stage.approval,
    stage.windows.length === 0 ? 'any time' : `${String(stage.windows.length)} windows`,
  ];
}

const CLUSTER_HEADINGS = ['CLUSTER', 'STAGE', 'MODE', 'CHANGE', 'NODES', 'NOW', 'IMAGES'];

function clusterRows({ name, clusters }: PlannedStage): readonly (readonly string[])[] {
  const rows = clusters
    .slice(0, ROWS_MAX)
    .map((cluster) => [
      cluster.id,
      name,
      cluster.mode,
      cluster.change,
      numberText(cluster.nodes),
      numberText(cluster.nodesNow),
      imagesText(cluster),
    ]);
  const more = clusters.length - rows.length;
  return more === 0 ? rows : [...rows, [`… ${String(more)} more`, name, '', '', '', '', '--json']];
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
  rival: 'another controller was seen there',
};

function renderUntouched(untouched: FleetPlan['untouched']): string[] {
  return [
    ...untouched
      .slice(0, ROWS_MAX)
      .map((one) =>
        plainText(
          `  ${one.id}: ${WHY[one.why]}; ${one.change}, ${numberText(one.nodes)} nodes ${imagesText(one)}`,
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
