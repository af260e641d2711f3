/** The pages that clients ask for before they ask for objects. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiAnswer } from '../../../src/api/request/api-request.ts';
import { createLocalWorld } from '../../support/world.ts';
import type { LocalWorld } from '../../support/world.ts';

/** What kubectl 1.32 and 1.36 send. */
const KUBECTL_ACCEPT =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,' +
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const READER = { name: 'ann', groups: ['system:authenticated'] };
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

let world: LocalWorld;
before(async () => {
  world = await createLocalWorld();
});

function get(target: string, accept?: string): ApiAnswer {
  return world.handler.handle({
    method: 'GET',
    target,
    user: READER,
    ...(accept === undefined ? {} : { accept }),
  });
}

function bodyOf(answer: ApiAnswer): JsonObject {
  assert.equal(answer.kind, 'object');
  assert.equal(answer.status, 200);
  return answer.body;
}

function textOf(answer: ApiAnswer, contentType: string): string {
  assert.equal(answer.kind, 'text');
  assert.equal(answer.status, 200);
  assert.equal(answer.contentType, contentType);
  return answer.text;
}

/** Of a list of groups or resources the one of this name. */
function named(list: unknown, name: string): JsonObject | undefined {
  return (list as readonly JsonObject[]).find((one) => one['name'] === name);
}

describe('legacy discovery', () => {
  test('/apis names groups and their versions', () => {
    const groupVersion = { groupVersion: 'apps/v1', version: 'v1' };
    const apps = { name: 'apps', versions: [groupVersion], preferredVersion: groupVersion };
    assert.deepEqual(named(bodyOf(get('/apis'))['groups'], 'apps'), apps);
    assert.deepEqual(bodyOf(get('/apis/apps')), { kind: 'APIGroup', apiVersion: 'v1', ...apps });
  });

  test('a group and version names its resources, and their subresources', () => {
    const { resources, ...list } = bodyOf(get('/apis/apps/v1'));
    assert.deepEqual(list, {
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'apps/v1',
    });
    assert.deepEqual(named(resources, 'daemonsets'), {
      name: 'daemonsets',
      singularName: 'daemonset',
      namespaced: true,
      kind: 'DaemonSet',
      verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      shortNames: ['ds'],
      categories: ['all'],
    });
    assert.deepEqual(named(resources, 'daemonsets/status'), {
      name: 'daemonsets/status',
      singularName: '',
      namespaced: true,
      kind: 'DaemonSet',
      verbs: ['get', 'patch', 'update'],
    });
    // What `kubectl drain` looks for.
    assert.deepEqual(named(bodyOf(get('/api/v1'))['resources'], 'pods/eviction'), {
      name: 'pods/eviction',
      singularName: '',
      namespaced: true,
      group: 'policy',
      version: 'v1',
      kind: 'Eviction',
      verbs: ['create'],
    });
  });

  test('/api names the version and offers no other address', () => {
    assert.deepEqual(bodyOf(get('/api')), {
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [],
    });
  });

  test('groups and versions that are not served are not found', () => {
    for (const target of [
      '/apis/extensions',
      '/apis/extensions/v1',
      '/apis/apps/v1beta1',
      '/api/v2',
    ]) {
      const answer = get(target);
      assert.equal(answer.kind === 'watch' ? 0 : answer.status, 404, target);
    }
  });
});

describe('aggregated discovery', () => {
  test('names groups, resources and subresources at once, known by its media type', () => {
    const { items, ...list } = JSON.parse(
      textOf(get('/apis', KUBECTL_ACCEPT), AGGREGATED),
    ) as JsonObject & { readonly items: readonly Aggregated[] };
    assert.deepEqual(list, {
      kind: 'APIGroupDiscoveryList',
      apiVersion: 'apidiscovery.k8s.io/v2',
      metadata: {},
    });
    const [apps] = items.find(({ metadata }) => metadata.name === 'apps')?.versions ?? [];
    const responseKind = { group: '', version: '', kind: 'DaemonSet' };
    assert.deepEqual(
      apps?.resources.find(({ resource }) => resource === 'daemonsets'),
      {
        resource: 'daemonsets',
        responseKind,
        scope: 'Namespaced',
        singularResource: 'daemonset',
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
        shortNames: ['ds'],
        categories: ['all'],
        subresources: [{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }],
      },
    );
    assert.match(textOf(get('/api', KUBECTL_ACCEPT), AGGREGATED), /"resource":"pods"/);
  });

  test('is for those who ask for v2', () => {
    for (const accept of ['application/json', AGGREGATED.replace('v=v2', 'v=v2beta1'), '*/*']) {
      assert.equal(get('/apis', accept).kind, 'object');
    }
  });
});

