/**
 * The block of a fleet in the live table of `npm start`: its stages, what it waits for, and one line for each cluster (issue 18).
 *
 * Pure text from the record of the fleet, its clusters' records and the overviews of the clusters. Names and messages are what clusters
 * say: control characters are taken out. The words are those of `rollcall fleet status`.
 */
import { fleetPhaseOf, summarizeFleet } from '../../../core/fleet/orders/describe-fleet.ts';
import type { FleetRecord } from '../../../core/fleet/rollout/fleet-record.ts';
import { shownStages } from '../../../app/fleet/rollout/fleet-status.ts';
import { tallyStages } from '../../../app/fleet/rollout/list-clusters.ts';
import type { FleetClusterLine } from '../../../app/fleet/rollout/list-clusters.ts';
import type { ClusterOverview, DaemonSetOverview } from '../../../engine/overview.ts';
import { stageLines } from '../../rollout/render-status.ts';
import { plainText, renderTextTable } from '../../command-line/text-table.ts';

/** What is shown. */
export interface ShownFleet {
  readonly record: FleetRecord;
  readonly clusters: readonly FleetClusterLine[];
  readonly overviews: readonly ClusterOverview[];
  readonly nowMs: number;
}

const CLUSTER_HEADINGS = ['CLUSTER', 'STAGE', 'STATE', 'NODES', 'READY', 'UP-TO-DATE', 'NOTE'];

/** Its lines, without a trailing newline. */
export function renderFleet({ record, clusters, overviews, nowMs }: ShownFleet): string[] {
  const { namespace, name, release } = record;
  const title = `fleet ${namespace}/${name}  generation ${String(release.generation)}  ${fleetPhaseOf(record)}`;
  const rows = overviews.map((overview) => clusterRow(overview, record, clusters));
  return [
    plainText(title),
    `  ${plainText(summarizeFleet(record))}${soakLeft(record, nowMs)}`,
    ...stageLines(tallyStages(shownStages(record), clusters)).map((line) => `  ${line}`),
    ...renderTextTable(CLUSTER_HEADINGS, rows),
  ];
}

function soakLeft({ gate }: FleetRecord, nowMs: number): string {
  if (gate.kind !== 'soaking') return '';
  const seconds = Math.max(0, Math.ceil((gate.untilMs - nowMs) / 1000));
  return `, ${String(seconds)} s left`;
}

function clusterRow(
  { cluster, daemonSets, isViewComplete }: ClusterOverview,
  record: FleetRecord,
  clusters: readonly FleetClusterLine[],
): readonly string[] {
  const { namespace, name } = record;
  const line = clusters.find((one) => one.cluster === cluster);
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
