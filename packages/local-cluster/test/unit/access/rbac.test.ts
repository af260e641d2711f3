/** What roles allow, by the reviews that ask about them, and what the reviews themselves answer. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { User } from '../../../src/api/request/api-request.ts';
import { ADMINISTRATOR, createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const GROUP = 'rbac.authorization.k8s.io';
const ANN: User = { name: 'ann', groups: ['system:authenticated'] };

interface Rule extends JsonObject {
  readonly verbs: readonly string[];
}

async function define(
  world: LocalWorld,
  role: { readonly name: string; readonly namespace?: string; readonly rules: readonly Rule[] },
): Promise<void> {
  const { name, namespace, rules } = role;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const resource = namespace === undefined ? 'clusterroles' : 'roles';
  await world.create(`${resource}.${GROUP}`, {
    apiVersion: `${GROUP}/v1`,
    kind,
    metadata,
    rules,
  });
}

async function bind(
  world: LocalWorld,
  binding: {
    readonly role: string;
    readonly kind?: 'Role' | 'ClusterRole';
    readonly namespace?: string;
    readonly subject: JsonObject & { readonly name: string };
  },
): Promise<void> {
  const { role, kind = 'ClusterRole', namespace, subject } = binding;
  const name = `${role}-to-${subject.name}`;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const bindingKind = namespace === undefined ? 'ClusterRoleBinding' : 'RoleBinding';
  const resource = namespace === undefined ? 'clusterrolebindings' : 'rolebindings';
  const apiGroup = subject['kind'] === 'ServiceAccount' ? {} : { apiGroup: GROUP };
  await world.create(`${resource}.${GROUP}`, {
    apiVersion: `${GROUP}/v1`,
    kind: bindingKind,
    metadata,
    roleRef: { apiGroup: GROUP, kind, name: role },
    subjects: [{ ...apiGroup, ...subject }],
  });
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

/** `get pods`, `get apps/daemonsets/status ns/name`, `get /healthz`. */
function specOf(question: string): JsonObject {
  const [verb = '', what = '', where = ''] = question.split(' ');
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } };
  const [group = '', resource = '', subresource] = what.includes('apps/')
    ? what.split('/')
    : ['', ...what.split('/')];
  const [namespace = '', name] = where.split('/');
  return {
    resourceAttributes: {
      verb,
      group,
      resource,
      namespace,
      ...(subresource === undefined ? {} : { subresource }),
      ...(name === undefined ? {} : { name }),
    },
  };
}

function may(world: LocalWorld, user: User, question: string): boolean {
  const spec = { ...specOf(question), user: user.name, groups: user.groups };
  const target = `${AUTHORIZATION}/subjectaccessreviews`;
  const { code, body } = post(world, target, { user: ADMINISTRATOR, body: { spec } });
  assert.equal(code, 201);
  return (body['status'] as JsonObject)['allowed'] === true;
}

