/**
 * Whether the daemons of a node still serve, before its start-up taint goes (S19): by a view whose pods were heard of lately, else
 * by live reads of these pods. An idle watcher tells nothing for minutes, and a removal may have been held up for as long.
 */
import type { NodeProjection, PodProjection } from '../../../core/model/projections.ts';
import { projectLivePod } from '../../../core/projections/project.ts';
import { isServing } from '../../../core/start-up/start-up-done.ts';
import { arePodsFresh } from '../../../core/view/freshness.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { ClusterReader } from '../../../ports/cluster/cluster-access.ts';
import type { StepDependencies } from '../process/dependencies.ts';
import type { RunResult } from '../run/result.ts';

/** A node, and a pod of each DaemonSet that it waits for. */
export interface ServedNode {
  readonly node: NodeProjection;
  readonly pods: readonly PodProjection[];
}

/** Nodes that are read live in one run; the next one goes on. */
const NODES_MAX = 50;

/** Those nodes whose pods serve; what is in doubt is noted as a problem. */
export async function confirmStartUps(
  served: readonly ServedNode[],
  by: { readonly meta: ClusterMeta; readonly reader: ClusterReader; readonly result: RunResult },
  { options, clock }: Pick<StepDependencies, 'options' | 'clock'>,
): Promise<readonly NodeProjection[]> {
  const { meta, reader, result } = by;
  const at = { nowMs: clock.nowMs(), withinMs: options.podsFreshMs };
  if (arePodsFresh(meta, at)) return served.map(({ node }) => node);
  const read = served.slice(0, NODES_MAX);
  const confirmed = await Promise.all(
    read.map(async ({ pods }) => {
      const live = await Promise.all(pods.map((pod) => servesLive(pod, reader)));
      return live.every((isLive) => isLive);
    }),
  );
  const nodes = read.flatMap(({ node }, index) => (confirmed[index] === true ? [node] : []));
  if (nodes.length < served.length) {
    const message = 'pods on nodes with a start-up taint are not as they were seen';
    result.add({ code: 'outcome-open', message, pace: 'backoff' });
  }
  return nodes;
}

async function servesLive(
  { namespace, name, uid, boundNode }: PodProjection,
  reader: ClusterReader,
): Promise<boolean> {
  const live = await reader.getPod({ namespace, name });
  if (live.kind !== 'found') return false;
  const pod = projectLivePod(live.object);
  return pod.uid === uid && pod.boundNode === boundNode && isServing(pod);
}
