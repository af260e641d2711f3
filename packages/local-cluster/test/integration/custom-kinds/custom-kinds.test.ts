/** Custom kinds on a local cluster: served as their definition says, and gone with it. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { ApiRequest } from '../../../src/api/request/api-request.ts';
import { startControllers } from '../../../src/controllers/start-controllers.ts';
import type { ResourceName } from '../../../src/objects/api-object.ts';
import { openJournal } from '../../../src/store/journal.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { configMapObject } from '../../support/objects.ts';
import { ADMINISTRATOR, createLocalWorld, demand } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

const DEFINITIONS = 'customresourcedefinitions.apiextensions.k8s.io' as ResourceName;
const CRONTABS = 'crontabs.stable.example.com' as ResourceName;
const NAME = 'crontabs.stable.example.com';
const ROOT = '/apis/stable.example.com';
const V1 = `${ROOT}/v1/namespaces/default/crontabs`;

const SPEC = {
  type: 'object',
  properties: {
    cronSpec: { type: 'string' },
    replicas: { type: 'integer' },
    images: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const SCHEMA = {
  type: 'object',
  properties: { spec: SPEC, status: { type: 'object', properties: { phase: { type: 'string' } } } },
};

function definition(more: JsonObject = {}): JsonObject {
  const version = { served: true, schema: { openAPIV3Schema: SCHEMA } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME },
    spec: {
      group: 'stable.example.com',
      scope: 'Namespaced',
      names: { plural: 'crontabs', kind: 'CronTab', shortNames: ['ct'] },
      versions: [
        { ...version, name: 'v1beta1', storage: false },
        { ...version, name: 'v1', storage: true, subresources: { status: {} } },
      ],
      ...more,
    },
  };
}

function cronTab(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'stable.example.com/v1',
    kind: 'CronTab',
    metadata: { name, namespace: 'default', ...metadata },
    spec,
  };
}

class Cluster {
  readonly world: LocalWorld;
  readonly #controllers: ReturnType<typeof startControllers>;

  constructor(world: LocalWorld) {
    this.world = world;
    const { clients, clock, log } = world;
    this.#controllers = startControllers({ clients, clock, log });
  }

  ask(method: ApiRequest['method'], target: string, more: Partial<ApiRequest> = {}): Answer {
    const answer = this.world.handler.handle({ method, target, user: ADMINISTRATOR, ...more });
    if (answer.kind === 'text') return { status: answer.status, body: parsed(answer.text) };
    assert(answer.kind === 'object');
    return { status: answer.status, body: answer.body };
  }

  async define(more: JsonObject = {}): Promise<void> {
    await this.world.create(DEFINITIONS, definition(more));
    await this.world.settle();
  }

  async stop(): Promise<void> {
    await this.#controllers.stop();
    assert.deepEqual(this.world.log.at('error'), []);
  }
}

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

function parsed(text: string): JsonObject {
  return text.startsWith('{') ? (JSON.parse(text) as JsonObject) : { text };
}

async function startCluster(store?: Store): Promise<Cluster> {
  const world = await createLocalWorld(store === undefined ? {} : { store });
  const cluster = new Cluster(world);
  await world.settle();
  return cluster;
}

describe('a custom kind', () => {
  let cluster: Cluster;
  beforeEach(async () => {
    cluster = await startCluster();
  });
  afterEach(async () => {
    await cluster.stop();
  });

  it('is established, and told by discovery in each served version, the stable one first', async () => {
    assert.equal(cluster.ask('GET', ROOT).status, 404);
    await cluster.define();
    const { body } = cluster.ask(
      'GET',
      `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${NAME}`,
    );
    const conditions = jsonItems(jsonMember(body['status'], 'conditions')).map((one) => [
      jsonMember(one, 'type'),
      jsonMember(one, 'status'),
    ]);
    assert.deepEqual(conditions, [
      ['NamesAccepted', 'True'],
      ['Established', 'True'],
    ]);
    assert.deepEqual(jsonMember(body['status'], 'storedVersions'), ['v1']);
    const group = cluster.ask('GET', ROOT).body;
    assert.deepEqual(
      jsonItems(group['versions']).map((one) => jsonMember(one, 'version')),
      ['v1', 'v1beta1'],
    );
    const names = jsonItems(cluster.ask('GET', `${ROOT}/v1`).body['resources']).map((one) =>
      jsonMember(one, 'name'),
    );
    assert.deepEqual(names, ['crontabs', 'crontabs/status']);
    const aggregated = cluster.ask('GET', '/apis', {
      accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    });
    assert.match(JSON.stringify(aggregated.body), /"responseKind":\{[^}]*"kind":"CronTab"\}/);
  });

  it('is told by OpenAPI with its schema, and without strategic merge patches', async () => {
    await cluster.define();
    assert.ok(
      `apis/stable.example.com/v1` in
        (cluster.ask('GET', '/openapi/v3').body['paths'] as JsonObject),
    );
    const { body } = cluster.ask('GET', '/openapi/v3/apis/stable.example.com/v1');
    const schemas = jsonMember(body['components'], 'schemas');
    const schema = jsonMember(schemas, 'com.example.stable.v1.CronTab');
    assert.deepEqual(jsonMember(jsonMember(schema, 'properties'), 'spec'), SPEC);
    assert.doesNotMatch(JSON.stringify(body['paths']), /strategic/);
  });

  it('is created, read in its other version, listed as a table and watched', async () => {
    await cluster.define();
    const seen: string[] = [];
    const watching = cluster.world.admin.observe({ resource: CRONTABS }, ({ type, object }) => {
      seen.push(`${type} ${object.metadata.name}`);
    });
    await cluster.world.settle();
    const body = cronTab('a', { cronSpec: '* *', replicas: 2 });
    assert.equal(cluster.ask('POST', V1, { body }).status, 201);
    const other = cluster.ask('GET', `${V1.replace('/v1/', '/v1beta1/')}/a`).body;
    assert.equal(other['apiVersion'], 'stable.example.com/v1beta1');
    assert.deepEqual(other['spec'], { cronSpec: '* *', replicas: 2 });
    const table = cluster.ask('GET', V1, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    }).body;
    assert.equal(jsonItems(jsonMember(jsonItems(table['rows'])[0], 'cells'))[0], 'a');
    cluster.ask('DELETE', `${V1}/a`);
    await cluster.world.settle();
    assert.deepEqual(seen, ['ADDED a', 'DELETED a']);
    watching.stop();
  });

  it('is printed in the columns that its definition asks for', async () => {
    const additionalPrinterColumns = [
      { name: 'Spec', type: 'string', jsonPath: '.spec.cronSpec' },
      { name: 'Ready', type: 'string', jsonPath: '.spec.extra.list[?(@.type=="Ready")].status' },
      { name: 'Missing', type: 'integer', jsonPath: '.spec.replicas' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ];
    const schema = { openAPIV3Schema: SCHEMA };
    const version = { name: 'v1', served: true, storage: true, schema, additionalPrinterColumns };
    await cluster.define({ versions: [version] });
    const extra = { list: [{ type: 'Other' }, { type: 'Ready', status: 'True' }] };
    cluster.ask('POST', V1, { body: cronTab('a', { cronSpec: '* *', extra }) });
    await cluster.world.clock.advance(5000);
    const { body } = cluster.ask('GET', V1, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const titles = jsonItems(body['columnDefinitions']).map((one) => jsonMember(one, 'name'));
    assert.deepEqual(titles, ['Name', 'Spec', 'Ready', 'Missing', 'Age']);
    const cells = jsonMember(jsonItems(body['rows'])[0], 'cells');
    assert.deepEqual(cells, ['a', '* *', 'True', null, '5s']);
  });

  it('loses fields that its schema does not name, and is refused for them where asked to be strict', async () => {
    await cluster.define();
    const spec = { cronSpec: 'x', wrong: 1, images: [{ name: 'a', tag: 'b' }], extra: { any: 1 } };
    const strict = cluster.ask('POST', `${V1}?fieldValidation=Strict`, {
      body: cronTab('a', spec),
    });
    assert.equal(strict.status, 400);
    assert.match(
      JSON.stringify(strict.body),
      /unknown field \\"spec\.wrong\\", unknown field \\"spec\.images\[0\]\.tag\\"/,
    );
    const { body } = cluster.ask('POST', V1, { body: cronTab('a', spec) });
    assert.deepEqual(body['spec'], { cronSpec: 'x', images: [{ name: 'a' }], extra: { any: 1 } });
  });

  it('takes JSON and merge patches, and answers 415 to a strategic one', async () => {
    await cluster.define();
    cluster.ask('POST', V1, { body: cronTab('a', { cronSpec: 'x', replicas: 1 }) });
    const merged = cluster.ask('PATCH', `${V1}/a`, {
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas: 2 } },
    });
    assert.deepEqual(merged.body['spec'], { cronSpec: 'x', replicas: 2 });
    assert.equal(jsonMember(merged.body['metadata'], 'generation'), 2);
    const patched = cluster.ask('PATCH', `${V1}/a`, {
      contentType: 'application/json-patch+json',
      body: [{ op: 'remove', path: '/spec/cronSpec' }],
    });
    assert.deepEqual(patched.body['spec'], { replicas: 2 });
    const strategic = cluster.ask('PATCH', `${V1}/a`, {
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { replicas: 3 } },
    });
    assert.equal(strategic.status, 415);
    const old = cluster.ask('PATCH', `${V1.replace('/v1/', '/v1beta1/')}/a`, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { a: 'b' } } },
    });
    assert.equal(old.status, 200);
    assert.equal(jsonMember(old.body['metadata'], 'generation'), 3, 'another version is no change');
  });

  it('is applied by several managers, each list of one of them alone', async () => {
    await cluster.define();
    const apply = (manager: string, spec: JsonObject, force = false): Answer =>
      cluster.ask('PATCH', `${V1}/a?fieldManager=${manager}&force=${String(force)}`, {
        contentType: 'application/apply-patch+yaml',
        body: cronTab('a', spec),
      });
    assert.equal(apply('one', { cronSpec: 'x', images: [{ name: 'a' }] }).status, 201);
    const both = apply('two', { replicas: 2 });
    assert.deepEqual(both.body['spec'], { cronSpec: 'x', images: [{ name: 'a' }], replicas: 2 });
    const refused = apply('two', { replicas: 2, images: [{ name: 'b' }] });
    assert.equal(refused.status, 409);
    assert.match(JSON.stringify(refused.body), /conflict with \\"one\\": \.spec\.images"/);
    assert.deepEqual(apply('two', { images: [{ name: 'b' }] }, true).body['spec'], {
      cronSpec: 'x',
      images: [{ name: 'b' }],
    });
    assert.deepEqual(apply('one', {}).body['spec'], { images: [{ name: 'b' }] });
  });

  it('has its status written by the status subresource alone', async () => {
    await cluster.define();
    const body = { ...cronTab('a'), status: { phase: 'Early' } };
    assert.equal(cluster.ask('POST', V1, { body }).body['status'], undefined);
    const written = cluster.ask('PATCH', `${V1}/a/status`, {
      contentType: 'application/merge-patch+json',
      body: { status: { phase: 'Running' }, spec: { replicas: 9 } },
    });
    assert.deepEqual([written.body['status'], written.body['spec']], [{ phase: 'Running' }, {}]);
    assert.equal(cluster.ask('GET', `${V1.replace('/v1/', '/v1beta1/')}/a/status`).status, 404);
  });

  it('is collected when its owner goes, owns others, and goes with its namespace', async () => {
    await cluster.define();
    const { world } = cluster;
    const owner = await world.create('configmaps', configMapObject('owner'));
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid },
    ];
    const made = cluster.ask('POST', V1, { body: cronTab('owned', {}, { ownerReferences }) }).body;
    const uid = jsonMember(made['metadata'], 'uid') ?? '';
    const kind = { apiVersion: 'stable.example.com/v1', kind: 'CronTab', name: 'owned', uid };
    const dependent = configMapObject('dependent');
    const metadata = { ...(dependent['metadata'] as JsonObject), ownerReferences: [kind] };
    await world.create('configmaps', { ...dependent, metadata });
    await world.settle();
    assert.ok(world.read({ resource: 'configmaps', namespace: 'default', name: 'dependent' }));
    demand(
      await world.admin.delete({ resource: 'configmaps', namespace: 'default', name: 'owner' }),
    );
    await world.settle();
    assert.equal(cluster.ask('GET', `${V1}/owned`).status, 404);
    assert.equal(
      world.read({ resource: 'configmaps', namespace: 'default', name: 'dependent' }),
      undefined,
    );
    await world.create('namespaces', { metadata: { name: 'short' } });
    const inShort = V1.replace('default', 'short');
    cluster.ask('POST', inShort, { body: cronTab('a', {}, { namespace: 'short' }) });
    demand(await world.admin.delete({ resource: 'namespaces', name: 'short' }));
    await world.settle();
    assert.equal(world.read({ resource: 'namespaces', name: 'short' }), undefined);
    assert.deepEqual(world.store.list(CRONTABS), []);
  });

  it('goes with its definition, which waits for the last object, and comes again', async () => {
    await cluster.define();
    const { world } = cluster;
    const held = cronTab('held', {}, { finalizers: ['example.com/hold'] });
    cluster.ask('POST', V1, { body: held });
    cluster.ask('POST', V1, { body: cronTab('plain') });
    demand(await world.admin.delete({ resource: DEFINITIONS, name: NAME }));
    await world.settle();
    assert.deepEqual(
      world.store.list(CRONTABS).map(({ metadata }) => metadata.name),
      ['held'],
    );
    assert.equal(cluster.ask('POST', V1, { body: cronTab('late') }).status, 405);
    cluster.ask('PATCH', `${V1}/held`, {
      contentType: 'application/merge-patch+json',
      body: { metadata: { finalizers: null } },
    });
    await world.settle();
    assert.equal(world.read({ resource: DEFINITIONS, name: NAME }), undefined);
    assert.equal(cluster.ask('GET', ROOT).status, 404);
    assert.equal(cluster.ask('GET', V1).status, 404);
    await cluster.define();
    assert.equal(cluster.ask('POST', V1, { body: cronTab('again') }).status, 201);
    demand(await world.admin.delete({ resource: DEFINITIONS, name: NAME }));
    await world.settle();
    assert.deepEqual(world.store.list(CRONTABS), []);
  });

  it('is not established under a kind that another one has, until that one goes', async () => {
    await cluster.define();
    const { world } = cluster;
    const metadata = { name: 'others.stable.example.com' };
    const taken = definition({ names: { plural: 'others', kind: 'CronTab' } });
    await world.create(DEFINITIONS, { ...taken, metadata });
    await world.settle();
    assert.equal(cluster.ask('GET', V1.replace('crontabs', 'others')).status, 404);
    demand(await world.admin.delete({ resource: DEFINITIONS, name: NAME }));
    await world.settle();
    assert.equal(cluster.ask('GET', V1.replace('crontabs', 'others')).status, 200);
  });

  it('is refused to a user whose roles do not name it', async () => {
    await cluster.define();
    const user = { name: 'somebody', groups: ['system:authenticated'] };
    assert.equal(cluster.ask('GET', V1, { user }).status, 403);
    const rules = [{ apiGroups: ['stable.example.com'], resources: ['crontabs'], verbs: ['list'] }];
    await cluster.world.create('clusterroles.rbac.authorization.k8s.io', {
      metadata: { name: 'read' },
      rules,
    });
    await cluster.world.create('clusterrolebindings.rbac.authorization.k8s.io', {
      metadata: { name: 'read' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'read' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'somebody' }],
    });
    assert.equal(cluster.ask('GET', V1, { user }).status, 200);
    assert.equal(cluster.ask('POST', V1, { user, body: cronTab('a') }).status, 403);
  });
});

it('custom objects survive a restart of a cluster that has a data directory', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-custom-'));
  try {
    const first = openJournal(directory);
    const before = await startCluster(createMemoryStore({ journal: first }));
    await before.define();
    before.ask('POST', V1, { body: cronTab('a', { cronSpec: 'x' }) });
    await before.stop();
    first.close();
    const second = openJournal(directory);
    const after = await startCluster(createMemoryStore({ journal: second }));
    assert.deepEqual(after.ask('GET', `${V1}/a`).body['spec'], { cronSpec: 'x' });
    demand(await after.world.admin.delete({ resource: DEFINITIONS, name: NAME }));
    await after.world.settle();
    assert.equal(after.ask('GET', ROOT).status, 404);
    await after.stop();
    second.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
});
