/** The in-process client: which requests it makes, and what it makes of the answers. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiAnswer, ApiRequest } from '../../../src/api/request/api-request.ts';
import { createClientFactory } from '../../../src/client/in-process-client.ts';
import type { LocalClient } from '../../../src/client/local-client.ts';
import { createLocalWorld } from '../../support/world.ts';
import { storablePod } from '../../support/stored-objects.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const USER = { name: 'system:node:one', groups: ['system:nodes'] };
const POD_REF = { resource: 'pods', namespace: 'default', name: 'a' } as const;
const DAEMON_SET_REF = { resource: 'daemonsets.apps', namespace: 'default', name: 'a' } as const;
const NODE_REF = { resource: 'nodes', name: 'a' } as const;
const LEASE = 'leases.coordination.k8s.io';

/** A client whose one request is looked at and answered by the test. */
function clientOf(answer: ApiAnswer): { client: LocalClient; asked: readonly ApiRequest[] } {
  const asked: ApiRequest[] = [];
  const factory = createClientFactory({
    handler: {
      handle: (request) => {
        asked.push(request);
        return answer;
      },
    },
  });
  return { client: factory.clientFor(USER), asked };
}

const ok = (status = 200): ApiAnswer => ({
  kind: 'object',
  status,
  body: storablePod({ name: 'a' }),
});

describe('requests', () => {
  const cases: readonly {
    readonly title: string;
    readonly call: (client: LocalClient) => Promise<unknown>;
    readonly line: string;
    readonly contentType?: string;
    readonly body?: unknown;
  }[] = [
    { title: 'get', call: (it) => it.get(POD_REF), line: 'GET /api/v1/namespaces/default/pods/a' },
    { title: 'get of a node', call: (it) => it.get(NODE_REF), line: 'GET /api/v1/nodes/a' },
    {
      title: 'get of a name with a colon',
      call: (it) => it.get({ resource: 'clusterroles.rbac.authorization.k8s.io', name: 'a:b/c' }),
      line: 'GET /apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab%2Fc',
    },
    {
      title: 'create',
      call: (it) => it.create(LEASE, { metadata: { name: 'a', namespace: 'x' } }),
      line: 'POST /apis/coordination.k8s.io/v1/namespaces/x/leases',
      body: { metadata: { name: 'a', namespace: 'x' } },
    },
    {
      title: 'create of a cluster-scoped object',
      call: (it) => it.create('nodes', { metadata: { name: 'a' } }),
      line: 'POST /api/v1/nodes',
      body: { metadata: { name: 'a' } },
    },
    {
      title: 'update',
      call: (it) => it.update(DAEMON_SET_REF, { spec: {} }),
      line: 'PUT /apis/apps/v1/namespaces/default/daemonsets/a',
      body: { spec: {} },
    },
    {
      title: 'update of a subresource',
      call: (it) => it.update({ resource: 'namespaces', name: 'x' }, { spec: {} }, 'finalize'),
      line: 'PUT /api/v1/namespaces/x/finalize',
      body: { spec: {} },
    },
    {
      title: 'update of the status',
      call: (it) => it.updateStatus(POD_REF, { status: {} }),
      line: 'PUT /api/v1/namespaces/default/pods/a/status',
      body: { status: {} },
    },
    ...(
      [
        ['json', 'application/json-patch+json', ''],
        ['merge', 'application/merge-patch+json', ''],
        ['strategic', 'application/strategic-merge-patch+json', ''],
        ['apply', 'application/apply-patch+yaml', '?fieldManager=one&force=true'],
      ] as const
    ).map(([type, contentType, query]) => ({
      title: `${type} patch`,
      call: (it: LocalClient) => it.patch(NODE_REF, { type, body: [], subresource: 'status' }),
      line: `PATCH /api/v1/nodes/a/status${query}`,
      contentType,
      body: [],
    })),
    { title: 'delete', call: (it) => it.delete(NODE_REF), line: 'DELETE /api/v1/nodes/a' },
    {
      title: 'delete with every wish',
      call: (it) =>
        it.delete(POD_REF, {
          gracePeriodSeconds: 0,
          uid: 'u',
          resourceVersion: '7',
          propagation: 'Orphan',
        }),
      line: 'DELETE /api/v1/namespaces/default/pods/a',
      body: {
        apiVersion: 'v1',
        kind: 'DeleteOptions',
        gracePeriodSeconds: 0,
        propagationPolicy: 'Orphan',
        preconditions: { uid: 'u', resourceVersion: '7' },
      },
    },
    {
      title: 'action',
      call: (it) => it.act(POD_REF, 'binding', { target: {} }),
      line: 'POST /api/v1/namespaces/default/pods/a/binding',
      body: { target: {} },
    },
  ];
  for (const { title, call, line, contentType, body } of cases) {
    test(title, async () => {
      const { client, asked } = clientOf(ok());
      assert.deepEqual(await call(client), { kind: 'ok', object: storablePod({ name: 'a' }) });
      const [request] = asked;
      assert.equal(asked.length, 1);
      assert.equal(`${request?.method ?? ''} ${request?.target ?? ''}`, line);
      assert.equal(request?.contentType, contentType);
      assert.deepEqual(request?.body, body);
      assert.deepEqual([request?.user, request?.userAgent], [USER, 'one']);
    });
  }

  test('list', async () => {
    const [whole, bare] = [storablePod({ name: 'a' }), storablePod({ name: 'b' })];
    const { kind: _kind, apiVersion: _apiVersion, ...withoutType } = bare;
    const { client, asked } = clientOf({
      kind: 'object',
      status: 200,
      body: {
        kind: 'PodList',
        apiVersion: 'v1',
        metadata: { resourceVersion: '5' },
        items: [whole, withoutType],
      },
    });
    const items = await client.list({
      resource: 'pods',
      labelSelector: 'app in (a,b)',
      fieldSelector: 'spec.nodeName=one',
    });
    assert.equal(items[0], whole, 'the stored object itself');
    assert.deepEqual(items[1], bare, 'with the kind that the list implies');
    assert.equal(
      asked[0]?.target,
      '/api/v1/pods?labelSelector=app%20in%20(a%2Cb)&fieldSelector=spec.nodeName%3Done',
    );
  });
});

