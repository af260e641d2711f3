/**
 * What every implementation of the store of fleets' rollouts must do: run against the one in memory and against the DynamoDB
 * adapter, so that the double and the real thing agree (M4).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { FleetClusterRecord, FleetRecord } from '../../src/core/fleet/rollout/fleet-record.ts';
import type { KeptLook } from '../../src/core/fleet/rollout/tally-stage.ts';
import { clusterId, clusterUid, nodeName } from '../../src/core/model/identifiers.ts';
import type { ClusterId } from '../../src/core/model/identifiers.ts';
import { MEMBERS_PER_PAGE } from '../../src/ports/stores/fleet-rollout-store.ts';
import type { FleetRolloutStore } from '../../src/ports/stores/fleet-rollout-store.ts';
import { poolOf } from './fleet-pools.ts';
import { freshName } from './store-suite.ts';

const RELEASE = {
  generation: 2,
  documentId: 'document',
  appliedAtMs: 1000,
  appliedBy: 'somebody',
  contentHash: 'content',
};

/** A record that was never written, with every field that it may have. */
export function wholeFleetRecord(name: string): Required<FleetRecord> {
  const note = { by: 'somebody', atMs: 7 };
  const breach = {
    cause: 'ClustersFailed',
    atMs: 7,
    message: 'one of three failed',
    clusters: [clusterId('one')],
  } as const;
  return {
    namespace: 'suite',
    name,
    uid: `uid-of-${name}`,
    version: 0,
    release: RELEASE,
    startedAtMs: 1,
    stage: -1,
    stageOpenedAtMs: 2,
    wellSinceMs: 3,
    progressedAtMs: 4,
    stages: [{ name: 'first', members: { id: 'list', count: 3 }, namesNobody: true }],
    ring: { id: '', count: 0 },
    registryRevision: 5,
    dealtAtMs: 6,
    untouchedClusters: 0,
    ringDueAtMs: 6,
    driftDueAtMs: 6,
    drifted: { count: 1, clusters: [clusterId('two')] },
    pool: poolOf(),
    breach,
    good: [
      { ...RELEASE, id: RELEASE.contentHash, goodAtMs: 8, isBaseline: false },
      { ...RELEASE, generation: 1, id: 'former', goodAtMs: 7, isBaseline: false, leftAtMs: 8 },
    ],
    isReturn: true,
    older: 'too-old',
    refused: [{ contentHash: 'other', cause: 'NodesFailed', atMs: 9 }],
    orders: {
      paused: note,
      approved: { ...note, stepIndex: 2 },
      resumed: { ...note, breach, why: 'a reason' },
      undo: note,
    },
    untold: [
      { id: 'id', kind: 'cluster-failed', atMs: 9, message: 'm', cluster: clusterId('one') },
    ],
    gate: { kind: 'frozen', by: 'somebody', why: 'a reason' },
    counts: {
      waiting: 1,
      rolling: 2,
      well: 3,
      failed: 4,
      offline: 5,
      untouched: 6,
      returning: 7,
    },
    dueAtMs: 10,
  };
}

const wholeLook: Required<KeptLook> = {
  cluster: clusterId('one'),
  atMs: 7,
  kind: 'offline',
  phase: 'rolling',
  ratios: [0, 0, 0, 0],
};

/** The same of a cluster. */
export function wholeClusterRecord(cluster: string): Required<FleetClusterRecord> {
  return {
    cluster: clusterId(cluster),
    clusterUid: clusterUid(`uid-of-${cluster}`),
    version: 0,
    place: 'ring',
    generation: 2,
    contentHash: 'content',
    hash: 'hash',
    openedAtMs: 1,
    appliedGeneration: 3,
    isPartial: false,
    isUngated: true,
    phase: 'failed',
    wellSinceMs: 4,
    failure: { cause: 'Halted/StartFailure', message: 'm', atMs: 5, nodes: [nodeName('n')] },
    nodes: { updated: 0, desired: 3 },
    reverts: { count: 2, sinceMs: 6, by: 'argocd-controller' },
    attempts: 1,
    dueAtMs: 7,
  };
}