describe('access', async () => {
  const world = await createLocalWorld();
  const namespaced = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns1' } };
  await world.create('namespaces', namespaced);
  const pods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
  await define(world, { name: 'reader', rules: [pods] });
  await define(world, { name: 'reader', namespace: 'ns1', rules: [pods] });
  const named = { verbs: ['*'], apiGroups: ['apps'], resources: ['daemonsets'] };
  await define(world, { name: 'named', rules: [{ ...named, resourceNames: ['a', 'b'] }] });
  const statuses = { verbs: ['patch'], apiGroups: ['*'], resources: ['*/status'] };
  await define(world, { name: 'statuses', rules: [statuses] });
  const paths = { verbs: ['get'], nonResourceURLs: ['/metrics', '/debug/*'] };
  await define(world, { name: 'paths', rules: [paths] });
  const account = { kind: 'ServiceAccount', namespace: 'ns1', name: 'agent' };
  await bind(world, { role: 'reader', subject: { kind: 'User', name: 'everywhere' } });
  await bind(world, {
    role: 'reader',
    kind: 'Role',
    namespace: 'ns1',
    subject: { kind: 'Group', name: 'readers' },
  });
  await bind(world, { role: 'named', subject: { kind: 'User', name: 'namer' } });
  await bind(world, { role: 'statuses', subject: account });
  await bind(world, { role: 'paths', subject: { kind: 'User', name: 'scraper' } });
  await bind(world, { role: 'cluster-admin', subject: { kind: 'User', name: 'root' } });
  await bind(world, { role: 'missing', subject: { kind: 'User', name: 'unlucky' } });

  const user = (name: string, ...groups: string[]): User => ({ name, groups });
  const agent = user('system:serviceaccount:ns1:agent');
  const cases: readonly (readonly [User, string, boolean])[] = [
    [user('everywhere'), 'list pods', true],
    [user('everywhere'), 'get pods ns1/a', true],
    [user('everywhere'), 'delete pods ns1/a', false],
    [user('everywhere'), 'get apps/pods', false],
    [user('everywhere'), 'get pods/log ns1/a', false],
    [user('x', 'readers'), 'list pods ns1', true],
    [user('x', 'readers'), 'list pods', false],
    [user('x', 'readers'), 'list pods default', false],
    [user('namer'), 'delete apps/daemonsets ns1/a', true],
    [user('namer'), 'delete apps/daemonsets ns1/c', false],
    [user('namer'), 'list apps/daemonsets ns1', false],
    [agent, 'patch apps/daemonsets/status ns1/a', true],
    [agent, 'patch apps/daemonsets ns1/a', false],
    [user('system:serviceaccount:default:agent'), 'patch pods/status ns1/a', false],
    [user('scraper'), 'get /metrics', true],
    [user('scraper'), 'get /debug/pprof', true],
    [user('scraper'), 'get /debug', false],
    [user('scraper'), 'post /metrics', false],
    [user('root'), 'delete nodes', true],
    [user('root'), 'get /anything', true],
    [user('m', 'system:masters'), 'delete nodes', true],
    [user('unlucky'), 'get pods', false],
    [ANN, 'get /apis', true],
    [ANN, 'get /openapi/v3', true],
    [ANN, 'get /metrics', false],
    [user('z', 'system:unauthenticated'), 'get /healthz', true],
    [user('z', 'system:unauthenticated'), 'get /apis', false],
  ];
  for (const [who, question, expected] of cases) {
    test(`${who.name} ${expected ? 'may' : 'may not'} ${question}`, () => {
      assert.equal(may(world, who, question), expected);
    });
  }

  test('tells which binding allows it, and which bound role is missing', () => {
    const reasonOf = (name: string): Json | undefined => {
      const spec = { ...specOf('list pods'), user: name };
      const target = `${AUTHORIZATION}/subjectaccessreviews`;
      const { body } = post(world, target, { user: ADMINISTRATOR, body: { spec } });
      return (body['status'] as JsonObject)['reason'];
    };
    const allowed =
      'RBAC: allowed by ClusterRoleBinding "reader-to-everywhere" of ClusterRole "reader" to User "everywhere"';
    assert.equal(reasonOf('everywhere'), allowed);
    const missing = 'RBAC: clusterrole.rbac.authorization.k8s.io "missing" not found';
    assert.equal(reasonOf('unlucky'), missing);
  });
});

test('a change of roles counts from the next request on', async () => {
  const world = await createLocalWorld();
  const statusOf = (): number => {
    const target = '/api/v1/namespaces/default/pods';
    const answer = world.handler.handle({ method: 'GET', target, user: ANN });
    assert.equal(answer.kind, 'object');
    return answer.status;
  };
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }];
  const namespace = 'default';
  assert.equal(statusOf(), 403);
  const subject = { kind: 'User', name: 'ann' };
  await bind(world, { role: 'reader', kind: 'Role', namespace, subject });
  assert.equal(statusOf(), 403);
  await define(world, { name: 'reader', namespace, rules });
  assert.equal(statusOf(), 200);
  const resource = `rolebindings.${GROUP}` as const;
  await world.admin.delete({ resource, namespace, name: 'reader-to-ann' });
  assert.equal(statusOf(), 403);
});

describe('a review', () => {
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
        user: ANN,
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
    assert.equal(post(world, target, { user: ANN, body }).code, 403);
    assert.equal(post(world, target, { user: ADMINISTRATOR, body }).code, 201);
    const nobody = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
    assert.equal(post(world, target, { user: ADMINISTRATOR, body: nobody }).code, 422);
  });

  test('is created, not read', async () => {
    const world = await createLocalWorld();
    const target = `${AUTHORIZATION}/selfsubjectaccessreviews`;
    const read = world.handler.handle({ method: 'GET', target, user: ADMINISTRATOR });
    assert.equal(read.kind === 'object' ? read.status : 0, 405);
    const body = { kind: 'Pod', apiVersion: 'v1' };
    assert.equal(post(world, target, { user: ANN, body }).code, 400);
    assert.equal(post(world, target, { user: ANN, body: [1] }).code, 400);
  });
});