describe('outcomes', () => {
  test('a refusal is a value', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'NotFound',
      code: 404,
    } as const;
    const { client } = clientOf({ kind: 'object', status: 404, body: status });
    assert.deepEqual(await client.get(POD_REF), { kind: 'refused', status });
  });

  test('what is no answer of the API is a bug', async () => {
    const watch = clientOf({ kind: 'watch', open: () => () => undefined });
    await assert.rejects(watch.client.get(POD_REF), /answered with a watch/);
    await assert.rejects(clientOf(ok(500)).client.get(POD_REF), /500 without a Status/);
    const refused = clientOf({ kind: 'object', status: 403, body: { message: 'no' } });
    await assert.rejects(refused.client.list({ resource: 'pods' }), /was refused: .*"no"/);
  });

  test('of the real handler are stored objects, shared', async () => {
    const { admin, store } = await createLocalWorld();
    const ref = { resource: 'configmaps', namespace: 'default', name: 'a' } as const;
    const created = await admin.create('configmaps', {
      metadata: { name: 'a', namespace: 'default' },
      data: { key: 'value' },
    });
    assert(created.kind === 'ok');
    assert.equal(created.object, store.get(ref));
    assert.deepEqual(await admin.get(ref), created);
    const patched = await admin.patch(ref, { type: 'merge', body: { data: { key: null } } });
    assert(patched.kind === 'ok');
    assert.equal(
      (await admin.list({ resource: 'configmaps', namespace: 'default' }))[0],
      store.get(ref),
    );
    const refused = await admin.delete(ref, { uid: 'another' });
    assert(refused.kind === 'refused');
    assert.equal(refused.status.reason, 'Conflict');
    assert.equal((await admin.delete(ref)).kind, 'ok');
    assert.equal(store.get(ref), undefined);
  });
});

test('with a latency a request is carried out when that is over', async () => {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const client = createClientFactory({
    handler: {
      handle: ({ target }) => {
        asked.push(target);
        return ok();
      },
    },
    latency: () => clock.sleep(20),
  }).clientFor(USER);
  const outcome = client.get(NODE_REF);
  await clock.advance(19);
  assert.deepEqual(asked, []);
  await clock.advance(1);
  assert.deepEqual(asked, ['/api/v1/nodes/a']);
  assert.equal((await outcome).kind, 'ok');
});
