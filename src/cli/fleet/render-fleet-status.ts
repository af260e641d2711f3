/**
 * A fleet's status as lines for a person: what it waits for, its stages, what halted it, its orders, and its clusters, the worst first.
 *
 * The words are those of core/fleet/orders/describe-fleet.ts. It decides nothing, and adds no number of its own. Not all clusters are
 * shown: those that are left out are counted by how they stand, so that none that is at zero hides among them.
 */
import { counted } from '@rollcall/base/counted.ts';
import type { FleetStatus } from '../../app/fleet/rollout/fleet-status.ts';
import type { FleetClusterLine } from '../../app/fleet/rollout/list-clusters.ts';
import { tallyStages } from '../../app/fleet/rollout/tally-stages.ts';
import type { StageTally } from '../../app/fleet/rollout/tally-stages.ts';
import { describePool } from '../../core/fleet/attribution/fleet-pool.ts';
import type { FleetRecord } from '../../core/fleet/rollout/fleet-record.ts';
import { describeCounts } from '../../core/fleet/orders/describe-fleet.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import { renderRollout } from '../command-line/render-rollout.ts';
import type { Field } from '../command-line/render-rollout.ts';
import { renderAge, renderTextTable } from '../command-line/text-table.ts';

/** Clusters that are shown without `-o wide`. */
export const SHOWN_CLUSTERS_MAX = 20;

/** Clusters as they are shown: of all, those in lines. */
export interface ShownClusters {
  readonly shown: readonly FleetClusterLine[];
  readonly all: readonly FleetClusterLine[];
}

/** All that is known. */
export function renderFleetStatus(
  status: FleetStatus,
  clusters: ShownClusters,
  nowMs: number,
): string[] {
  const { namespace, name, stages, record } = status;
  const lines = renderRollout(status, {
    name: `${namespace}/${name}`,
    counts: record === undefined ? '' : describeCounts(record.counts),
    haltedOn: record?.breach?.clusters ?? [],
    approves: 'gate',
    first: [['generation', generationText(status)]],
    middle: record === undefined ? [] : recordFields(record, status),
    last: [],
  });
  return [
    ...lines,
    ...(stages.length === 0 ? [] : ['', ...stageLines(tallyStages(stages, clusters.all))]),
    ...clusterLines(clusters, nowMs),
  ];
}

function generationText({ generation, appliedAtMs, appliedBy, record }: FleetStatus): string {
  const applied = `${String(generation)}, applied at ${timeText(appliedAtMs)} by ${appliedBy}`;
  const rolled = record?.release.generation;
  return rolled === undefined || rolled === generation
    ? applied
    : `${applied}; generation ${String(rolled)} is what the rest tells of`;
}

function recordFields(record: FleetRecord, { former }: FleetStatus): readonly Field[] {
  const { pool, good, refused, startedAtMs, ring, untouchedClusters } = record;
  const [proven] = good;
  return [
    ['since', timeText(startedAtMs)],
    ['evidence', pool === undefined || pool.places.length === 0 ? undefined : describePool(pool)],
    [
      'proven',
      proven && `generation ${String(proven.generation)}, since ${timeText(proven.goodAtMs)}`,
    ],
    ['way back', former && `generation ${String(former.generation)}`],
    ...refused.map(({ contentHash, cause, atMs }): Field => [
      'refused',
      `content ${contentHash}: ${cause} at ${timeText(atMs)}`,
    ]),
    ['coming back', ring.count === 0 ? undefined : `${counted(ring.count, 'cluster')} in the ring`],
    ['not touched', untouchedClusters === 0 ? undefined : counted(untouchedClusters, 'cluster')],
  ];
}

const STAGE_HEADINGS = ['STAGE', 'STATE', 'CLUSTERS', 'FAILED', 'WELL', 'ROLLING', 'WAITING'];

/** The stages as a table, each cluster in one row of it. */
export function stageLines(stages: readonly StageTally[]): string[] {
  const rows = stages.map((stage) => {
    const { name, state, clusters, goesOnIn, failed, well, rolling, waiting, nodes } = stage;
    if (goesOnIn !== undefined) return [name, state, `in ${goesOnIn}`];
    const counts = [clusters, failed, well, rolling, waiting].map(String);
    return [name, state, ...counts, nodes === undefined ? '-' : nodesText(nodes)];
  });
  return renderTextTable([...STAGE_HEADINGS, 'NODES'], rows);
}

function nodesText({ updated, desired }: NonNullable<FleetClusterLine['nodes']>): string {
  return `${String(updated)}/${String(desired)}`;
}

function clusterLines({ shown, all }: ShownClusters, nowMs: number): readonly string[] {
  const rows = shown.map((line) => {
    const { cluster, place, phase, nodes, openedAtMs } = line;
    const ran = nodes === undefined ? '?' : nodesText(nodes);
    const since = openedAtMs === undefined ? '-' : renderAge(Math.max(0, nowMs - openedAtMs));
    return [cluster, place, phase, phase === 'waiting' ? '-' : ran, since, whyOf(line)];
  });
  const more = countsOf(all.slice(shown.length));
  return [
    ...(rows.length === 0
      ? []
      : ['', ...renderTextTable(['CLUSTER', 'STAGE', 'STATE', 'NODES', 'FOR', 'WHY'], rows)]),
    ...(more === undefined ? [] : [`and ${more}: -o wide shows them`]),
  ];
}

function whyOf({ failure, note, isPartial }: FleetClusterLine): string {
  const why = failure && `${failure.cause}: ${failure.message}`;
  const part = isPartial && 'its first nodes alone: the others follow in the next stage';
  return [why, note, part].filter((part) => part !== undefined).join('; ');
}

function countsOf(lines: readonly FleetClusterLine[]): string | undefined {
  if (lines.length === 0) return undefined;
  const groups = Map.groupBy(lines, ({ phase }) => phase);
  return [...groups].map(([phase, { length }]) => `${String(length)} ${phase}`).join(', ');
}
