/**
 * The block of a fleet in the live table of `npm start`: its stages, what it waits for, and one line for each cluster (issue 18).
 *
 * Pure text from the record of the fleet, its clusters' records and the overviews of the clusters. Names and messages are what clusters
 * say: control characters are taken out. The words are those of `rollcall fleet status`.
 */
import { fleetPhaseOf, summarizeFleet } from '../../../core/fleet/orders/describe-fleet.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import type { FleetClusterLine } from '../../../app/fleet/rollout/list-clusters.ts';
import type { ClusterOverview, DaemonSetOverview } from '../../../engine/overview.ts';
import { plainText, renderTextTable } from '../../command-line/text-table.ts';

/** What is shown. */
export interface ShownFleet {
  readonly record: FleetRecord;
  readonly clusters: readonly FleetClusterLine[];
  readonly overviews: readonly ClusterOverview[];
  readonly nowMs: number;
}

const STAGE_HEADINGS = ['STAGE', 'STATE', 'CLUSTERS', 'FAILED', 'WELL', 'ROLLING', 'WAITING'];
const CLUSTER_HEADINGS = ['CLUSTER', 'STAGE', 'STATE', 'NODES', 'READY', 'UP-TO-DATE', 'NOTE'];

/** Its lines, without a trailing newline. */
export function renderFleet({ record, clusters, overviews, nowMs }: ShownFleet): string[] {
  const { namespace, name, release } = record;
  const title = `fleet ${namespace}/${name}  generation ${String(release.generation)}  ${fleetPhaseOf(record)}`;
  const rows = overviews.map((overview) => clusterRow(overview, record, clusters));
  return [
    plainText(title),
    `  ${plainText(summarizeFleet(record))}${soakLeft(record, nowMs)}`,
    ...renderTextTable(STAGE_HEADINGS, stageRows(record, clusters)).map((line) => `  ${line}`),
    ...renderTextTable(CLUSTER_HEADINGS, rows),
  ];
}

function soakLeft({ gate }: FleetRecord, nowMs: number): string {
  if (gate.kind !== 'soaking') return '';
  const seconds = Math.max(0, Math.ceil((gate.untilMs - nowMs) / 1000));
  return `, ${String(seconds)} s left`;
}

function stageRows(
  { stages, stage: open }: FleetRecord,
  clusters: readonly FleetClusterLine[],
): readonly (readonly string[])[] {
  return stages.map(({ name, members }, index) => {
    const count = String(members.count);
    // The canary's cluster stands in the next stage as well, with the rest of its nodes: not before that opens.
    if (index > open) return [name, 'waits', count, '0', '0', '0', count];
    const phases = clusters.filter(({ place }) => place === name).map(({ phase }) => phase);
    const countOf = (...of: readonly FleetClusterLine['phase'][]): string =>
      String(phases.filter((phase) => of.includes(phase)).length);
    return [
      name,
      index < open ? 'passed' : 'open',
      count,
      countOf('failed'),
      countOf('well'),
      countOf('applying', 'rolling', 'returning'),
      countOf('waiting'),
    ];
  });
}

/** Of the newest stage that opened and has it; else of the one that it waits for. */
function lineOf(
  cluster: string,
  { stages, stage: open }: FleetRecord,
  clusters: readonly FleetClusterLine[],
): FleetClusterLine | undefined {
  const own = clusters.filter((one) => one.cluster === cluster);
  const names = stages.slice(0, open + 1).map(({ name }) => name);
  const opened = names.toReversed().map((name) => own.find(({ place }) => place === name));
  return opened.find((line) => line !== undefined) ?? own[0];
}

function clusterRow(
  { cluster, daemonSets, isViewComplete }: ClusterOverview,
  record: FleetRecord,
  clusters: readonly FleetClusterLine[],
): readonly string[] {
  const { namespace, name } = record;
  const line = lineOf(cluster, record, clusters);
  const daemonSet = daemonSets.find((one) => one.namespace === namespace && one.name === name);
  const count = (of: 'desired' | 'ready' | 'upToDate'): string =>
    daemonSet === undefined ? '-' : String(daemonSet[of]);
  return [
    cluster,
    line?.place ?? '-',
    line?.phase ?? '-',
    count('desired'),
    count('ready'),
    count('upToDate'),
    isViewComplete ? noteOf(line, daemonSet) : 'view incomplete',
  ];
}

/** Why it failed; else what its own rollout waits for. */
function noteOf(
  line: FleetClusterLine | undefined,
  daemonSet: DaemonSetOverview | undefined,
): string {
  if (line?.failure !== undefined) return `${line.failure.cause}: ${line.failure.message}`;
  const { rollout } = daemonSet ?? {};
  if (rollout === undefined || rollout.phase === 'Done') return '';
  return `${rollout.phase}: ${rollout.summary}`;
}
