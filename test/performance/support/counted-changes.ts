/**
 * What changes of a cluster, quiet days and a rollout make the deployment use, counted on virtual time.
 *
 * A fleet of three clusters beside one of one tells a quiet day of a cluster from that of the stack: what only the first
 * one of a fleet pays (the walk of resync) is the stack's. Changes are made
 * a few times, minutes apart; what resync asks in those minutes is the quiet day's.
 */
import assert from 'node:assert/strict';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { imagesOf, setImageOf } from '../../support/model/model-look.ts';
import { ModelWorld, type ModelCluster, type ModelUse } from '../../support/model/model-world.ts';
import { meanUse, onlyOf, usedBetween, withoutResync } from '../../support/model/model-use.ts';
import { CHANGE_KINDS, type ChangeKind } from './cost-model.ts';

const NODES = 10;
const DAEMON_SETS = 10;
const REPEATS = 3;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SETTLE_MS = 30 * MINUTE_MS;
/** Until a rollout of ten pods, one at a time, and all that follows it is over. */
const CHANGE_MS = 5 * MINUTE_MS;

/** What is used of a quiet day by a cluster, and by the stack itself. */
export interface QuietDay {
  readonly cluster: ModelUse;
  readonly stack: ModelUse;
}

/** Quiet days that are drawn otherwise, so that no figure hangs on when things met in one of them. */
const DAYS_COUNTED = 5;

/** A quiet day, the mean of several; and each of them. */
export async function countQuietDays(): Promise<QuietDay & { readonly each: readonly QuietDay[] }> {
  const each: QuietDay[] = [];
  for (let seed = 1; seed <= DAYS_COUNTED; seed += 1) each.push(await countQuietDay({ seed }));
  const meanOf = (of: keyof QuietDay): ModelUse => meanUse(each.map((day) => day[of]));
  return { each, cluster: meanOf('cluster'), stack: meanOf('stack') };
}

/** A quiet day of one cluster, and of the stack itself; so many hours of one, if told. */
export async function countQuietDay({ hours = 24, seed = 1 } = {}): Promise<QuietDay> {
  const one = await hoursOf({ hours, seed }, 1);
  const three = await hoursOf({ hours, seed }, 3);
  const cluster = usedBetween(one, three, 2);
  return { cluster, stack: usedBetween(cluster, one) };
}

async function hoursOf(
  { hours, seed }: { readonly hours: number; readonly seed: number },
  clusters: number,
): Promise<ModelUse> {
  // In a fleet of a thousand no environment is without work for long enough to be gone.
  const world = new ModelWorld({ idleEnvironmentMs: Infinity, seed });
  for (let index = 0; index < clusters; index += 1) await addQuietCluster(world, index);
  return useOver(world, hours * HOUR_MS);
}

async function addQuietCluster(world: ModelWorld, index = 0): Promise<ModelCluster> {
  const spec = { updateStrategy: { type: 'RollingUpdate' } };
  const cluster = await world.add({
    name: `cluster-${String(index)}`,
    nodes: NODES,
    daemonSets: DAEMON_SETS,
    daemonSet: { spec },
  });
  await world.clock.advance(SETTLE_MS);
  assert.equal(cluster.site.api.list('pods').length, NODES * DAEMON_SETS);
  return cluster;
}

async function useOver(world: ModelWorld, durationMs: number): Promise<ModelUse> {
  const before = world.use;
  await world.clock.advance(durationMs);
  world.assertSafe();
  return usedBetween(before, world.use);
}

/** A heartbeat: a cut without changes, which names no key. */
export async function countHeartbeat(): Promise<ModelUse> {
  const world = new ModelWorld();
  await addQuietCluster(world);
  const before = { use: world.use, messages: world.messages };
  // Less than the six hours of a snapshot, so that all messages are heartbeats.
  await world.clock.advance(4 * HOUR_MS);
  const heartbeats = world.messages - before.messages;
  return onlyOf(usedBetween(before.use, world.use, heartbeats), 'ingest');
}

/** One change of each kind. */
export async function countChanges(): Promise<ReadonlyMap<ChangeKind, ModelUse>> {
  const world = new ModelWorld();
  const cluster = await addQuietCluster(world);
  const found = new Map<ChangeKind, ModelUse>();
  for (const kind of CHANGE_KINDS) {
    const before = world.use;
    for (let turn = 1; turn <= REPEATS; turn += 1) {
      change(kind, turn, cluster);
      await world.clock.advance(CHANGE_MS);
    }
    found.set(kind, withoutResync(usedBetween(before, world.use, REPEATS)));
  }
  world.assertSafe();
  return found;
}

/** `turn` makes it another one each time. */
function change(kind: ChangeKind, turn: number, { id, site }: ModelCluster): void {
  const { api, controllers } = site;
  switch (kind) {
    case 'node-change':
      // Which no DaemonSet asks for.
      api.change('nodes', { namespace: '', name: `${id}-0` }, (node) => {
        const labels = { ...node.metadata.labels, 'bench.test/turn': String(turn) };
        return { ...node, metadata: { ...node.metadata, labels } };
      });
      return;
    case 'pod-restart': {
      const pod = api.list('pods')[turn];
      assert.ok(pod !== undefined);
      controllers.deletePod(pod);
      return;
    }
    case 'rollout':
      setImageOf(site, 'agent-2', `agent-2:${String(turn + 1)}`);
  }
}

/** A rollout over a thousand nodes, and how long it took. */
export interface RolloutUse {
  readonly use: ModelUse;
  readonly seconds: number;
}

/** How long pods of the large rollout take; who takes longer makes more messages of as many changes. */
const PACE = { stopMs: [1_000, 3_000], startMs: [2_000, 8_000] } as const;
const ROLLOUT_SECONDS_MAX = 1_800;

/** Rollouts at 10 %, one after the other with a minute between: who takes a release back does not wait ten for it. */
export async function countLargeRollouts(
  nodes: number,
  count: number,
): Promise<readonly RolloutUse[]> {
  const world = new ModelWorld();
  const rollingUpdate = { maxUnavailable: '10%', maxSurge: 0 };
  const { site } = await world.add({
    name: 'large',
    nodes,
    daemonSets: 1,
    daemonSet: { spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate } } },
  });
  const random = seededRandom(1);
  const between = ([fromMs, toMs]: readonly [number, number]): number =>
    fromMs + (toMs - fromMs) * random.next();
  site.controllers.stopDelayMs = () => between(PACE.stopMs);
  site.controllers.startDelayMs = () => between(PACE.startMs);
  await world.clock.advance(10 * MINUTE_MS);
  assert.equal(site.api.list('pods').length, nodes);
  const rollouts: RolloutUse[] = [];
  while (rollouts.length < count) {
    rollouts.push(await countRollout({ world, site }, `agent-0:${String(rollouts.length + 2)}`));
  }
  return rollouts;
}

async function countRollout(
  { world, site }: { readonly world: ModelWorld; readonly site: ModelCluster['site'] },
  image: string,
): Promise<RolloutUse> {
  const before = world.use;
  const nodes = site.api.list('pods').length;
  setImageOf(site, 'agent-0', image);
  let seconds = 0;
  while (imagesOf(site).get(image) !== nodes) {
    assert.ok(seconds < ROLLOUT_SECONDS_MAX, 'the rollout does not end');
    await world.clock.advance(1_000);
    seconds += 1;
  }
  // What follows it.
  await world.clock.advance(MINUTE_MS);
  world.assertSafe();
  return { use: usedBetween(before, world.use), seconds };
}
