/** Kinds that are stored and nothing more: one definition for all of them. */
import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiAnswer, ApiRequest } from '../../../src/api/request/api-request.ts';
import { ADMINISTRATOR, createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

let world: LocalWorld;
beforeEach(async () => {
  world = await createLocalWorld();
});

type ObjectAnswer = Extract<ApiAnswer, { kind: 'object' }>;

function ask(
  method: ApiRequest['method'],
  target: string,
  rest: Partial<ApiRequest> = {},
): ObjectAnswer {
  const answer = world.handler.handle({ method, target, user: ADMINISTRATOR, ...rest });
  assert.equal(answer.kind, 'object');
  return answer;
}

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

function deployment(image: string): JsonObject {
  return {
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image }] },
      },
    },
  };
}

describe('a Deployment', () => {
  test('is stored with the empty status that Go writes, in its first generation', () => {
    const body = { ...deployment('web:1'), status: { replicas: 3 } };
    const created = ask('POST', DEPLOYMENTS, { body });
    assert.equal(created.status, 201);
    assert.deepEqual(created.body['status'], {});
    const { generation } = created.body['metadata'] as JsonObject;
    assert.equal(generation, 1);
  });

  test('counts a generation when its spec changes, and none when a label or its status does', () => {
    ask('POST', DEPLOYMENTS, { body: deployment('web:1') });
    const patch = (path: string, body: JsonObject): JsonObject =>
      ask('PATCH', `${DEPLOYMENTS}/${path}`, {
        body,
        contentType: 'application/strategic-merge-patch+json',
      }).body;
    const generationOf = (body: JsonObject): unknown =>
      (body['metadata'] as JsonObject)['generation'];
    const container = { name: 'web', image: 'web:2' };
    const changed = patch('web', { spec: { template: { spec: { containers: [container] } } } });
    assert.equal(generationOf(changed), 2);
    assert.equal(generationOf(patch('web', { metadata: { labels: { a: 'b' } } })), 2);
    const reported = patch('web/status', { status: { replicas: 3 }, spec: { paused: true } });
    assert.equal(generationOf(reported), 2);
    assert.deepEqual(reported['status'], { replicas: 3 });
    assert.equal((reported['spec'] as JsonObject)['paused'], undefined);
  });

  test('is refused with a field that it does not have', () => {
    const body = deployment('web:1');
    const wrong = { ...body, spec: { ...(body['spec'] as JsonObject), replica: 1 } };
    const answer = ask('POST', `${DEPLOYMENTS}?fieldValidation=Strict`, { body: wrong });
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer.body['message']), /unknown field \\"spec.replica\\"/);
  });

  test('is applied by the server, and its fields have owners', () => {
    const apply = (manager: string, image: string): ObjectAnswer =>
      ask('PATCH', `${DEPLOYMENTS}/web?fieldManager=${manager}`, {
        body: { apiVersion: 'apps/v1', kind: 'Deployment', ...deployment(image) },
        contentType: 'application/apply-patch+yaml',
      });
    assert.equal(apply('ann', 'web:1').status, 201);
    assert.equal(apply('ann', 'web:2').status, 200);
    assert.equal(apply('bob', 'web:3').status, 409);
  });
});

test('what takes no PUT without a version is applied without one', () => {
  const target = '/apis/policy/v1/namespaces/default/poddisruptionbudgets/web';
  const apply = (maxUnavailable: number): number =>
    ask('PATCH', `${target}?fieldManager=ann`, {
      body: {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web' },
        spec: { maxUnavailable },
      },
      contentType: 'application/apply-patch+yaml',
    }).status;
  assert.equal(apply(1), 201);
  assert.equal(apply(2), 200);
});

test('a Service is given an address, and its ports a protocol', () => {
  const created = ask('POST', '/api/v1/namespaces/default/services', {
    body: { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } },
  });
  const spec = created.body['spec'] as JsonObject;
  assert.match(JSON.stringify(spec['clusterIP']), /^"10\.(?:9[6-9]|10\d|11[01])\.\d+\.\d+"$/);
  assert.deepEqual(spec['ports'], [{ port: 80, protocol: 'TCP', targetPort: 80 }]);
  assert.deepEqual(created.body['status'], { loadBalancer: {} });
});

test('what a cluster would enforce says on create, and only then, that it is not enforced', () => {
  const quotas = '/api/v1/namespaces/default/resourcequotas';
  const body = { metadata: { name: 'few' }, spec: { hard: { pods: '2' } } };
  const created = ask('POST', quotas, { body });
  assert.deepEqual(created.warnings, ['ResourceQuota is stored, not enforced, by a local cluster']);
  const replaced = ask('PUT', `${quotas}/few`, { body: created.body });
  assert.deepEqual(replaced.warnings ?? [], []);
});

test('a table of a kind that is only stored has name and age', () => {
  const answer = ask('GET', '/apis/policy/v1/poddisruptionbudgets', {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  });
  const columns = answer.body['columnDefinitions'] as readonly JsonObject[];
  assert.deepEqual(
    columns.map(({ name }) => name),
    ['Name', 'Age'],
  );
});

describe('a pod that names a RuntimeClass', () => {
  const PODS = '/api/v1/namespaces/default/pods';
  const pod = (spec: JsonObject = {}): JsonObject => ({
    metadata: { name: 'p' },
    spec: { runtimeClassName: 'boxed', containers: [{ name: 'a', image: 'a:1' }], ...spec },
  });
  beforeEach(async () => {
    await world.create('serviceaccounts', { metadata: { name: 'default', namespace: 'default' } });
  });
  const createClass = (): ObjectAnswer =>
    ask('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
      body: {
        metadata: { name: 'boxed' },
        handler: 'box',
        overhead: { podFixed: { memory: '64Mi' } },
        scheduling: {
          nodeSelector: { boxes: 'yes' },
          tolerations: [{ key: 'boxes', operator: 'Exists' }],
        },
      },
    });

  test('is refused without the class', () => {
    const refused = ask('POST', PODS, { body: pod() });
    assert.equal(refused.status, 403);
    assert.match(JSON.stringify(refused.body['message']), /RuntimeClass \\"boxed\\" not found/);
  });

  test('is given its overhead, its node selector and its tolerations', () => {
    assert.equal(createClass().status, 201);
    const created = ask('POST', PODS, { body: pod({ nodeSelector: { own: 'a' } }) });
    const spec = created.body['spec'] as JsonObject;
    assert.deepEqual(spec['overhead'], { memory: '64Mi' });
    assert.deepEqual(spec['nodeSelector'], { own: 'a', boxes: 'yes' });
    const tolerations = spec['tolerations'] as readonly JsonObject[];
    assert.ok(tolerations.some(({ key }) => key === 'boxes'));
  });
});