describe('version and health', () => {
  test('the version is the release that is followed, marked as ours', () => {
    const { major, minor, gitVersion } = bodyOf(get('/version'));
    assert.deepEqual([major, minor, gitVersion], ['1', '36', 'v1.36.3+rollcall-local']);
  });

  for (const name of ['healthz', 'livez', 'readyz']) {
    test(`/${name} says ok, and more when asked`, () => {
      const type = 'text/plain; charset=utf-8';
      assert.equal(textOf(get(`/${name}`), type), 'ok');
      const verbose = textOf(get(`/${name}?verbose`), type);
      assert.ok(verbose.endsWith(`${name} check passed\n`));
    });
  }

  test('nothing can be written there', () => {
    for (const method of METHODS) {
      const user = { name: 'root', groups: ['system:masters'] };
      const answer = world.handler.handle({ method, target: '/version', user });
      assert.equal(answer.kind === 'object' ? answer.status : 0, 405);
    }
  });
});

describe('OpenAPI', () => {
  const documentOf = (target: string): OpenApi => {
    const text = textOf(get(target), 'application/json');
    return JSON.parse(text) as OpenApi;
  };

  test('the index names a document for each group and version, by a hash of its text', () => {
    const { paths } = bodyOf(get('/openapi/v3')) as unknown as OpenApiIndex; // JSON that this test reads by its shape
    assert.ok('api/v1' in paths && 'apis/apps/v1' in paths);
    for (const [name, { serverRelativeURL }] of Object.entries(paths)) {
      bodyOf(get(`/${name}`));
      assert.match(serverRelativeURL, new RegExp(`^/openapi/v3/${name}\\?hash=[0-9A-F]{64}$`));
      assert.equal(documentOf(serverRelativeURL).openapi, '3.0.0');
    }
  });

  test('every object can be patched strategically, with validation of fields by the server', () => {
    const { paths } = documentOf('/openapi/v3/apis/apps/v1');
    const patch = paths['/apis/apps/v1/namespaces/{namespace}/daemonsets/{name}']?.patch;
    assert.deepEqual(patch?.['x-kubernetes-group-version-kind'], {
      group: 'apps',
      version: 'v1',
      kind: 'DaemonSet',
    });
    assert.ok(patch.parameters.some(({ name }) => name === 'fieldValidation'));
    assert.ok('application/strategic-merge-patch+json' in patch.requestBody.content);
  });

  test('schemas carry what patches need', () => {
    const { components } = documentOf('/openapi/v3/api/v1');
    const spec = components.schemas['io.k8s.api.core.v1.PodSpec'];
    assert.deepEqual(spec?.properties['containers'], {
      type: 'array',
      items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.Container' }] },
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'name',
    });
    assert.deepEqual(
      spec.properties['volumes']?.['x-kubernetes-patch-strategy'],
      'merge,retainKeys',
    );
  });

  test('version 2 is an empty document, as JSON and as kubectl 1.32 asks for it', () => {
    const asked = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const answered = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
    const info = { title: 'Kubernetes', version: '1.36' };
    assert.deepEqual(bodyOf(get('/openapi/v2')), { swagger: '2.0', info, paths: {} });
    const expected = '\n\x032.0\x12\x12\n\nKubernetes\x12\x041.36B\0';
    assert.equal(textOf(get('/openapi/v2', asked), answered), expected);
  });

  test('every reference leads to a schema', () => {
    for (const name of [
      'api/v1',
      'apis/apps/v1',
      'apis/authorization.k8s.io/v1',
      'apis/apiextensions.k8s.io/v1',
    ]) {
      const document = documentOf(`/openapi/v3/${name}`);
      const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
      for (const [, schema = ''] of references) {
        assert.ok(schema in document.components.schemas, schema);
      }
    }
  });
});

interface Aggregated {
  readonly metadata: { readonly name?: string };
  readonly versions: readonly { readonly resources: readonly JsonObject[] }[];
}

interface OpenApiIndex {
  readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly patch?: {
          readonly 'x-kubernetes-group-version-kind': JsonObject;
          readonly parameters: readonly { readonly name: string }[];
          readonly requestBody: { readonly content: JsonObject };
        };
      }
    >
  >;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties: Readonly<Record<string, JsonObject>> }>
    >;
  };
}
