/**
 * Access decisions against SubjectAccessReviews that kube-apiserver v1.36.3 answered (recorded-reviews.json), and what
 * the reviews themselves answer.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { User } from '../../../src/api/request/api-request.ts';
import type { ResourceName } from '../../../src/objects/api-object.ts';
import { formatTime } from '../../../src/objects/timestamps.ts';
import { ADMINISTRATOR, createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

interface Recorded {
  readonly objects: readonly (JsonObject & {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
  })[];
  readonly reviews: readonly {
    readonly spec: JsonObject & { readonly user: string };
    readonly status: { readonly allowed: boolean };
  }[];
}

const recorded = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'recorded-reviews.json'), 'utf8'),
) as Recorded;

const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';

async function worldWithRoles(): Promise<LocalWorld> {
  const world = await createLocalWorld();
  for (const name of ['ns1', 'ns2']) {
    await created(world, 'namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const object of recorded.objects) {
    await created(world, `${object.kind.toLowerCase()}s.${GROUP}` as ResourceName, object);
  }
  return world;
}

async function created(
  world: LocalWorld,
  resource: ResourceName,
  object: JsonObject,
): Promise<void> {
  const outcome = await world.admin.create(resource, object);
  assert.equal(outcome.kind, 'ok', JSON.stringify(outcome));
}

interface Answer {
  readonly code: number;
  readonly body: JsonObject;
}

function post(
  world: LocalWorld,
  target: string,
  { user, body }: { readonly user: User; readonly body: Json },
): Answer {
  const answer = world.handler.handle({ method: 'POST', target, user, body });
  assert.equal(answer.kind, 'object');
  return { code: answer.status, body: answer.body };
}

describe('access', async () => {
  const world = await worldWithRoles();
  for (const { spec, status } of recorded.reviews) {
    const { user: _user, groups: _groups, ...question } = spec;
    const verdict = status.allowed ? 'is allowed' : 'is denied';
    test(`${spec.user} ${verdict} ${JSON.stringify(question)}`, () => {
      const answer = post(world, `${AUTHORIZATION}/subjectaccessreviews`, {
        user: ADMINISTRATOR,
        body: { spec },
      });
      assert.equal(answer.code, 201);
      assert.equal((answer.body['status'] as JsonObject)['allowed'], status.allowed);
    });
  }
});

describe('a change of roles', () => {
  const ann: User = { name: 'ann', groups: ['system:authenticated'] };
  const asksForPods = {
    method: 'GET',
    target: '/api/v1/namespaces/default/pods',
    user: ann,
  } as const;
  const statusOf = (world: LocalWorld): number => {
    const answer = world.handler.handle(asksForPods);
    assert.equal(answer.kind, 'object');
    return answer.status;
  };
  const role = {
    apiVersion: `${GROUP}/v1`,
    kind: 'Role',
    metadata: { name: 'reader', namespace: 'default' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }],
  };
  const binding = {
    apiVersion: `${GROUP}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'reader', namespace: 'default' },
    roleRef: { apiGroup: GROUP, kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'User', apiGroup: GROUP, name: 'ann' }],
  };

  test('counts from the next request on', async () => {
    const world = await createLocalWorld();
    assert.equal(statusOf(world), 403);
    await created(world, `rolebindings.${GROUP}`, binding);
    assert.equal(statusOf(world), 403);
    await created(world, `roles.${GROUP}`, role);
    assert.equal(statusOf(world), 200);
    await world.admin.delete({
      resource: `rolebindings.${GROUP}`,
      namespace: 'default',
      name: 'reader',
    });
    assert.equal(statusOf(world), 403);
  });
});

describe('a review', () => {
  const ann: User = { name: 'ann', groups: ['system:authenticated'] };

  test('is refused when it asks nothing, or asks two things', async () => {
    const world = await createLocalWorld();
    const nothing = {
      reason: 'FieldValueInvalid',
      message:
        'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
      field: 'spec.resourceAttributes',
    };
    const both = {
      reason: 'FieldValueInvalid',
      message: 'Invalid value: {}: cannot be specified in combination with resourceAttributes',
      field: 'spec.nonResourceAttributes',
    };
    const resourceAttributes = { verb: 'get', resource: 'pods' };
    for (const [spec, cause] of [
      [{}, nothing],
      [{ resourceAttributes, nonResourceAttributes: {} }, both],
    ] as const) {
      const answer = post(world, `${AUTHORIZATION}/selfsubjectaccessreviews`, {
        user: ann,
        body: { spec },
      });
      assert.equal(answer.code, 422);
      assert.deepEqual((answer.body['details'] as JsonObject)['causes'], [cause]);
    }
  });

  test('about others is for those who may ask', async () => {
    const world = await createLocalWorld();
    const body = { spec: { user: 'ben', resourceAttributes: { verb: 'get', resource: 'pods' } } };
    const target = `${AUTHORIZATION}/subjectaccessreviews`;
    assert.equal(post(world, target, { user: ann, body }).code, 403);
    assert.equal(post(world, target, { user: ADMINISTRATOR, body }).code, 201);
    const nobody = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
    assert.equal(post(world, target, { user: ADMINISTRATOR, body: nobody }).code, 422);
  });

  test('tells who asks', async () => {
    const world = await createLocalWorld();
    const target = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
    const { code, body } = post(world, target, { user: ann, body: {} });
    assert.equal(code, 201);
    assert.deepEqual(body['status'], {
      userInfo: { username: 'ann', groups: ['system:authenticated'] },
    });
    assert.deepEqual(body['metadata'], {
      creationTimestamp: formatTime(world.clock.nowMs()),
    });
  });

  test('lists the rules that hold in a namespace', async () => {
    const world = await worldWithRoles();
    const target = `${AUTHORIZATION}/selfsubjectrulesreviews`;
    const user: User = { name: 'ben', groups: [] };
    const { body } = post(world, target, { user, body: { spec: { namespace: 'ns1' } } });
    assert.deepEqual(body['status'], {
      resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['*'] }],
      nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics', '/debug/*'] }],
      incomplete: false,
    });
    assert.equal(post(world, target, { user: ann, body: { spec: {} } }).code, 400);
  });

  test('is created, not read', async () => {
    const world = await createLocalWorld();
    const target = `${AUTHORIZATION}/selfsubjectaccessreviews`;
    const read = world.handler.handle({ method: 'GET', target, user: ADMINISTRATOR });
    assert.equal(read.kind === 'object' ? read.status : 0, 405);
    const body = { kind: 'Pod', apiVersion: 'v1' };
    assert.equal(post(world, target, { user: ann, body }).code, 400);
    assert.equal(post(world, target, { user: ann, body: [1] }).code, 400);
  });
});
