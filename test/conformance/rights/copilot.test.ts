/**
 * infra/copilot on a real API server: enough for what a run in copilot asks of a cluster, not one verb more, and whoever
 * steals the credential can delete pods of the named DaemonSets and nothing else (row 69, issue 17).
 *
 * No loop runs: pods stay as they are put there. Deletes that may pass are dry runs; admission is the same.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { copilotPolicy, optedIn, rollbackRights } from '../../../scripts/install/listed-copilot.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { testDaemonSet } from '../scenarios/daemon-set.ts';
import { applyFiles, createIfMissing } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { messageOf } from './admission-stage.ts';
import { readRules, rightsOf, tokenWith, untilInForce, withoutRight } from './rbac-rules.ts';

const RULES = readRules('infra/copilot/rbac.yaml');
const APPS = '/apis/apps/v1/namespaces/default';
const PODS = '/api/v1/namespaces/default/pods';
const EVENTS = '/api/v1/namespaces/default/events';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
const FILES = ['rbac.yaml', 'admission.yaml'].map((file) =>
  repositoryPath(`infra/copilot/${file}`),
);

/** Opted in; opted in, and not named; not opted in; opted in beside RollingUpdate. */
const SETS = {
  named: { annotations: { 'rollcall.dev/rollout': 'soak: 1m' }, type: 'OnDelete' },
  unnamed: { annotations: { 'rollcall.dev/rollout': 'soak: 1m' }, type: 'OnDelete' },
  plain: { annotations: {}, type: 'OnDelete' },
  rolling: { annotations: { 'rollcall.dev/rollout': 'soak: 1m' }, type: 'RollingUpdate' },
} as const;
type SetName = keyof typeof SETS;

