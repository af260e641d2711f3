/**
 * A day in which nothing happens, on virtual time: what `resync` alone asks of tables and queues.
 *
 * 1,440 ticks over stores in memory, whose calls are counted. A fleet of two clusters beside one of one tells the
 * share of a cluster from that of the stack (the walk's item, the directory, the invocations). Each call is billed
 * as one unit: registrations, META, names and states of a quiet cluster of ten DaemonSets are below 4 KiB and 1 KiB. The
 * looks that the hints lead to are counted apart.
 */
import { resyncClusters } from '../../../src/app/resync/resync.ts';
import { defaultResyncOptions } from '../../../src/app/resync/dependencies.ts';
import { clusterId, clusterUid, uid } from '../../../src/core/model/identifiers.ts';
import { ReconcileWorld } from '../../support/reconcile-world.ts';
import { stampAt } from '../../support/store-suite.ts';

const DAY_MS = 86_400_000;
const TICK_MS = 60_000;
const KEYS = 10;
const HINTS_PER_REQUEST = 10;

/** What a day costs. */
export interface DayUse {
  readonly sqsRequests: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly invocations: number;
  /** Keys that were hinted: each is one look more. */
  readonly hints: number;
}

/** A quiet day of one cluster, and of the stack itself. */
export async function countQuietDay(): Promise<{
  readonly cluster: DayUse;
  readonly stack: DayUse;
}> {
  const one = await dayOf(1);
  const two = await dayOf(2);
  const cluster = combine(two, one, (left, right) => left - right);
  return { cluster, stack: combine(one, cluster, (left, right) => left - right) };
}

async function dayOf(clusters: number): Promise<DayUse> {
  const world = new ReconcileWorld({ nodes: 1 });
  const { registry, view, connector, queue, clock, log, metrics, dependencies } = world;
  await world.mirror.sync();
  const meta = await view.readMeta(world.registration.clusterUid);
  if (meta === undefined) throw new Error('nothing was mirrored');
  await registry.removeCluster(world.registration.id, 1);
  for (let index = 0; index < clusters; index += 1) {
    const owner = clusterUid(`uid-${String(index)}`);
    registry.seed({
      ...world.registration,
      id: clusterId(`c${String(index)}`),
      clusterUid: owner,
    });
    await view.writeMeta({ ...meta, clusterUid: owner, version: 0 });
    for (let key = 0; key < KEYS; key += 1) {
      const name = `set-${String(key)}`;
      const item = { namespace: 'system', name, uid: uid(`u-${name}`), stamp: stampAt(1) };
      await view.writeName(owner, item);
    }
  }
  const { random } = dependencies;
  const options = defaultResyncOptions;
  const ports = { registry, view, connector, queue, clock, random, log, metrics, options };
  const tick = () => resyncClusters({ deadlineMs: clock.monotonicMs() + 20_000 }, ports);
  await tick();
  for (const calls of [registry.calls, view.calls, queue.sends]) calls.length = 0;
  for (let elapsedMs = 0; elapsedMs < DAY_MS; elapsedMs += TICK_MS) {
    await clock.advance(TICK_MS);
    await tick();
  }
  const calls = [...registry.calls, ...view.calls];
  const writes = calls.filter(({ isWrite }) => isWrite).length;
  const sent = queue.sends.map(({ keys }) => keys.length);
  return {
    sqsRequests: sent.reduce((sum, keys) => sum + Math.ceil(keys / HINTS_PER_REQUEST), 0),
    readUnits: calls.length - writes,
    writeUnits: writes,
    invocations: DAY_MS / TICK_MS,
    hints: sent.reduce((sum, keys) => sum + keys, 0),
  };
}

function combine(left: DayUse, right: DayUse, of: (left: number, right: number) => number): DayUse {
  return {
    sqsRequests: of(left.sqsRequests, right.sqsRequests),
    readUnits: of(left.readUnits, right.readUnits),
    writeUnits: of(left.writeUnits, right.writeUnits),
    invocations: of(left.invocations, right.invocations),
    hints: of(left.hints, right.hints),
  };
}
