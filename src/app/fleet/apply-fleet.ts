/**
 * Stores a FleetDaemonSet: what was applied before is compared, and replaced by compare-and-set.
 *
 * Before anything is stored it is rendered for every cluster where it is placed, whatever that cluster's mode: one that
 * would be given no DaemonSet refuses the whole. The same document again changes nothing, so an apply may be repeated.
 * Generations that somebody may go back to are kept (fleet-history.ts). Nothing acts on a cluster here: the function `fleet` does.
 */
import { canonicalJson } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { compilePlacement } from '../../core/fleet/choose-clusters.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import { fleetContentHash } from '../../core/fleet/content-hash.ts';
import { fleetRenderer } from '../../core/fleet/render-fleet.ts';
import { nextHistory } from '../../core/fleet/orders/fleet-history.ts';
import type { FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';
import type { FleetRolloutStore } from '../../ports/stores/fleet-rollout-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import type { FleetStore, StoredFleet } from '../../ports/stores/fleet-store.ts';
import { readRegistry } from '../clusters/registry-transfer.ts';
import { releaseOf } from './fleet-release.ts';
import { refuseFleet } from './refusals.ts';
import type { FleetRefusal } from './refusals.ts';

/** Who applies what. */
export interface FleetApplication {
  readonly fleet: FleetDaemonSet;
  readonly document: JsonObject;
  readonly by: string;
  readonly nowMs: number;
}

/** Where it is stored, and for whom. */
export interface ApplySources {
  readonly fleets: FleetStore;
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord'>;
  readonly reader: FleetReader;
  readonly registry: Pick<RegistryStore, 'listClusters' | 'readCluster'>;
  readonly random: Random;
}

/** What came of it. */
export interface AppliedFleet {
  readonly kind: 'created' | 'changed' | 'unchanged';
  readonly generation: number;
  /** Clusters where it is placed. */
  readonly placedClusters: number;
}

/** Applies it. Rejects when a table fails. */
export async function applyFleet(
  { fleet, document, by, nowMs }: FleetApplication,
  sources: ApplySources,
): Promise<AppliedFleet | FleetRefusal> {
  const { namespace, name } = fleet;
  const { fleets, registry, random } = sources;
  const { registrations } = await readRegistry(registry);
  const placed = registrations.filter(compilePlacement(fleet.placement));
  const renderFor = fleetRenderer(fleet);
  const problems = placed.flatMap((registration) => {
    const rendering = renderFor(registration);
    if (rendering.kind === 'rendered') return [];
    return rendering.problems.map((problem) => ({ ...problem, cluster: registration.id }));
  });
  if (problems.length > 0) return refuseFleet('not-renderable', fleet, problems);
  const stored = await fleets.readFleet(fleet);
  const placedClusters = placed.length;
  if (stored !== undefined && canonicalJson(stored.document) === canonicalJson(document)) {
    return { kind: 'unchanged', generation: stored.head.generation, placedClusters };
  }
  const generation = (stored?.head.generation ?? 0) + 1;
  const written = await fleets.writeFleet(
    {
      namespace,
      name,
      uid: stored?.head.uid ?? random.uniqueId(),
      generation,
      appliedAtMs: nowMs,
      appliedBy: by,
      contentHash: fleetContentHash(fleet),
      history: await historyAfter(stored, sources),
      document,
    },
    stored?.head,
  );
  if (written === 'too-large') return refuseFleet('too-large', fleet);
  if (written === 'lost') return refuseFleet('changed', fleet);
  return { kind: stored === undefined ? 'created' : 'changed', generation, placedClusters };
}

/** The generations that are kept once this one is no more the present one. */
async function historyAfter(
  stored: StoredFleet | undefined,
  { rollouts, reader }: Pick<ApplySources, 'rollouts' | 'reader'>,
): Promise<readonly FleetRelease[]> {
  if (stored === undefined) return [];
  const { head } = stored;
  // What is proven is read before the head is written: whatever a step makes of it in between, it names no other.
  const record = await rollouts.readRecord(head);
  return nextHistory(releaseOf(stored, reader), head.history, record);
}
