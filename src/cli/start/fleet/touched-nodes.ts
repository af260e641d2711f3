/**
 * How many nodes of each cluster ran the release that is rolled out in stages, at most: what a bad one did before it was halted (issue 18).
 *
 * Counted from the status of the DaemonSet of exactly the generation that the cluster was given, as long as the cluster is not on its way
 * back; a status of before says nothing. Only what was seen counts, so it is a lower bound.
 */
import type { FleetClusterLine } from '../../../app/fleet/rollout/list-clusters.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { ClusterOverview } from '../../../engine/overview.ts';

const GIVEN: ReadonlySet<FleetClusterLine['phase']> = new Set(['rolling', 'well', 'failed']);
/** The DaemonSet that was proven first, as it was created. */
const FIRST_GENERATION = 1;

/** The most that was seen. */
export class TouchedNodes {
  readonly #key: FleetKey;
  readonly #most = new Map<string, number>();

  constructor({ namespace, name }: FleetKey) {
    this.#key = { namespace, name };
  }

  /** Looks once more. */
  note(overviews: readonly ClusterOverview[], clusters: readonly FleetClusterLine[]): void {
    const given = new Set<string>(
      clusters.filter(({ phase }) => GIVEN.has(phase)).map(({ cluster }) => cluster),
    );
    for (const { cluster, daemonSets } of overviews) {
      if (!given.has(cluster)) continue;
      const daemonSet = daemonSets.find(
        ({ namespace, name }) => namespace === this.#key.namespace && name === this.#key.name,
      );
      const { generation = 0, observedGeneration, upToDate = 0 } = daemonSet ?? {};
      const isOfIt = generation > FIRST_GENERATION && observedGeneration === generation;
      const before = this.#most.get(cluster) ?? 0;
      this.#most.set(cluster, Math.max(before, isOfIt ? upToDate : 0));
    }
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#most);
  }
}
