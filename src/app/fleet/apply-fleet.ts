/**
 * Stores a FleetDaemonSet by compare-and-set, once it renders for every cluster where it is placed.
 * One cluster that can be given no DaemonSet refuses the whole. The same document changes nothing.
 * Nothing acts on a cluster here: the function `fleet` does.
 */
import { isSameJson, type JsonObject } from '@rollcall/base/json.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { compilePlacement } from '../../core/fleet/choose-clusters.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import { fleetContentHash, fleetRenderer, renderForMode } from '../../core/fleet/render-fleet.ts';
import { releaseOf } from '../../core/fleet/rollout/begin-rollout.ts';
import type { FleetRecord, FleetRelease } from '../../core/fleet/rollout/fleet-record.ts';
import type { FleetReader } from '../../ports/fleet-reader.ts';
import type {
  FleetRolloutStore,
  FleetStore,
  StoredFleet,
} from '../../ports/stores/fleet-rollout-store.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { readRegistry } from '../clusters/read-registry.ts';
import { refuseFleet, type FleetRefusal } from './refusals.ts';

interface FleetApplication {
  readonly fleet: FleetDaemonSet;
  readonly document: JsonObject;
  readonly by: string;
  readonly nowMs: number;
  /** Everything but storing it. */
  readonly isDryRun?: boolean;
}

interface ApplySources {
  readonly fleets: FleetStore;
  readonly rollouts: Pick<FleetRolloutStore, 'readRecord'>;
  readonly reader: FleetReader;
  readonly registry: Pick<RegistryStore, 'listClusters' | 'readCluster'>;
  readonly random: Random;
  /** Asked before it is stored, once it is known to be another than is stored. */
  readonly check?: () => Promise<FleetRefusal | undefined>;
}

/** Result of an apply. */
export interface AppliedFleet {
  readonly kind: 'created' | 'changed' | 'unchanged';
  readonly generation: number;
  readonly placedClusters: number;
}

/** Applies it. Rejects when a table fails. */
export async function applyFleet(
  application: FleetApplication,
  sources: ApplySources,
): Promise<AppliedFleet | FleetRefusal> {
  const { fleet, document, isDryRun = false } = application;
  const placed = await renderPlaced(fleet, sources);
  if (typeof placed !== 'number') return placed;
  const stored = await sources.fleets.readFleet(fleet);
  const isSame = stored !== undefined && isSameJson(stored.document, document);
  const unchanged = isSame
    ? ({
        kind: 'unchanged',
        generation: stored.head.generation,
        placedClusters: placed,
      } as const)
    : undefined;
  // A dry run is about the clusters, whatever is stored.
  if (unchanged !== undefined && !isDryRun) return unchanged;
  const refusal = await sources.check?.();
  if (refusal !== undefined) return refusal;
  if (unchanged !== undefined) return unchanged;
  return storeFleet({ application, stored, placedClusters: placed }, sources);
}

/** On how many clusters it is placed, or why it is no DaemonSet in some of them. */
async function renderPlaced(
  fleet: FleetDaemonSet,
  { registry }: Pick<ApplySources, 'registry'>,
): Promise<number | FleetRefusal> {
  const { registrations } = await readRegistry(registry);
  const placed = registrations.filter(compilePlacement(fleet.placement));
  const renderFor = fleetRenderer(fleet);
  const problems = placed.flatMap((registration) => {
    const rendering = renderForMode(renderFor(registration), registration.mode);
    if (rendering.kind === 'rendered') return [];
    return rendering.problems.map((problem) => ({ ...problem, cluster: registration.id }));
  });
  return problems.length > 0 ? refuseFleet('not-renderable', fleet, problems) : placed.length;
}

interface Storing {
  readonly application: FleetApplication;
  readonly stored: StoredFleet | undefined;
  readonly placedClusters: number;
}

async function storeFleet(
  { application, stored, placedClusters }: Storing,
  sources: ApplySources,
): Promise<AppliedFleet | FleetRefusal> {
  const { fleet, document, by, nowMs, isDryRun = false } = application;
  const { namespace, name } = fleet;
  const generation = (stored?.head.generation ?? 0) + 1;
  const applied: AppliedFleet = {
    kind: stored === undefined ? 'created' : 'changed',
    generation,
    placedClusters,
  };
  if (isDryRun) return applied;
  const written = await sources.fleets.writeFleet(
    {
      namespace,
      name,
      uid: stored?.head.uid ?? sources.random.uniqueId(),
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
  return applied;
}

/** The generations that are kept once this one is no more the present one. */
async function historyAfter(
  stored: StoredFleet | undefined,
  { rollouts }: Pick<ApplySources, 'rollouts'>,
): Promise<readonly FleetRelease[]> {
  if (stored === undefined) return [];
  const { head } = stored;
  // The proven release is read before the head is written: a step in between names no other.
  const record = await rollouts.readRecord(head);
  return nextHistory(releaseOf(head), head.history, record);
}

/** Generations whose documents are kept, with the one that is applied. */
export const GENERATIONS_KEPT = 10;

/** The generations before the next one, the newest first: `present` was applied last, `history` before it. */
export function nextHistory(
  present: FleetRelease,
  history: readonly FleetRelease[],
  record: Pick<FleetRecord, 'release' | 'good'> | undefined,
): readonly FleetRelease[] {
  const named = record === undefined ? [] : [record.release, ...record.good];
  const kept = new Set(named.map((release) => release.documentId));
  return [present, ...history].filter(
    ({ documentId }, index) => index < GENERATIONS_KEPT - 1 || kept.has(documentId),
  );
}
