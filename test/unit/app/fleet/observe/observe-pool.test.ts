// The look at small clusters of the open stage: who is read, what is not seen, and when nobody is asked.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { observePool } from '../../../../../src/app/fleet/observe/observe-pool.ts';
import type { ObservedClusters } from '../../../../../src/app/fleet/observe/observe-clusters.ts';
import type { FleetRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import type { ObservedPool } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../../../../src/core/model/projections.ts';
import type { ClusterRegistration } from '../../../../../src/core/model/registration.ts';
import { BREACH } from '../../../../support/fleet-record-samples.ts';
import { clusterRecordOf, fleetRecordOf, seenOf } from '../../../../support/fleet-records.ts';
import { poolOf } from '../../../../support/fleet-pools.ts';
import { NOW_MS, nodesOf } from '../../../../support/fleet-samples.ts';

interface Place {
  readonly registration?: Partial<ClusterRegistration>;
  readonly meta?: object | 'throws';
  readonly nodes?: readonly NodeProjection[];
}

/** Clusters c0 to c<count - 1>, of which c0 was given it. */
class Stage {
  readonly reads: string[] = [];
  readonly log = new MemoryLog();
  readonly given = new Set(['c0']);
  readonly places = new Map<string, Place>();
  order: Parameters<typeof observePool>[0]['order'] = [];
  readonly #count: number;

  constructor(count: number) {
    this.#count = count;
  }

  async look(changes: Partial<FleetRecord> = {}): Promise<ObservedPool | undefined> {
    const ids = Array.from({ length: this.#count }, (_, index) => clusterId(`c${String(index)}`));
    const records = new Map([...this.given].map((id) => [clusterId(id), clusterRecordOf(id)]));
    const open: ObservedClusters = {
      seen: seenOf([]),
      listed: ids,
      records,
      reachable: [],
      again: [],
      changed: [],
      offline: [],
    };
    const list = { id: 'list-early', count: this.#count };
    const record = fleetRecordOf({ stage: 1, ...changes });
    return observePool({ record, order: this.order, list, open }, this.#sources());
  }

  #sources(): Parameters<typeof observePool>[1] {
    const of = (uid: string): Place => this.places.get(uid.replace('uid-of-', '')) ?? {};
    const sources = {
      clock: { nowMs: () => NOW_MS },
      log: this.log,
      registry: {
        readCluster: (id: string) => {
          this.reads.push(`registration ${id}`);
          const plain = { id, clusterUid: `uid-of-${id}`, mode: 'takeover', isFrozen: false };
          const rest = { labels: {}, authentication: { kind: 'bearer' } };
          return Promise.resolve({ ...plain, ...rest, ...of(id).registration });
        },
      },
      view: {
        readMeta: (uid: string) => {
          const { meta = {} } = of(uid);
          if (meta === 'throws') return Promise.reject(new Error('throttled'));
          return Promise.resolve({
            isComplete: true,
            sliceCount: 1,
            lastSentAtMs: NOW_MS,
            ...meta,
          });
        },
        readSlice: ({ clusterUid }: { readonly clusterUid: string }) => {
          this.reads.push(`slice ${clusterUid}`);
          const { nodes = nodesOf(2) } = of(clusterUid);
          return Promise.resolve({ objects: nodes.map((object) => ({ object, hash: 1 })) });
        },
      },
    };
    // Of registrations, META and slices only what a look reads.
    return sources as unknown as Parameters<typeof observePool>[1];
  }
}

const membersOf = (seen: ObservedPool | undefined): readonly string[] => [...(seen?.members ?? [])];

describe('observePool', () => {
  it('begins with the small ones that can be seen, and leaves out all others', async () => {
    const stage = new Stage(9);
    stage.places.set('c1', { nodes: nodesOf(10) });
    stage.places.set('c2', { meta: { sliceCount: 4 } });
    stage.places.set('c3', { meta: { isComplete: false } });
    stage.places.set('c4', { meta: { lastSentAtMs: NOW_MS - 900_000 } });
    stage.places.set('c5', { registration: { mode: 'observe' } });
    stage.places.set('c6', { meta: 'throws' });
    const seen = await stage.look();
    assert.deepEqual(membersOf(seen), ['c0', 'c7', 'c8']);
    assert.deepEqual(seen?.pool.counts, { givenNodes: 2, givenBad: 0, otherNodes: 4, otherBad: 0 });
    assert.equal(stage.log.at('error').length, 1);
  });

  it('counts a node that turned not Ready since, by side', async () => {
    const stage = new Stage(10);
    const began = await stage.look();
    assert.ok(began);
    stage.places.set('c0', { nodes: nodesOf(2).map((node) => ({ ...node, isReady: false })) });
    const pool = { ...began.pool, startedAtMs: NOW_MS - 60_000 };
    const seen = await stage.look({ pool });
    assert.deepEqual(seen?.pool.failed, ['c0']);
    assert.equal(seen?.pool.counts.givenBad, 2);
  });

  it('reads nothing where all were given it, or none was, and keeps what was found', async () => {
    const stage = new Stage(4);
    const pool = poolOf({ places: [0, 1, 2, 3] });
    stage.given.clear();
    assert.equal((await stage.look({ pool }))?.pool, pool);
    for (const id of ['c0', 'c1', 'c2', 'c3']) stage.given.add(id);
    assert.equal((await stage.look({ pool }))?.pool, pool);
    assert.deepEqual(stage.reads, []);
  });

  it('is none of a stage of one cluster', async () => {
    const stage = new Stage(1);
    assert.equal(await stage.look(), undefined);
    assert.deepEqual(stage.reads, []);
  });

  it('asks a hundred clusters of a stage of thousands', async () => {
    const stage = new Stage(3000);
    const seen = await stage.look();
    assert.deepEqual([seen?.members.size, stage.reads.length], [100, 200]);
  });

  it('begins with others where the stage was dealt anew, and goes on from what was found', async () => {
    const seen = await new Stage(4).look({ pool: poolOf({ listId: 'former' }) });
    assert.equal(seen?.pool.listId, 'list-early');
    assert.deepEqual(seen.pool.logRatios, poolOf().logRatios);
  });

  it('forgets what was found before somebody took the rollout up again', async () => {
    const resumed = { by: 'ann', atMs: NOW_MS, breach: BREACH };
    const seen = await new Stage(4).look({ pool: poolOf(), orders: { resumed } });
    assert.deepEqual(seen?.pool.logRatios, [0, 0, 0, 0]);
    const earlier = { ...resumed, atMs: poolOf().startedAtMs - 1 };
    const kept = await new Stage(4).look({ pool: poolOf(), orders: { resumed: earlier } });
    assert.notDeepEqual(kept?.pool.logRatios, [0, 0, 0, 0]);
  });

  it('compares no clusters that the order sends one after the other', async () => {
    const stage = new Stage(4);
    stage.order = [{ label: 'region', values: ['eu'], isLast: false }];
    stage.places.set('c0', { registration: { labels: { region: 'eu' } } });
    const began = await stage.look();
    assert.ok(began);
    const dead = nodesOf(2).map((node) => ({ ...node, isReady: false }));
    stage.places.set('c0', { registration: { labels: { region: 'eu' } }, nodes: dead });
    const pool = { ...began.pool, startedAtMs: NOW_MS - 60_000 };
    const seen = await stage.look({ pool });
    assert.deepEqual([seen?.pool.counts.givenBad, seen?.pool.logRatios], [2, [0, 0, 0, 0]]);
  });

  it('takes a cluster that was rebuilt since for one that waits', async () => {
    const stage = new Stage(3);
    stage.places.set('c0', { registration: { clusterUid: clusterUid('another') } });
    const seen = await stage.look();
    assert.deepEqual([seen?.pool.counts.givenNodes, seen?.pool.counts.otherNodes], [0, 6]);
  });
});
