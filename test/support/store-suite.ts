/**
 * What every implementation of the view store and the registry must do: run against the in-memory
 * stores and against the DynamoDB adapters, so that the fakes and the real thing agree (M4).
 *
 * Each test uses ids of its own: the suite needs no empty table.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  clusterId,
  clusterUid,
  epoch,
  incarnation,
  nodeName,
  resourceVersion,
  uid,
} from '../../src/core/model/identifiers.ts';
import { ZERO_STAMP, stampOf, type Stamp } from '../../src/core/model/position.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { emptyState } from '../../src/core/model/state.ts';
import type { ClusterMeta, NameItem, Slice } from '../../src/core/model/view-items.ts';
import { EMPTY_HASHES } from '../../src/core/projections/set-hash.ts';
import type { RegistryRevisionStore } from '../../src/ports/stores/fleet-rollout-store.ts';
import type { RegistryStore } from '../../src/ports/stores/registry-store.ts';
import type { ViewStore } from '../../src/ports/stores/view-store.ts';
import { testRefusals } from './refusal-suite.ts';

let counter = 0;

/** A name that no other test of this process uses. */
export function freshName(prefix: string): string {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** The stamp of message `seq` of one watcher. */
export function stampAt(seq: number): Stamp {
  return stampOf({ era: 1, epoch: epoch('100'), incarnation: incarnation('i1'), seq });
}

/** A slice of `count` nodes. */
export function sliceOf(stamp: Stamp, count: number): Slice {
  const objects = Array.from({ length: count }, (_, index) => ({
    object: {
      kind: 'Node' as const,
      name: nodeName(`node-${index}`),
      uid: uid(`uid-${index}`),
      resourceVersion: resourceVersion(String(1000 + index)),
      labels: { 'kubernetes.io/hostname': `node-${index}` },
      taints: [],
      unschedulable: false,
      isReady: true,
      isTerminating: false,
    },
    hash: 2 ** 47 + index,
  }));
  return { stamp, objects };
}

/** META of a cluster that was never written. */
export function metaOf(cluster: string): ClusterMeta {
  return {
    version: 0,
    clusterUid: clusterUid(cluster),
    era: 1,
    epoch: epoch('100'),
    incarnation: incarnation('i1'),
    seq: 1,
    isComplete: false,
    isCutOpen: false,
    broken: 0,
    sliceCount: 1,
    marks: {},
    hashes: EMPTY_HASHES,
    lastSentAtMs: 1,
    heardAtMs: {},
    nodesChanged: ZERO_STAMP,
    daemonSetsChanged: ZERO_STAMP,
  };
}

/** A registration in observe mode. */
export function registrationOf(id: string): ClusterRegistration {
  return {
    id: clusterId(id),
    clusterUid: clusterUid(`uid-of-${id}`),
    mode: 'observe',
    isFrozen: false,
    configVersion: 1,
    senderRoleId: 'AROAEXAMPLE',
    server: 'https://cluster.example',
    authentication: { kind: 'none' },
    labels: { stage: 'test' },
  };
}

/** Tests of a view store; call inside a describe block. */
export function testViewStore(store: () => ViewStore): void {
  testMeta(store);
  testDaemonSets(store);
  testNames(store);
  testStates(store);
  testWalk(store);
  testLog(store);
  testCoverage(store);
}

function testLog(store: () => ViewStore): void {
  it('keeps what happened by cluster and day, the same item once, and none that has expired', async () => {
    const cluster = clusterUid(freshName('log'));
    const atMs = Date.UTC(2026, 10, 28, 3);
    const entry = { kind: 'wait', atMs, code: 'no-access' } as const;
    const item = { subject: { kind: 'cluster' }, atMs, token: 'd/1', entries: [entry] } as const;
    await store().putLogItem(cluster, item);
    await store().putLogItem(cluster, item);
    await store().putLogItem(cluster, { ...item, token: 'd/2' });
    const list = async (day: string, nowMs: number, fromMs = 0) =>
      (await store().listLogItems(cluster, { day, nowMs, fromMs })).items;
    assert.deepEqual(await list('2026-11-28', atMs), [item, { ...item, token: 'd/2' }]);
    assert.equal((await list('2026-11-28', atMs, atMs)).length, 2);
    assert.deepEqual(await list('2026-11-28', atMs, atMs + 1), []);
    assert.deepEqual(await list('2026-11-27', atMs), []);
    assert.deepEqual(await list('2026-11-28', atMs + 31 * 86_400_000), []);
  });
}

function testCoverage(store: () => ViewStore): void {
  it('keeps days of coverage by cluster, the same days once, from a day on', async () => {
    const cluster = clusterUid(freshName('coverage'));
    const days = { namespace: 'n', name: 'a', uid: 'u', day: 20_000, rows: [[1, 2, 3], [], [4]] };
    await store().putCoverageDays(cluster, days);
    await store().putCoverageDays(cluster, days);
    await store().putCoverageDays(cluster, { ...days, day: 20_007 });
    const list = async (fromDay: number) =>
      (await store().listCoverageDays(cluster, { fromDay })).items;
    assert.deepEqual(await list(20_000), [days, { ...days, day: 20_007 }]);
    assert.deepEqual(await list(20_001), [{ ...days, day: 20_007 }]);
  });
}

function testWalk(store: () => ViewStore): void {
  it('keeps the walk of resync over the version that was read (F11)', async () => {
    // One item for the whole table: other tests leave it alone.
    assert.equal(await store().readWalk(), undefined);
    const walk = { version: 0, fromMs: 1, untilMs: 2, isOver: true, owed: [], failed: [] };
    assert.equal(await store().writeWalk(walk), 'written');
    assert.equal(await store().writeWalk(walk), 'lost');
    assert.deepEqual(await store().readWalk(), { ...walk, version: 1 });
    const owed = [{ cluster: clusterId('a'), sinceMs: 1 }];
    const found = { a: { silent: { sinceMs: 1, countedMs: 2 }, incomplete: { sinceMs: 2 } } };
    const troubles = { former: {}, found, clusters: 3, troubled: 1 };
    const next = {
      ...walk,
      version: 1,
      isOver: false,
      cursor: 'm',
      heldUntilMs: 9,
      owed,
      troubles,
    };
    assert.equal(await store().writeWalk(next), 'written');
    assert.deepEqual(await store().readWalk(), { ...next, version: 2 });
  });
}

function testMeta(store: () => ViewStore): void {
  it('writes META only over the version that was read (S8)', async () => {
    const meta = metaOf(freshName('meta'));
    assert.equal(await store().readMeta(meta.clusterUid), undefined);
    assert.equal(await store().writeMeta(meta), 'written');
    assert.equal(await store().writeMeta(meta), 'lost', 'no item is expected, one is there');
    const stored = await store().readMeta(meta.clusterUid);
    assert.deepEqual(stored, { ...meta, version: 1 });
    assert.equal(await store().writeMeta({ ...meta, version: 1, seq: 2 }), 'written');
    assert.equal(await store().writeMeta({ ...meta, version: 1, seq: 3 }), 'lost');
    assert.equal((await store().readMeta(meta.clusterUid))?.seq, 2);
  });

  it('keeps the breaker beside META: neither write touches what the other owns (L3)', async () => {
    const meta = metaOf(freshName('breaker'));
    const { clusterUid: cluster } = meta;
    const breaker = { version: 0, failures: 1, openings: 0 };
    assert.equal(await store().writeBreaker(cluster, breaker), 'lost', 'there is no META');
    assert.equal(await store().readMeta(cluster), undefined);
    assert.equal(await store().readBreaker(cluster), undefined);
    assert.equal(await store().writeMeta(meta), 'written');
    assert.equal(await store().readBreaker(cluster), undefined);
    assert.equal(await store().writeBreaker(cluster, breaker), 'written');
    assert.deepEqual(await store().readBreaker(cluster), { ...breaker, version: 1 });
    assert.equal(await store().writeBreaker(cluster, breaker), 'lost', 'a breaker is there');
    const both = { ...meta, version: 1, breaker: { ...breaker, version: 1 } };
    assert.deepEqual(await store().readMeta(cluster), both);
    // META as it was read, with the breaker, by a writer that read it before the next breaker.
    const open = { untilMs: 5_000, delayMs: 2_000 };
    const noted = { forbidden: { sinceMs: 1, atMs: 2 } };
    const opened = { version: 1, failures: 0, openings: 1, open, noted };
    assert.equal(await store().writeBreaker(cluster, opened), 'written');
    assert.equal(await store().writeMeta({ ...both, seq: 2 }), 'written');
    const stored = await store().readMeta(cluster);
    assert.deepEqual(stored, { ...meta, version: 2, seq: 2, breaker: { ...opened, version: 2 } });
  });
}

function testDaemonSets(store: () => ViewStore): void {
  it('raises a position and never lowers it (protocol 20)', async () => {
    const ref = { clusterUid: clusterUid(freshName('position')), uid: uid('u1') };
    assert.equal(await store().readPosition(ref), undefined);
    await store().raisePosition(ref, { podsChanged: stampAt(5) });
    const first = { podsChanged: stampAt(5), revisionsChanged: ZERO_STAMP };
    assert.deepEqual(await store().readPosition(ref), first);
    await store().raisePosition(ref, { podsChanged: stampAt(4), revisionsChanged: stampAt(3) });
    const second = { podsChanged: stampAt(5), revisionsChanged: stampAt(3) };
    assert.deepEqual(await store().readPosition(ref), second);
    await store().raisePosition(ref, { podsChanged: stampAt(5) });
    await store().raisePosition(ref, {});
    assert.deepEqual(await store().readPosition(ref), second);
    await store().raisePosition(ref, { podsChanged: stampAt(7), revisionsChanged: stampAt(8) });
    const third = { podsChanged: stampAt(7), revisionsChanged: stampAt(8) };
    assert.deepEqual(await store().readPosition(ref), third);
  });

  it('writes a DaemonSet only over an older stamp, and removes all that belongs to it', async () => {
    const cluster = clusterUid(freshName('daemonset'));
    const ref = { clusterUid: cluster, uid: uid('u1') };
    const other = { clusterUid: cluster, uid: uid('u10') };
    const object = {
      metadata: { name: 'logs', namespace: 'ops', uid: 'u1', resourceVersion: '7' },
      spec: { template: { spec: { containers: [{ name: 'a'.repeat(2000) }] } } },
    };
    assert.equal(await store().readDaemonSet(ref), undefined);
    assert.equal(await store().writeDaemonSet(ref, { stamp: stampAt(2), object }), 'written');
    assert.equal(await store().writeDaemonSet(ref, { stamp: stampAt(2), object }), 'lost');
    assert.equal(await store().writeDaemonSet(ref, { stamp: stampAt(1), object: null }), 'lost');
    assert.deepEqual(await store().readDaemonSet(ref), { stamp: stampAt(2), object });
    const gone = { stamp: stampAt(3), object: null, opaqueReason: 'too-large' };
    assert.equal(await store().writeDaemonSet(ref, gone), 'written');
    assert.deepEqual(await store().readDaemonSet(ref), gone);
    await store().raisePosition(ref, { podsChanged: stampAt(3) });
    await store().writeState(ref, emptyState(1));
    await store().writeDaemonSet(other, { stamp: stampAt(2), object });
    await store().removeDaemonSet(ref);
    assert.equal(await store().readDaemonSet(ref), undefined);
    assert.equal(await store().readPosition(ref), undefined);
    assert.equal(await store().readState(ref), undefined);
    assert.notEqual(await store().readDaemonSet(other), undefined);
  });
}

function testNames(store: () => ViewStore): void {
  it('keeps one DaemonSet under a name, by stamp', async () => {
    const cluster = clusterUid(freshName('names'));
    const name: NameItem = { namespace: 'ops', name: 'logs', uid: uid('u1'), stamp: stampAt(2) };
    assert.equal(await store().readName(cluster, name), undefined);
    assert.equal(await store().writeName(cluster, name), 'written');
    assert.equal(await store().writeName(cluster, { ...name, uid: uid('u0') }), 'lost');
    assert.deepEqual(await store().readName(cluster, name), name);
    const later: NameItem = { ...name, uid: null, formerUids: [uid('u1')], stamp: stampAt(3) };
    assert.equal(await store().writeName(cluster, later), 'written');
    assert.deepEqual(await store().readName(cluster, name), later);
    assert.equal(await store().removeName(cluster, name), 'lost', 'an older stamp');
    assert.equal(await store().removeName(cluster, later), 'written');
    assert.equal(await store().readName(cluster, name), undefined);
    assert.equal(await store().removeName(cluster, later), 'written');
  });

  it('lists names in pages, deleted ones only when asked for', async () => {
    const cluster = clusterUid(freshName('names'));
    const write = (name: string, isDeleted: boolean): Promise<unknown> =>
      store().writeName(cluster, {
        namespace: 'ops',
        name,
        uid: isDeleted ? null : uid(`u-${name}`),
        stamp: stampAt(1),
      });
    for (const name of ['a', 'c', 'e', 'g']) await write(name, false);
    for (const name of ['b', 'd', 'h', 'i']) await write(name, true);
    const listAll = async (includeDeleted: boolean, limit: number): Promise<string[]> => {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const options = { limit, includeDeleted, ...(cursor === undefined ? {} : { cursor }) };
        const page = await store().listNames(cluster, options);
        assert.ok(page.names.length <= limit);
        names.push(...page.names.map((item) => item.name));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return names;
    };
    for (const limit of [1, 2, 3, 4, 8, 100]) {
      assert.deepEqual(await listAll(false, limit), ['a', 'c', 'e', 'g'], `limit ${limit}`);
      assert.deepEqual(await listAll(true, limit), [...'abcdeghi'], `limit ${limit}`);
    }
    const empty = await store().listNames(clusterUid(freshName('names')), { limit: 5 });
    assert.deepEqual(empty, { names: [] });
  });
}

function testStates(store: () => ViewStore): void {
  it('lets one of several writers of a state win (design 3, step 6)', async () => {
    const ref = { clusterUid: clusterUid(freshName('state')), uid: uid('u1') };
    assert.equal(await store().readState(ref), undefined);
    const state = emptyState(5);
    const results = await Promise.all(
      [1, 2, 3, 4].map((dueAtMs) => store().writeState(ref, { ...state, dueAtMs })),
    );
    assert.equal(results.filter((result) => result === 'written').length, 1);
    const stored = await store().readState(ref);
    assert.equal(stored?.version, 1);
    assert.equal(await store().writeState(ref, { ...state, version: 1, dueAtMs: 9 }), 'written');
    assert.equal(await store().writeState(ref, { ...state, version: 1, dueAtMs: 8 }), 'lost');
    const last = await store().readState(ref);
    assert.deepEqual(last, { ...state, version: 2, dueAtMs: 9 });
  });
}

/** Tests of a registry; call inside a describe block. */
export function testRegistryStore(store: () => RegistryStore & RegistryRevisionStore): void {
  it('writes a registration only over the version that was read (protocol 13)', async () => {
    const registration = registrationOf(freshName('cluster'));
    assert.equal(await store().readCluster(registration.id), undefined);
    assert.equal(await store().writeCluster(registration, 1), 'lost');
    assert.equal(await store().writeCluster(registration, 0), 'written');
    assert.equal(await store().writeCluster(registration, 0), 'lost');
    const frozen = {
      ...registration,
      isFrozen: true,
      takeoverProbedAtMs: 5,
      sentinel: { uid: uid('sentinel'), createdAtMs: 4 },
      caPem: 'pem',
    };
    assert.equal(await store().writeCluster(frozen, 1), 'written');
    assert.equal(await store().writeCluster(registration, 1), 'lost');
    const stored = await store().readCluster(registration.id);
    assert.deepEqual(stored, { ...frozen, configVersion: 2 });
  });

  testRivals(store);
  testRevision(store);
  testClusterUids(store);
  testRemoval(store);

  it('lists clusters in order, by pages', async () => {
    const ids = [1, 2, 3, 4, 5].map(() => freshName('zz-listed'));
    for (const id of ids) await store().writeCluster(registrationOf(id), 0);
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store().listClusters({
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.clusters);
      cursor = page.cursor;
    } while (cursor !== undefined);
    assert.deepEqual(found, [...found].sort());
    assert.deepEqual(
      found.filter((id) => ids.includes(id)),
      [...ids].sort(),
    );
  });
  testRefusals(store, freshName);
}

function testRivals(store: () => RegistryStore & RegistryRevisionStore): void {
  const rival = { seenAtMs: 6, evidence: 'it was seen' };

  /** Takeover is entered (anew), and left its sentinel. */
  async function enter(id: string, sentinel: string): Promise<ClusterRegistration> {
    const { configVersion = 0 } = (await store().readCluster(clusterId(id))) ?? {};
    const entered = {
      ...registrationOf(id),
      mode: 'takeover',
      takeoverProbedAtMs: 5,
      sentinel: { uid: uid(sentinel), createdAtMs: 4 },
    } as const;
    assert.equal(await store().writeCluster(entered, configVersion), 'written');
    const stored = await store().readCluster(entered.id);
    assert.ok(stored !== undefined);
    return stored;
  }

  it('shows the rival that was noted in a takeover once, without a write of the registration', async () => {
    const entered = await enter(freshName('rival'), 'first');
    const revision = await store().readRegistryRevision();
    assert.equal(await store().noteRival(entered, rival), 'noted');
    const later = { ...rival, seenAtMs: 7 };
    assert.equal(await store().noteRival(entered, later), 'standing');
    assert.deepEqual(await store().readCluster(entered.id), { ...entered, rival });
    assert.equal(await store().readRegistryRevision(), revision);
  });

  it('makes nothing of a rival of an earlier takeover, and notes one of the present', async () => {
    const name = freshName('rival');
    const former = await enter(name, 'first');
    await store().noteRival(former, rival);
    const entered = await enter(name, 'second');
    assert.equal(entered.rival, undefined);
    assert.equal(await store().noteRival(entered, { ...rival, seenAtMs: 9 }), 'noted');
    assert.equal((await store().readCluster(entered.id))?.rival?.seenAtMs, 9);
  });

  it('keeps no rival that is written with a registration, and notes none where nothing is taken over', async () => {
    const entered = await enter(freshName('rival'), 'first');
    const { configVersion } = entered;
    assert.equal(await store().writeCluster({ ...entered, rival }, configVersion), 'written');
    assert.equal((await store().readCluster(entered.id))?.rival, undefined);
    await store().noteRival({ ...entered, mode: 'observe' }, rival);
    assert.equal((await store().readCluster(entered.id))?.rival, undefined);
  });
}

function testRevision(store: () => RegistryStore & RegistryRevisionStore): void {
  it('raises its revision with what was written, and with nothing else (issue 18)', async () => {
    const registration = registrationOf(freshName('cluster'));
    const before = await store().readRegistryRevision();
    await store().writeCluster(registration, 0);
    await store().writeCluster(registration, 0);
    await store().removeCluster(registration.id, 7);
    assert.equal(await store().readRegistryRevision(), before + 1, 'two of these were lost');
    await store().writeCluster({ ...registration, labels: { ring: 'first' } }, 1);
    assert.equal(await store().readRegistryRevision(), before + 2);
    await store().removeCluster(registration.id, 2);
    await store().removeCluster(registration.id, 2);
    assert.equal(await store().readRegistryRevision(), before + 3, 'it is missing the second time');
  });
}

function testClusterUids(store: () => RegistryStore): void {
  it('lets no two registrations have one cluster UID (S6)', async () => {
    const first = registrationOf(freshName('claimed'));
    assert.equal(await store().writeCluster(first, 0), 'written');
    const second = { ...registrationOf(freshName('claimant')), clusterUid: first.clusterUid };
    assert.equal(await store().writeCluster(second, 0), 'uid-taken');
    assert.equal(await store().readCluster(second.id), undefined);
    const own = registrationOf(second.id);
    assert.equal(await store().writeCluster(own, 0), 'written');
    assert.equal(await store().writeCluster(second, 1), 'uid-taken', 'nor by a later change');
    assert.deepEqual(await store().readCluster(own.id), { ...own, configVersion: 1 });
    const rebuilt = { ...first, clusterUid: clusterUid(freshName('rebuilt')) };
    assert.equal(await store().writeCluster(rebuilt, 1), 'written', 'row 90: registered again');
    assert.equal(await store().writeCluster(second, 1), 'written', 'once it is free');
    assert.equal(await store().writeCluster(first, 2), 'uid-taken');
  });
}

function testRemoval(store: () => RegistryStore): void {
  it('removes a registration only at the version that was read, with its claim and entry', async () => {
    const removed = registrationOf(freshName('removed'));
    const { id, clusterUid: uidOfRemoved } = removed;
    assert.equal(await store().removeCluster(id, 0), 'missing');
    await store().writeCluster(removed, 0);
    assert.equal(await store().removeCluster(id, 2), 'lost');
    assert.equal(await store().removeCluster(id, 0), 'lost');
    assert.notEqual(await store().readCluster(id), undefined);
    assert.equal(await store().removeCluster(id, 1), 'removed');
    assert.equal(await store().readCluster(id), undefined);
    assert.equal(await store().removeCluster(id, 1), 'missing');
    const { clusters } = await store().listClusters({ limit: 1000 });
    assert.ok(!clusters.includes(id), 'the directory forgets it');
    assert.equal(
      await store().writeCluster(removed, 1),
      'lost',
      'a late change brings nothing back',
    );
    const other = { ...registrationOf(freshName('heir')), clusterUid: uidOfRemoved };
    assert.equal(await store().writeCluster(other, 0), 'written', 'its UID is free again');
    assert.equal(await store().writeCluster(removed, 0), 'uid-taken');
  });

  it('registers an id anew after its removal', async () => {
    const registration = registrationOf(freshName('again'));
    await store().writeCluster(registration, 0);
    await store().removeCluster(registration.id, 1);
    assert.equal(await store().writeCluster(registration, 0), 'written');
    assert.deepEqual(await store().readCluster(registration.id), registration);
    const { clusters } = await store().listClusters({ limit: 1000 });
    assert.ok(clusters.includes(registration.id));
  });
}
