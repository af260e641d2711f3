/**
 * What a step of a fleet reads and writes, by the size of its open stage: counted with the real steps over model clusters.
 *
 * The dealing out at the beginning costs the fleet, and is counted apart. Counts do not depend on the machine.
 */
import { Dice } from '../simulation/dice.ts';
import { FleetSite, KIND_SITE } from './fleet-site.ts';
import { many } from './small-site.ts';

/** Of the turns of one stage. */
export interface StageCosts {
  readonly stage: string;
  readonly clusters: number;
  readonly turns: number;
  /** Mean of a turn. */
  readonly tableReads: number;
  readonly viewReads: number;
  readonly writes: number;
  readonly requests: number;
}

const VIEW = ['readMeta', 'readName', 'readDaemonSet', 'readState', 'readSlice'];
const WRITES = ['writeRecord', 'writeMembers', 'writeClusterRecord', 'removeMembersBut'];
const REQUESTS = ['connect', 'getDaemonSet', 'applyDaemonSet'];

/** Nodes of each cluster: enough to be no small one. */
const NODES = 10;

/** Plays the stages of these sizes among so many registered clusters of so many nodes. */
export async function measureSteps(
  clusters: number,
  sizes: readonly number[],
  nodes = NODES,
): Promise<readonly StageCosts[]> {
  const site = new FleetSite(many(clusters, { nodes }), new Dice(1), KIND_SITE);
  await site.open();
  const stages = sizes.map((size) => ({ name: `of-${String(size)}`, clusters: size }));
  const strategy = { stages, soak: '10m', maxConcurrency: '10%', approval: 'after' };
  await site.release('agent:1', { placement: { all: true }, strategy });
  await site.turn();
  const dealt = costsOf(site, { stage: 'dealing out', clusters, turns: 1 });
  const costs = [dealt];
  for (const size of sizes) {
    site.items.clear();
    // Opened by the agreement to the one before; over when it asks for its own.
    if (costs.length > 1) await site.order('approve');
    await site.turn();
    const turns = await site.until('the stage passed', () => isAsking(site), 600);
    costs.push(
      costsOf(site, { stage: `stage of ${String(size)}`, clusters: size, turns: turns + 1 }),
    );
  }
  return costs;
}

function isAsking({ record }: FleetSite): boolean {
  return record?.gate.kind === 'approval';
}

type Of = Pick<StageCosts, 'stage' | 'clusters' | 'turns'>;

function costsOf({ items }: FleetSite, of: Of): StageCosts {
  const mean = (isOf: (operation: string) => boolean): number =>
    [...items].reduce((sum, [operation, count]) => sum + (isOf(operation) ? count : 0), 0) /
    Math.max(1, of.turns);
  const known = [...VIEW, ...WRITES, ...REQUESTS];
  return {
    ...of,
    tableReads: mean((operation) => !known.includes(operation)),
    viewReads: mean((operation) => VIEW.includes(operation)),
    writes: mean((operation) => WRITES.includes(operation)),
    requests: mean((operation) => REQUESTS.includes(operation)),
  };
}