describe('the rights of copilot on a real API server', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let thief: ApiClient;
  const owners = new Map<string, KubernetesObject>();
  const pods = new Map<string, KubernetesObject>();

  const eventOf = (component: string, kind = 'DaemonSet'): JsonObject => ({
    metadata: { generateName: 'event-', namespace: 'default' },
    involvedObject: { apiVersion: 'apps/v1', kind, name: 'named', namespace: 'default' },
    source: { component },
    reason: 'Test',
    type: 'Normal',
  });
  const optionsFor = (pod: KubernetesObject, change: JsonObject = {}): JsonObject => {
    const { uid = '', resourceVersion = '' } = pod.metadata;
    return { preconditions: { uid, resourceVersion }, ...change };
  };
  const remove = (name: string, body?: JsonObject, client = thief): Promise<ApiResponse> => {
    const pod = pods.get(name);
    assert.ok(pod !== undefined);
    const path = `${PODS}/${name}`;
    // With a body, the query's dryRun would not count.
    const options = { dryRun: ['All'], ...(body ?? optionsFor(pod)) };
    return client.request({ method: 'DELETE', path, body: options });
  };
  const denied = (response: ApiResponse, why: RegExp): void => {
    assert.equal(response.status, 422, `${String(response.status)}: ${messageOf(response)}`);
    assert.match(messageOf(response), /ValidatingAdmissionPolicy 'rollcall-copilot/);
    assert.match(messageOf(response), why);
  };
  const isForbidden = (response: ApiResponse): void => {
    assert.equal(response.status, 403, messageOf(response));
    assert.match(messageOf(response), /cannot [a-z]+ resource/);
  };

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    thief = createApiClient(controlPlane.connectionOf('functions'));
    await applyFiles(admin, FILES);
    await admin.post('/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'default' },
    });
    await admin.post('/api/v1/nodes', { metadata: { name: 'n-1' } });
    await admin.post('/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases', {
      metadata: { name: 'rollcall-watcher' },
      spec: {},
    });
    for (const [name, { annotations, type }] of Object.entries(SETS)) {
      const body = testDaemonSet({ name, updateStrategy: { type } });
      const metadata = { ...body.metadata, annotations };
      owners.set(name, await admin.post(`${APPS}/daemonsets`, { ...body, metadata }));
    }
    for (const name of [...Object.keys(SETS), 'nobody']) pods.set(name, await putPod(name));
    const revision = { metadata: { name: 'named-1' }, revision: 1, data: {} };
    await admin.post(`${APPS}/controllerrevisions`, revision);
    const list = {
      items: [...owners.values()].filter(({ metadata }) => metadata.name !== 'unnamed'),
    };
    const items = list.items.map((item) => ({ ...item, kind: 'DaemonSet' }));
    const named = optedIn(JSON.stringify({ items }));
    assert.deepEqual(named, [{ namespace: 'default', name: 'named' }]);
    for (const manifest of copilotPolicy(named))
      await createIfMissing(admin, manifest as unknown as KubernetesObject);
    await untilInForce(thief, RULES);
    await pollUntil({ deadlineMs: 120_000, description: 'the policies in force' }, async () => {
      const pod = pods.get('unnamed');
      const form = await remove('named', {});
      const name = await remove('unnamed', pod && optionsFor(pod));
      const event = await thief.request({
        ...{ method: 'POST', path: `${EVENTS}?dryRun=All`, body: eventOf('kubelet') },
      });
      const isInForce = [form, name, event].every(({ status }) => status === 422);
      return isInForce && (await remove('named')).status === 200 ? true : undefined;
    });
  });
  after(async () => {
    thief.close();
    admin.close();
    await controlPlane.stop();
  });

  async function putPod(
    of: string,
    { name, spec }: { readonly name: string; readonly spec: JsonObject } = {
      name: of,
      spec: { nodeName: 'n-1' },
    },
  ): Promise<KubernetesObject> {
    const owner = owners.get(of);
    const { uid = '' } = owner?.metadata ?? {};
    const reference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: of, uid, controller: true };
    return admin.post(PODS, {
      metadata: {
        ...{ name, labels: { app: of } },
        ...(owner === undefined ? {} : { ownerReferences: [reference] }),
      },
      spec: { ...spec, containers: [{ name: 'c', image: 'registry.example/c:1' }] },
    });
  }

  describe('a stolen credential', () => {
    it('can delete a pod of a named DaemonSet, as it was just read', async () => {
      const answer = await remove('named');
      assert.equal(answer.status, 200, messageOf(answer));
    });

    for (const name of ['unnamed', 'plain', 'rolling'] as const satisfies readonly SetName[]) {
      it(`can delete no pod of a DaemonSet that is not named (${name})`, async () => {
        denied(await remove(name), /touches only DaemonSets that .* listed/);
      });
    }

    it('can delete no pod of anybody else', async () => {
      denied(await remove('nobody'), /only pods that a DaemonSet controls|touches only DaemonSets/);
    });

    it('can delete nothing without UID and version, nor many at once', async () => {
      const pod = pods.get('named');
      const uid = pod?.metadata.uid ?? '';
      for (const body of [{}, { preconditions: { uid } }]) {
        denied(await remove('named', body), /by its UID and version/);
      }
      const all = { method: 'DELETE', path: `${PODS}?dryRun=All` } as const;
      isForbidden(await thief.request(all));
    });

    it('can kill no pod without its kubelet', async () => {
      const pod = pods.get('named');
      assert.ok(pod !== undefined);
      const body = optionsFor(pod, { gracePeriodSeconds: 0 });
      denied(await remove('named', body), /in their own time/);
    });

    it('can delete one that waits for a node, or ended: the API server gives it no time itself', async () => {
      const waiting = await putPod('named', { name: 'waiting', spec: {} });
      await putPod('named', { name: 'ended', spec: { nodeName: 'n-1' } });
      const path = `${PODS}/ended/status`;
      pods.set('waiting', waiting);
      pods.set('ended', await admin.patch(path, { status: { phase: 'Failed' } }));
      for (const name of ['waiting', 'ended']) {
        const answer = await remove(name);
        assert.equal(answer.status, 200, messageOf(answer));
      }
    });

    it('can evict, bind, run in or change no pod, and make none', async () => {
      const at = `${PODS}/named`;
      const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'named' } };
      const body = { metadata: { labels: { a: 'b' } } };
      const requests = [
        { method: 'POST', path: `${at}/eviction`, body: eviction },
        { method: 'PATCH', path: at, body },
        { method: 'PATCH', path: `${at}/status`, body },
        { method: 'POST', path: PODS, body: { metadata: { name: 'x' }, spec: { containers: [] } } },
        { method: 'GET', path: `${at}/exec?command=sh` },
        { method: 'GET', path: `${at}/log` },
        { method: 'GET', path: PODS },
      ] as const;
      for (const request of requests) isForbidden(await thief.request(request));
    });

    it('can write no DaemonSet, status, revision, node, Secret or Lease of others', async () => {
      const body = { metadata: { labels: { a: 'b' } } };
      const paths = [
        `${APPS}/daemonsets/named`,
        `${APPS}/daemonsets/named/status`,
        `${APPS}/controllerrevisions/named-1`,
        '/api/v1/nodes/n-1',
        '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/other',
      ];
      for (const path of paths) isForbidden(await thief.request({ method: 'PATCH', path, body }));
      for (const path of ['/api/v1/secrets', '/api/v1/nodes', `${APPS}/controllerrevisions`]) {
        isForbidden(await thief.request({ method: 'GET', path }));
      }
    });

    it('can tell Events about DaemonSets in our name alone, and delete none', async () => {
      const post = (body: JsonObject) =>
        thief.request({ method: 'POST', path: `${EVENTS}?dryRun=All`, body });
      assert.equal((await post(eventOf('rollcall'))).status, 201);
      denied(await post(eventOf('daemonset-controller')), /in its own name/);
      denied(await post(eventOf('rollcall', 'Pod')), /in its own name/);
      const made = await admin.post(EVENTS, eventOf('kubelet'));
      const path = `${EVENTS}/${made.metadata.name}`;
      denied(await thief.request({ method: 'PATCH', path, body: { count: 2 } }), /in its own name/);
      isForbidden(await thief.request({ method: 'DELETE', path }));
    });

    it('can change one annotation of the watcher’s Lease', async () => {
      const patch = (body: JsonObject) => thief.request({ method: 'PATCH', path: LEASE, body });
      const annotations = { 'rollcall.dev/snapshot-requested': 'x' };
      assert.equal((await patch({ metadata: { annotations } })).status, 200);
      assert.equal((await patch({ spec: { holderIdentity: 'thief' } })).status, 422);
    });
  });

  describe('with the right to roll back', () => {
    const patch = (name: string, body: JsonObject) =>
      thief.request({ method: 'PATCH', path: `${APPS}/daemonsets/${name}?dryRun=All`, body });
    const template = { spec: { template: { metadata: { labels: { version: 'b' } } } } };

    before(async () => {
      const named = ['named', 'unnamed'].map((name) => ({ namespace: 'default', name }));
      for (const object of rollbackRights(named))
        await createIfMissing(admin, object as unknown as KubernetesObject);
      await pollUntil({ deadlineMs: 60_000, description: 'the right to patch' }, async () =>
        (await patch('named', template)).status === 200 ? true : undefined,
      );
    });

    it('the template of a named DaemonSet can be changed', async () => {
      assert.equal((await patch('named', template)).status, 200);
    });

    it('of others nothing, whether by rights or by admission', async () => {
      isForbidden(await patch('plain', template));
      denied(await patch('unnamed', template), /touches only DaemonSets/);
    });

    it('nothing else of it', async () => {
      const others: readonly JsonObject[] = [
        { spec: { updateStrategy: { type: 'RollingUpdate' } } },
        { spec: { minReadySeconds: 5 } },
        { metadata: { annotations: { 'rollcall.dev/rollout': null } } },
        { metadata: { labels: { a: 'b' } } },
        { metadata: { finalizers: ['example.com/held'] } },
        { ...template, metadata: { annotations: { a: 'b' } } },
      ];
      for (const body of others) denied(await patch('named', body), /and nothing else of it/);
    });
  });

  describe('each verb', () => {
    const pod = () => pods.get('named')?.metadata.name ?? '';
    const counted = { method: 'PATCH', path: `${EVENTS}/counted?dryRun=All` } as const;
    const annotated = { metadata: { annotations: { 'rollcall.dev/snapshot-requested': 'y' } } };
    /** What a run asks for, by the one right that it needs. */
    const requests = (): Readonly<Record<string, Parameters<ApiClient['request']>[0]>> => ({
      'get daemonsets': { method: 'GET', path: `${APPS}/daemonsets/named` },
      'list daemonsets': { method: 'GET', path: `${APPS}/daemonsets?limit=1` },
      'get controllerrevisions': { method: 'GET', path: `${APPS}/controllerrevisions/named-1` },
      'get pods': { method: 'GET', path: `${PODS}/${pod()}` },
      'delete pods': { method: 'DELETE', path: `${PODS}/${pod()}?dryRun=All` },
      'get nodes': { method: 'GET', path: '/api/v1/nodes/n-1' },
      'list events': { method: 'GET', path: EVENTS },
      'create events': { method: 'POST', path: `${EVENTS}?dryRun=All`, body: eventOf('rollcall') },
      'patch events': { ...counted, body: { count: 2 } },
      'get namespaces': { method: 'GET', path: '/api/v1/namespaces/kube-system' },
      'get leases': { method: 'GET', path: LEASE },
      'patch leases': { method: 'PATCH', path: LEASE, body: annotated },
    });
    const refusedTo = async (token: string): Promise<readonly string[]> => {
      const { server, caPem } = controlPlane;
      const client = createApiClient({ server, caPem, token });
      try {
        const answers = Object.entries(requests()).map(async ([right, request]) => {
          const { status } = await client.request(request);
          assert.ok(status < 300 || status === 403, `${right}: ${String(status)}`);
          return status === 403 ? [right] : [];
        });
        return (await Promise.all(answers)).flat();
      } finally {
        client.close();
      }
    };
    const accountWith = async (name: string, rules: typeof RULES): Promise<string> => {
      const token = await tokenWith(admin, name, rules);
      const { server, caPem } = controlPlane;
      const client = createApiClient({ server, caPem, token });
      await untilInForce(client, rules).finally(client.close);
      return token;
    };

    before(async () => {
      await admin.post(EVENTS, {
        ...eventOf('rollcall'),
        metadata: { name: 'counted', namespace: 'default' },
      });
    });

    it('is needed, and there is none besides', async () => {
      const shipped = rightsOf(RULES).map(({ verb, resource }) => `${verb} ${resource}`);
      assert.deepEqual(shipped.toSorted(), Object.keys(requests()).toSorted());
      assert.deepEqual(await refusedTo(await accountWith('whole', RULES)), []);
    });

    for (const right of rightsOf(RULES)) {
      const name = `${right.verb} ${right.resource}`;
      it(`without ${name} only what needs it fails`, async () => {
        const account = name.replaceAll(/[^a-z]/g, '-');
        const token = await accountWith(account, withoutRight(RULES, right));
        assert.deepEqual(await refusedTo(token), [name]);
      });
    }
  });
});
