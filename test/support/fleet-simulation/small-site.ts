/** A few clusters alike, for stories of fleets: named a to z, ten nodes each, quick canaries. */
import type { JsonObject } from '@rollcall/base/json.ts';
import { Dice } from '../simulation/dice.ts';
import { FleetSite, KIND_SITE, type SiteFaults } from './fleet-site.ts';
import type { ClusterTraits, ModelCluster } from './model-cluster.ts';

/** One of them. */
export function traitsOf(id: string, changes: Partial<ClusterTraits> = {}): ClusterTraits {
  return {
    id,
    labels: {},
    mode: 'takeover',
    nodes: 10,
    canaryMs: 120_000,
    nodesPerMinute: 100,
    lagMs: 0,
    ...changes,
  };
}

/** Three stages without a long wait: one cluster, then two, then the rest. */
export const QUICK: JsonObject = {
  placement: { all: true },
  strategy: {
    stages: [
      { name: 'canary', clusters: 1 },
      { name: 'early', clusters: 2 },
    ],
    soak: '5m',
    maxConcurrency: '50%',
  },
};

/** The same with other words of strategy. */
export function quickly(strategy: JsonObject): JsonObject {
  return { ...QUICK, strategy: { ...(QUICK['strategy'] as JsonObject), ...strategy } };
}

/** A site whose first release, agent:1, is out. */
export async function openSite(
  traits: readonly ClusterTraits[],
  spec: JsonObject = QUICK,
  faults: SiteFaults = KIND_SITE,
): Promise<FleetSite> {
  const site = new FleetSite(traits, new Dice(7), KIND_SITE);
  await site.open();
  await site.release('agent:1', spec);
  await site.until('the first release is out', () => isDone(site, 'agent:1'));
  site.faults = faults;
  return site;
}

/** So many of them. */
export function many(
  count: number,
  changes: Partial<ClusterTraits> = {},
): readonly ClusterTraits[] {
  return Array.from({ length: count }, (_, index) =>
    traitsOf(`c${String(index).padStart(3, '0')}`, changes),
  );
}

/** True once this release passed all stages. */
export function isDone(site: FleetSite, image: string): boolean {
  return site.image === image && site.record?.gate.kind === 'done';
}

/** True once this release was halted. */
export function isHalted(site: FleetSite, image: string): boolean {
  return site.image === image && site.record?.breach !== undefined;
}

/** Clusters that hold an image. */
export function holding(site: FleetSite, image: string): readonly ModelCluster[] {
  return site.clusters.filter((cluster) => cluster.image === image);
}

/** Lets so many turns pass. */
export async function turns(site: FleetSite, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await site.turn();
}

/** A site of twelve clusters of which nine were out of reach while `agent:2` went out, and now come back at once. */
export async function openReturning(spec: JsonObject): Promise<FleetSite> {
  const site = await openSite(many(12), spec);
  for (const one of site.clusters.slice(3)) one.isOffline = true;
  await turns(site, 20);
  await site.release('agent:2', spec);
  await site.until('it is out', () => isDone(site, 'agent:2'), 200);
  for (const one of site.clusters) one.isOffline = false;
  return site;
}
