/**
 * ClusterAccess against a real kube-apiserver, as the service account of the functions under the RBAC
 * that is shipped: what a real API server answers, and what becomes of it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import {
  clusterId,
  clusterUid,
  compareResourceVersions,
  nodeName,
  resourceVersion,
  uid,
} from '../../../src/core/model/identifiers.ts';
import type { Effect, Outcome } from '../../../src/core/model/effects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import { statusPatch } from '../../../src/core/status/status-patch.ts';
import type { ClusterAccess } from '../../../src/ports/cluster/cluster-access.ts';
import { createApiClient, type ApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { openTestCluster, type TestCluster } from '../control-plane/test-cluster.ts';
import { applyFiles } from '../scenarios/manifests.ts';

const NAMESPACE = 'rollcall-access-test';
/** For what an API server knows a moment later: a busy one takes its time. */
const DEADLINE_MS = 120_000;
const AGES = { deadlineMs: Number.POSITIVE_INFINITY };
const POD_LABEL = { app: 'access-test' };

type Metadata = Readonly<Record<string, unknown>> & { uid: string; resourceVersion: string };

function podBody(name: string, changes: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: POD_LABEL, ...changes },
    spec: {
      // Stays as it is: no scheduler looks at it, so nothing but these tests moves its version.
      schedulerName: 'nobody',
      containers: [{ name: 'main', image: 'registry.example/none:1' }],
    },
  };
}

function createPod(
  name: string,
  options: { readonly namespace?: string; readonly body?: JsonObject } = {},
): Effect {
  const namespace = options.namespace ?? NAMESPACE;
  const body = options.body ?? podBody(name, { namespace });
  return { kind: 'create-pod', namespace, name, node: nodeName('n'), body };
}

function metadataOf(outcome: Outcome | undefined): Metadata {
  assert.equal(outcome?.kind, 'done', JSON.stringify(outcome));
  return (outcome.kind === 'done' ? outcome.object['metadata'] : undefined) as Metadata;
}

