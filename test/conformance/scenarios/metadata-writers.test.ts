/**
 * A.1 on a real API server: other managers write what is none of our business, to every object there is. Status follows,
 * no pod is touched, and once nothing happens any more nobody looks (protocol 8, L5).
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubernetesObject } from '../control-plane/api.ts';
import { createNodes, fakeNode, plainNodes } from '../control-plane/nodes.ts';
import { countEligibleNodes } from '../control-plane/observer.ts';
import { daemonSetPath, testDaemonSet } from './daemon-set.ts';
import {
  daemonSetUid,
  expectNoDoublePlacement,
  expectPodsOn,
  expectStatus,
} from './expectations.ts';
import { describeOnBackend } from './backends.ts';
import { openStage, type Stage } from './stage.ts';

const NODES_COUNT = 20;
const NAME = 'agents';
const STATUS_WITHIN_MS = 5_000;
const QUIET_MS = 30_000;
const READS_MAX = 2;
const RUNS_MAX = 3;
const FUNCTIONS_USER = 'system:serviceaccount:rollcall-system:rollcall-functions';

/** Everything that Rollcall reads or writes, as collections. */
const COLLECTIONS = [
  '/api/v1/nodes',
  '/api/v1/namespaces/default/pods',
  '/apis/apps/v1/namespaces/default/daemonsets',
  '/apis/apps/v1/namespaces/default/controllerrevisions',
  '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases',
] as const;

const KINDS: Readonly<Record<string, readonly [apiVersion: string, kind: string]>> = {
  nodes: ['v1', 'Node'],
  pods: ['v1', 'Pod'],
  daemonsets: ['apps/v1', 'DaemonSet'],
  controllerrevisions: ['apps/v1', 'ControllerRevision'],
  leases: ['coordination.k8s.io/v1', 'Lease'],
};

describeOnBackend('writers of metadata', { timeout: 900_000 }, (backend) => {
  let stage: Stage;
  let uid: string;
  let nodes: readonly string[];

  before(async () => {
    stage = await openStage({ backend, name: 'metadata-writers', nodes: plainNodes(NODES_COUNT) });
    await stage.observer.waitUntil((observer) => countEligibleNodes(observer) === NODES_COUNT, {
      deadlineMs: 120_000,
      description: 'all nodes untainted',
    });
    await stage.admin.post(daemonSetPath({}), testDaemonSet({ name: NAME }));
    uid = await daemonSetUid(stage, { namespace: 'default', name: NAME });
    const listed = await stage.admin.list('/api/v1/nodes');
    nodes = listed.items.map(({ metadata }) => metadata.name);
    await expectPodsOn(stage, uid, nodes);
    await expectStatus(stage, uid, { numberReady: NODES_COUNT });
    await stage.observer.waitUntilQuiet({ quietMs: 3000, deadlineMs: 60_000 });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('an apply of equal values by two managers leaves the status alive (protocol 8)', async () => {
    await unmoved(async () => {
      for (const manager of ['flux', 'argocd-controller']) {
        await apply(testDaemonSet({ name: NAME }), daemonSetPath({ name: NAME }), manager);
      }
    });
    await expectJoin('late-1', NODES_COUNT + 1);
  });

  it('annotations on every object change no pod (protocol 8)', async () => {
    await unmoved(async () => {
      for (const { path } of await everything()) {
        await stage.admin.patch(path, { metadata: { annotations: { 'example.com/seen': 'yes' } } });
      }
    });
    await expectJoin('late-2', NODES_COUNT + 2);
  });

  it('a rewrite of every object moves versions and nothing else (protocol 8)', async () => {
    await unmoved(async () => {
      for (const { path, resource, object } of await everything()) {
        const [apiVersion, kind] = KINDS[resource] ?? ['', ''];
        const { name, namespace, annotations = {} } = object.metadata;
        const kept = { 'example.com/seen': annotations['example.com/seen'] ?? 'yes' };
        const metadata = {
          name,
          ...(namespace === undefined ? {} : { namespace }),
          annotations: kept,
        };
        await apply({ apiVersion, kind, metadata }, path, 'storage-migrator');
        const { metadata: moved } = await stage.admin.get(path);
        assert.notEqual(moved.resourceVersion, object.metadata.resourceVersion, path);
      }
    });
    await expectJoin('late-3', NODES_COUNT + 3);
  });

  it('once nothing happens, nobody looks: two reads in 30 s at most, and no chain of timers (L5)', async (context) => {
    const { readAudit } = stage.cluster;
    await stage.observer.waitUntilQuiet({ quietMs: 10_000, deadlineMs: 60_000 });
    const sinceMs = Date.now();
    const runsBefore = stage.activity.counted('ReconcileRuns');
    await delay(QUIET_MS); // the stretch that is measured: nothing is waited for
    const runs = stage.activity.counted('ReconcileRuns') - runsBefore;
    context.diagnostic(`${String(runs)} runs of ${String(runsBefore)} in the quiet stretch`);
    assert.ok(runsBefore > 0, 'runs are counted at all');
    assert.ok(runs <= RUNS_MAX, `${String(runs)} runs`);
    if (readAudit === undefined) return;
    const reads = await readAudit({
      user: FUNCTIONS_USER,
      sinceMs,
      where: ({ verb, resource }) => ['get', 'list'].includes(verb) && resource === 'daemonsets',
    });
    context.diagnostic(`${String(reads.length)} reads of DaemonSets in the quiet stretch`);
    assert.ok(reads.length <= READS_MAX, `${String(reads.length)} reads`);
    expectNoDoublePlacement(stage);
  });

  /** Whatever is done, the pods are the same afterwards. */
  async function unmoved(write: () => Promise<void>): Promise<void> {
    const before = await podUids();
    await write();
    await stage.observer.waitUntilQuiet({ quietMs: 3000, deadlineMs: 60_000 });
    assert.deepEqual(await podUids(), before);
  }

  async function podUids(): Promise<readonly (string | undefined)[]> {
    const { items } = await stage.admin.list('/api/v1/namespaces/default/pods');
    return items.map(({ metadata }) => metadata.uid).sort();
  }

  /** A node joins: from the moment its pod is there, the status says so within five seconds. */
  async function expectJoin(name: string, count: number): Promise<void> {
    await createNodes(stage.admin, [fakeNode({ name })]);
    nodes = [...nodes, name];
    await expectPodsOn(stage, uid, nodes);
    const fromMs = performance.now();
    await expectStatus(stage, uid, {
      desiredNumberScheduled: count,
      currentNumberScheduled: count,
    });
    const tookMs = performance.now() - fromMs;
    assert.ok(tookMs <= STATUS_WITHIN_MS, `${tookMs.toFixed(0)} ms`);
    await expectStatus(stage, uid, { numberReady: count });
  }

  async function everything(): Promise<
    readonly {
      readonly path: string;
      readonly resource: string;
      readonly object: KubernetesObject;
    }[]
  > {
    const lists = await Promise.all(
      COLLECTIONS.map(async (collection) => {
        const { items } = await stage.admin.list(collection);
        const resource = collection.slice(collection.lastIndexOf('/') + 1);
        return items.map((object) => ({
          path: `${collection}/${object.metadata.name}`,
          resource,
          object,
        }));
      }),
    );
    return lists.flat();
  }

  async function apply(body: object, path: string, manager: string): Promise<void> {
    const { status } = await stage.admin.request({
      method: 'PATCH',
      path: `${path}?fieldManager=${manager}&force=true`,
      body,
      contentType: 'application/apply-patch+yaml',
    });
    assert.equal(status, 200, `${manager} applies ${path}`);
  }
});