/** Tests of a store of rollouts; call inside a describe block. */
export function testFleetRolloutStore(store: () => FleetRolloutStore): void {
  it('gives back a record as it was written, one version on', async () => {
    const record = wholeFleetRecord(freshName('fleet'));
    assert.equal(await store().readRecord(record), undefined);
    assert.equal(await store().writeRecord(record), 'written');
    assert.deepEqual(await store().readRecord(record), { ...record, version: 1 });
  });

  it('writes a record only over the one that was read, and of several at once lets one', async () => {
    const record = wholeFleetRecord(freshName('fleet'));
    assert.equal(await store().writeRecord({ ...record, version: 1 }), 'lost', 'there is none');
    await store().writeRecord(record);
    assert.equal(await store().writeRecord(record), 'lost');
    const outcomes = await Promise.all(
      [1, 2, 3].map((stage) => store().writeRecord({ ...record, version: 1, stage })),
    );
    assert.deepEqual([...outcomes].sort(), ['lost', 'lost', 'written']);
    const stored = await store().readRecord(record);
    assert.deepEqual([stored?.version, stored?.stage], [2, [1, 2, 3][outcomes.indexOf('written')]]);
    const anew = { ...record, uid: 'another', version: 2 };
    assert.equal(await store().writeRecord(anew), 'lost', 'of another uid');
  });

  it('lists records in the order of their names, page by page', async () => {
    const names = Array.from({ length: 5 }, () => freshName('listed'));
    for (const name of names) await store().writeRecord(wholeFleetRecord(name));
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().listRecords({
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      assert.ok(page.records.length <= 2);
      found.push(...page.records.map(({ name }) => name));
      ({ cursor } = page);
    } while (cursor !== undefined);
    assert.deepEqual(found, [...found].sort());
    assert.deepEqual(
      found.filter((name) => names.includes(name)),
      [...names].sort(),
    );
  });

  testMembers(store);
  testClusterRecords(store);
  testLooks(store);
  testRemovals(store);
}

function idsOf(count: number): readonly ClusterId[] {
  return Array.from({ length: count }, (_, index) => clusterId(`c-${String(index)}`));
}

function testMembers(store: () => FleetRolloutStore): void {
  it('gives back a list in its order, by pages, and says so where a page is missing', async () => {
    const record = wholeFleetRecord(freshName('fleet'));
    const ids = idsOf(MEMBERS_PER_PAGE + 3);
    const list = await store().writeMembers(record, ids);
    assert.equal(list.count, ids.length);
    const pages = [0, 1, 2].map((page) => store().readMembers(record, list, page));
    const [first, second, third] = await Promise.all(pages);
    assert.deepEqual(first, ids.slice(0, MEMBERS_PER_PAGE));
    assert.deepEqual(second, ids.slice(MEMBERS_PER_PAGE));
    assert.deepEqual(third, []);
    await assert.rejects(store().readMembers(record, { ...list, id: 'none' }, 0));
    await assert.rejects(
      store().readMembers(record, { ...list, count: ids.length + 1 }, 1),
      'a list that is shorter than it must be',
    );
    await assert.rejects(store().readMembers({ ...record, uid: 'another' }, list, 0));
  });

  it('has nothing to read of an empty list', async () => {
    const record = wholeFleetRecord(freshName('fleet'));
    const list = await store().writeMembers(record, []);
    assert.deepEqual(list, { id: '', count: 0 });
    assert.deepEqual(await store().readMembers(record, list, 0), []);
  });

  it('removes lists that no record can name any more, and none that one is about to', async () => {
    const record = wholeFleetRecord(freshName('fleet'));
    const ids = idsOf(2);
    const [named, dead] = await Promise.all([1, 2].map(() => store().writeMembers(record, ids)));
    assert.ok(named !== undefined && dead !== undefined);
    // Version 1 names one of them; another step writes a list that version 2 is to name.
    const next = await store().writeMembers({ ...record, version: 1 }, ids);
    await store().removeMembersBut({ ...record, version: 1 }, [named]);
    assert.deepEqual(await store().readMembers(record, named, 0), ids);
    assert.deepEqual(await store().readMembers(record, next, 0), ids);
    await assert.rejects(store().readMembers(record, dead, 0));
  });
}

function testClusterRecords(store: () => FleetRolloutStore): void {
  it('keeps records of clusters, each over the version that was read', async () => {
    const fleet = wholeFleetRecord(freshName('fleet'));
    const [one, two] = [wholeClusterRecord('one'), wholeClusterRecord('two')];
    assert.equal(await store().writeClusterRecord(fleet, one), 'written');
    assert.equal(await store().writeClusterRecord(fleet, one), 'lost');
    assert.equal(await store().writeClusterRecord(fleet, { ...two, version: 1 }), 'lost');
    assert.equal(await store().writeClusterRecord(fleet, { ...two, place: 3 }), 'written');
    assert.equal(
      await store().writeClusterRecord(fleet, { ...one, version: 1, phase: 'well' }),
      'written',
    );
    const asked = ['two', 'none', 'one'].map(clusterId);
    const found = await store().readClusterRecords(fleet, asked);
    assert.deepEqual(Object.fromEntries(found), {
      one: { ...one, version: 2, phase: 'well' },
      two: { ...two, version: 1, place: 3 },
    });
    const anew = await store().readClusterRecords({ ...fleet, uid: 'another' }, asked);
    assert.equal(anew.size, 0, 'nothing of this is another one of its name');
  });

  it('reads as many as a stage has', async () => {
    const fleet = wholeFleetRecord(freshName('fleet'));
    const last = wholeClusterRecord(`c-${String(MEMBERS_PER_PAGE + 49)}`);
    await store().writeClusterRecord(fleet, last);
    const found = await store().readClusterRecords(fleet, idsOf(MEMBERS_PER_PAGE + 50));
    assert.deepEqual([...found.keys()], [last.cluster]);
  });
}

function testLooks(store: () => FleetRolloutStore): void {
  it('keeps what steps found at clusters, in place of what was found before', async () => {
    const fleet = wholeFleetRecord(freshName('fleet'));
    assert.deepEqual(await store().readLooks(fleet), new Map());
    const looks = idsOf(1000).map((cluster, atMs): KeptLook => ({ cluster, atMs, kind: 'well' }));
    const ratios = [0.5, -1, 0, 2] as const;
    const all = [...looks, { ...wholeLook, ratios }];
    await store().writeLooks(fleet, all);
    assert.deepEqual([...(await store().readLooks(fleet)).values()], all);
    await store().writeLooks(fleet, [wholeLook]);
    assert.deepEqual([...(await store().readLooks(fleet)).values()], [wholeLook]);
    assert.equal((await store().readLooks({ ...fleet, uid: 'another' })).size, 0);
  });
}

function testRemovals(store: () => FleetRolloutStore): void {
  it('removes all of a FleetDaemonSet that is gone, and nothing of the next one of its name', async () => {
    const former = wholeFleetRecord(freshName('fleet'));
    const one = wholeClusterRecord('one');
    await store().writeRecord(former);
    const list = await store().writeMembers(former, [one.cluster]);
    await store().writeClusterRecord(former, one);
    await store().removeRollout({ ...former, uid: 'another' });
    assert.ok((await store().readRecord(former)) !== undefined, 'another uid');
    await store().removeRollout(former);
    await store().removeRollout(former);
    assert.equal(await store().readRecord(former), undefined);
    await assert.rejects(store().readMembers(former, list, 0));
    assert.equal((await store().readClusterRecords(former, [one.cluster])).size, 0);
    const anew = { ...former, uid: 'anew' };
    await store().writeRecord(anew);
    await store().writeClusterRecord(anew, one);
    await store().removeRollout(former);
    assert.deepEqual(await store().readRecord(former), { ...anew, version: 1 });
    assert.equal((await store().readClusterRecords(anew, [one.cluster])).size, 1);
  });
}