describe('cluster access on a real API server', () => {
  let cluster: TestCluster;
  let admin: ApiClient;
  let access: ClusterAccess;
  let kubeSystemUid: string;

  const connector = new HttpsClusterConnector({
    clock: createSystemClock({ timers: 'unreferenced' }),
    egress: { loopback: 'allowed' },
  });
  const registered = (
    token: string,
    changes: { readonly uid?: string; readonly id?: string } = {},
  ) =>
    ({
      id: clusterId(changes.id ?? 'real'),
      clusterUid: clusterUid(changes.uid ?? kubeSystemUid),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROATEST',
      server: cluster.access.server,
      caPem: cluster.access.caPem,
      authentication: { kind: 'bearer', token },
      labels: {},
    }) as const;

  async function connect(token: string, id: string): Promise<ClusterAccess> {
    const connection = await connector.connect(registered(token, { id }));
    assert.equal(connection.kind, 'connected', JSON.stringify(connection));
    return connection.kind === 'connected' ? connection.access : assert.fail();
  }

  async function one(effect: Effect, by: ClusterAccess = access): Promise<Outcome | undefined> {
    const [outcome] = await by.execute([effect], AGES);
    return outcome;
  }

  async function assertRefused(effect: Effect, code: string, by?: ClusterAccess): Promise<void> {
    const outcome = await one(effect, by);
    assert.equal(outcome?.kind === 'refused' && outcome.code, code, JSON.stringify(outcome));
  }

  before(async () => {
    cluster = await openTestCluster({ limits: 'lifted' });
    admin = createApiClient(cluster.access.connectionOf('admin'));
    await applyFiles(admin, ['infra/functions/rbac.yaml']);
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } };
    await admin.request({ method: 'POST', path: '/api/v1/namespaces', body });
    const kubeSystem = await admin.request({
      method: 'GET',
      path: '/api/v1/namespaces/kube-system',
    });
    kubeSystemUid = (kubeSystem.body as KubernetesObject).metadata.uid ?? '';
    // The role is read by the authorizer a moment after it was written; the default service account,
    // without which no pod is admitted, is made a moment after its namespace.
    const ready = { deadlineMs: DEADLINE_MS, description: 'role and service account are known' };
    await pollUntil(ready, async () => {
      const connection = await connector.connect(registered(cluster.access.tokens.functions));
      const account = await admin.request({
        method: 'GET',
        path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`,
      });
      return connection.kind === 'connected' && account.status === 200 ? true : undefined;
    });
    access = await connect(cluster.access.tokens.functions, 'real');
  });
  after(async () => {
    await admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${NAMESPACE}` });
    admin.close();
    await cluster.close();
  });

  it('is only handed out for the registered kube-system UID (S6)', async () => {
    const token = cluster.access.tokens.functions;
    const connection = await connector.connect(registered(token, { uid: 'another', id: 'moved' }));
    assert.deepEqual(connection, {
      kind: 'refused',
      refusal: { kind: 'wrong-cluster', foundUid: kubeSystemUid },
    });
  });

  it('hears the metadata of a pod that it makes or deletes, and nothing else of it', async () => {
    const made = await one(createPod('slim'));
    const { uid: madeUid = '', resourceVersion: version = '', labels } = metadataOf(made);
    assert.deepEqual(labels, POD_LABEL);
    const victim = { kind: 'delete-pod', namespace: NAMESPACE, name: 'slim' } as const;
    const fence = { uid: uid(madeUid), resourceVersion: resourceVersion(version) };
    const deleted = await one({ ...victim, ...fence });
    assert.equal(metadataOf(deleted).uid, madeUid);
    for (const outcome of [made, deleted]) {
      assert.ok(outcome?.kind === 'done' && outcome.object['spec'] === undefined);
      assert.equal(outcome.object['kind'], 'PartialObjectMetadata');
    }
  });

  it('creates a pod once under its name (S1)', async () => {
    metadataOf(await one(createPod('twice')));
    assert.deepEqual(await one(createPod('twice')), { kind: 'exists' });
    const found = await access.getPod({ namespace: NAMESPACE, name: 'twice' });
    assert.equal(found.kind, 'found');
  });

  it('deletes only the UID and version that it was told (S4, faults 40)', async () => {
    const created = metadataOf(await one(createPod('victim')));
    const victim = { kind: 'delete-pod', namespace: NAMESPACE, name: 'victim' } as const;
    const right = {
      uid: uid(created.uid),
      resourceVersion: resourceVersion(created.resourceVersion),
    };
    const wrongUid = await one({ ...victim, ...right, uid: uid('another') });
    assert.equal(wrongUid?.kind, 'conflict', JSON.stringify(wrongUid));
    const wrongVersion = await one({ ...victim, ...right, resourceVersion: resourceVersion('1') });
    assert.equal(wrongVersion?.kind, 'conflict', JSON.stringify(wrongVersion));
    assert.equal((await one({ ...victim, ...right }))?.kind, 'done');
    const again = await one({ ...victim, ...right });
    assert.ok(again?.kind === 'gone' || again?.kind === 'conflict', JSON.stringify(again));
  });

  it('patches only the UID in the patch (S4)', async () => {
    const created = metadataOf(await one(createPod('orphan')));
    const patch = (of: string): Effect => ({
      kind: 'patch',
      resource: 'pods',
      namespace: NAMESPACE,
      name: 'orphan',
      uid: uid(of),
      purpose: 'relabel',
      contentType: 'application/strategic-merge-patch+json',
      body: { metadata: { uid: of, labels: { adopted: 'yes' } } },
    });
    const other = await one(patch('11111111-2222-3333-4444-555555555555'));
    assert.equal(other?.kind, 'conflict', JSON.stringify(other));
    const patched = metadataOf(await one(patch(created.uid)));
    assert.deepEqual(patched['labels'], { ...POD_LABEL, adopted: 'yes' });
  });

  it('writes a status only over the version that it was told (protocol 8)', async () => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
    const body = {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'set', namespace: NAMESPACE },
      spec: {
        selector: { matchLabels: POD_LABEL },
        template: { metadata: { labels: POD_LABEL }, spec: podBody('x')['spec'] },
      },
    };
    const created = await admin.request({ method: 'POST', path, body });
    const { metadata } = created.body as { metadata: Metadata };
    const status = {
      currentNumberScheduled: 3,
      desiredNumberScheduled: 3,
      numberMisscheduled: 0,
      numberReady: 0,
    };
    const update = (version: string): Effect => ({
      kind: 'update-status',
      namespace: NAMESPACE,
      name: 'set',
      uid: uid(metadata.uid),
      body: {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        metadata: {
          name: 'set',
          namespace: NAMESPACE,
          uid: metadata.uid,
          resourceVersion: version,
        },
        status,
      },
    });
    // Nothing but metadata and status: the server keeps the rest.
    const written = await one(update(metadata.resourceVersion));
    assert.equal(written?.kind, 'done', JSON.stringify(written));
    const stale = await one(update(metadata.resourceVersion));
    assert.equal(stale?.kind, 'conflict', JSON.stringify(stale));
    const live = await access.getDaemonSet({ namespace: NAMESPACE, name: 'set' });
    assert.equal(live.kind === 'found' && live.object.status?.currentNumberScheduled, 3);
    assert.equal(live.kind === 'found' && typeof live.object.spec.template, 'object');
  });

  it('patches a status only where what was seen still stands, and leaves the rest of it (ADR 0031)', async () => {
    const read = async (): Promise<DaemonSetObject> => {
      const live = await access.getDaemonSet({ namespace: NAMESPACE, name: 'set' });
      return live.kind === 'found' ? live.object : assert.fail(JSON.stringify(live));
    };
    const patch = (seen: DaemonSetObject, next: DaemonSetStatus): Effect => ({
      kind: 'update-status',
      namespace: NAMESPACE,
      name: 'set',
      uid: uid(seen.metadata.uid),
      body: statusPatch(seen, next) ?? assert.fail('no patch'),
    });
    const { metadata: before, status } = await read();
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/set/status`;
    const lastTransitionTime = '2026-01-01T00:00:00Z';
    const conditions = [{ type: 'Theirs', status: 'True', lastTransitionTime }];
    const body = [
      { op: 'add', path: '/status', value: { ...status, observedGeneration: 1, conditions } },
    ];
    const contentType = 'application/json-patch+json';
    const answer = await admin.request({ method: 'PATCH', path, body, contentType });
    assert.equal(answer.status, 200);
    const seen = await read();
    assert.notEqual(seen.metadata.resourceVersion, before.resourceVersion);
    const next = { ...seen.status, numberReady: 2, numberAvailable: 2 } as DaemonSetStatus;
    const written = await one(patch(seen, next));
    assert.equal(written?.kind, 'done', JSON.stringify(written));
    const live = await read();
    assert.deepEqual([live.status?.numberReady, live.status?.['conditions']], [2, conditions]);
    const stale = await one(patch(seen, { ...next, numberReady: 3 }));
    assert.equal(stale?.kind === 'refused' && stale.code, 'invalid', JSON.stringify(stale));
    const other = { ...live, metadata: { ...live.metadata, generation: 9 } };
    const edited = await one(patch(other, { ...next, numberReady: 3 }));
    assert.equal(edited?.kind === 'refused' && edited.code, 'invalid', JSON.stringify(edited));
    assert.equal((await read()).status?.numberReady, 2);
  });

  it('reads a DaemonSet with the version of the store, which is behind no write of anything (row 71)', async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
    for (const name of ['one', 'two', 'three']) {
      const { metadata } = await admin.post(path, { metadata: { name: `moves-${name}` } });
      const live = await access.getDaemonSet({ namespace: NAMESPACE, name: 'set' });
      assert.ok(live.kind === 'found' && live.storeVersion !== undefined, JSON.stringify(live));
      const isBehind = compareResourceVersions(live.storeVersion, metadata.resourceVersion ?? '');
      assert.ok(isBehind >= 0, `${live.storeVersion} after ${metadata.resourceVersion}`);
    }
  });

  it('tells refusals apart (spec 2.8)', async () => {
    await assertRefused(createPod('p', { namespace: 'no-such-namespace' }), 'namespace-missing');
    const body = { ...podBody('invalid'), spec: { containers: [] } };
    await assertRefused(createPod('invalid', { body }), 'invalid');
    const observer = await connectAsObserver();
    if (observer !== undefined) await assertRefused(createPod('forbidden'), 'forbidden', observer);
  });

  /** The observer may not read kube-system's identity on every cluster. */
  async function connectAsObserver(): Promise<ClusterAccess | undefined> {
    const connection = await connector.connect(
      registered(cluster.access.tokens.observer, { id: 'observer' }),
    );
    return connection.kind === 'connected' ? connection.access : undefined;
  }

  it('calls an exceeded quota admission, and a terminating namespace by its name (faults 57)', async () => {
    const name = 'rollcall-access-full';
    const metadata = { name };
    await admin.request({
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata },
    });
    await admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${name}/resourcequotas`,
      body: {
        apiVersion: 'v1',
        kind: 'ResourceQuota',
        metadata: { name: 'none' },
        spec: { hard: { pods: '0' } },
      },
    });
    let attempts = 0;
    let last: Outcome | undefined;
    const wait = { deadlineMs: DEADLINE_MS, description: 'the quota is exceeded' };
    const exceeded = await pollUntil(wait, async () => {
      attempts += 1;
      // Until the quota and the default service account are known, other refusals come first.
      last = await one(createPod(`full-${String(attempts)}`, { namespace: name }));
      const isExceeded = last?.kind === 'refused' && last.message.includes('exceeded quota');
      return isExceeded ? last : undefined;
    }).catch((cause: unknown) => {
      throw new Error(`the last outcome was ${JSON.stringify(last)}`, { cause });
    });
    assert.equal(exceeded.kind === 'refused' && exceeded.code, 'admission');
    await admin.request({
      method: 'POST',
      path: `/api/v1/namespaces/${name}/configmaps`,
      body: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'held', finalizers: ['rollcall.test/hold'] },
      },
    });
    await admin.request({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
    await assertRefused(createPod('late', { namespace: name }), 'namespace-terminating');
    await admin.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${name}/configmaps/held`,
      body: { metadata: { finalizers: null } },
    });
  });

  it('creates revisions and Events, and reads what it made', async () => {
    const metadata = { name: 'rev-1', namespace: NAMESPACE, labels: POD_LABEL };
    const revision = {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata,
      revision: 1,
      data: { spec: { future: true } },
    };
    metadataOf(
      await one({ kind: 'create-revision', namespace: NAMESPACE, name: 'rev-1', body: revision }),
    );
    const read = await access.getRevision({ namespace: NAMESPACE, name: 'rev-1' });
    assert.deepEqual(read.kind === 'found' && read.object['data'], { spec: { future: true } });
    const listed = await access.listRevisions(NAMESPACE, 'app=access-test');
    assert.equal(listed.kind === 'found' && listed.object.length, 1);
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'event-1', namespace: NAMESPACE },
      involvedObject: {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'set',
        namespace: NAMESPACE,
      },
      reason: 'SuccessfulCreate',
      message: 'Created pod: x',
      type: 'Normal',
    };
    metadataOf(
      await one({ kind: 'create-event', namespace: NAMESPACE, name: 'event-1', body: event }),
    );
  });

  it('lists metadata only, by selector, and knows who owns and who goes', async () => {
    const ownerReferences = [
      {
        apiVersion: 'apps/v1',
        kind: 'DaemonSet',
        name: 'set',
        uid: 'owner-uid',
        controller: true,
        blockOwnerDeletion: true,
      },
    ];
    const labels = { app: 'list-test' };
    const body = podBody('listed', { labels, ownerReferences, finalizers: ['rollcall.test/hold'] });
    const made = metadataOf(await one(createPod('listed', { body })));
    await one({
      kind: 'delete-pod',
      namespace: NAMESPACE,
      name: 'listed',
      uid: uid(made.uid),
      resourceVersion: resourceVersion(made.resourceVersion),
    });
    const listed = await access.listPodMetadata(NAMESPACE, 'app=list-test');
    assert.ok(listed.kind === 'found', JSON.stringify(listed));
    const [pod] = listed.object;
    assert.deepEqual([pod?.name, pod?.uid, pod?.ownerUid], ['listed', made.uid, 'owner-uid']);
    assert.equal(pod?.isTerminating, true);
    const path = `/api/v1/namespaces/${NAMESPACE}/pods/listed`;
    await admin.request({ method: 'PATCH', path, body: { metadata: { finalizers: null } } });
  });

  it('believes a real 404, of nodes, pods and the Lease', async () => {
    const key = { namespace: NAMESPACE, name: 'nobody' };
    assert.deepEqual(await access.getNode('nobody'), { kind: 'missing' });
    assert.deepEqual(await access.getPod(key), { kind: 'missing' });
    assert.deepEqual(await access.getDaemonSet(key), { kind: 'missing' });
    assert.deepEqual(await access.getRevision(key), { kind: 'missing' });
  });

  it('reads the watcher’s Lease, and leaves a request for a snapshot on it', async () => {
    const path = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
    const metadata = { name: 'rollcall-watcher', namespace: 'rollcall-system' };
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata };
    await admin.request({ method: 'POST', path, body: lease });
    assert.equal((await access.requestSnapshot('request-1')).kind, 'found');
    const read = await access.getWatcherLease();
    assert.ok(read.kind === 'found');
    const annotations = read.object.metadata.annotations;
    assert.equal(annotations?.['rollcall.dev/snapshot-requested'], 'request-1');
    await admin.request({ method: 'DELETE', path: `${path}/rollcall-watcher` });
  });

  it('may do nothing else: no list of nodes, no secrets, no deletion of nodes (faults 69)', async () => {
    const functions = createApiClient(cluster.access.connectionOf('functions'));
    const denied = [
      { method: 'GET', path: '/api/v1/nodes' },
      { method: 'GET', path: '/api/v1/namespaces/kube-system/secrets' },
      { method: 'GET', path: '/api/v1/namespaces/default' },
      { method: 'DELETE', path: '/api/v1/nodes/nobody' },
      { method: 'DELETE', path: `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets/set` },
      { method: 'GET', path: '/api/v1/pods?watch=true' },
    ] as const;
    for (const request of denied) {
      const { status } = await functions.request(request);
      assert.equal(status, 403, `${request.method} ${request.path}`);
    }
    functions.close();
  });
});
