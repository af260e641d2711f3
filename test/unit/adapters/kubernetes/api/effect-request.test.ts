/** Every effect as a request, and every way in which its fence can be missing. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, resourceVersion, uid } from '../../../../../src/core/model/identifiers.ts';
import type { Effect, JsonPatchOperation } from '../../../../../src/core/model/effects.ts';
import { requestOf } from '../../../../../src/adapters/kubernetes/api/effect-request.ts';

const at = { namespace: 'agents', name: 'collector-1' };
const node = nodeName('node-1');
const version = resourceVersion('77');

const effects = {
  'create-pod': {
    kind: 'create-pod',
    ...at,
    node,
    body: { metadata: { name: at.name, namespace: at.namespace } },
  },
  'create-revision': { kind: 'create-revision', ...at, body: { metadata: { name: at.name } } },
  'create-event': { kind: 'create-event', ...at, body: { metadata: { name: at.name } } },
  'patch-event': { kind: 'patch-event', ...at, body: { count: 2 } },
  'delete-pod': { kind: 'delete-pod', ...at, uid: uid('u-1'), resourceVersion: version },
  'delete-revision': {
    kind: 'delete-revision',
    ...at,
    uid: uid('u-1'),
    resourceVersion: version,
  },
  patch: {
    kind: 'patch',
    resource: 'pods',
    ...at,
    uid: uid('u-1'),
    purpose: 'adopt',
    contentType: 'application/strategic-merge-patch+json',
    body: { metadata: { uid: 'u-1' } },
  },
  'update-status': {
    kind: 'update-status',
    ...at,
    uid: uid('u-1'),
    body: { metadata: { name: at.name, uid: 'u-1', resourceVersion: '77' } },
  },
  'restore-template': {
    kind: 'restore-template',
    ...at,
    uid: uid('u-1'),
    resourceVersion: version,
    template: { spec: { containers: [] } },
  },
  'set-condition': {
    kind: 'set-condition',
    namespace: '',
    name: nodeName('node-1'),
    uid: uid('u-1'),
    condition: 'example.com/AgentsReady',
    sinceMs: Date.parse('2026-01-01T00:00:00.700Z'),
  },
  'remove-taint': {
    kind: 'remove-taint',
    namespace: '',
    name: nodeName('node-1'),
    uid: uid('u-1'),
    index: 2,
    taint: { key: 'example.com/agents-not-ready', value: 'x', effect: 'NoSchedule' },
  },
  'create-copy': { kind: 'create-copy', ...at, body: { metadata: { name: at.name } } },
  'replace-copy': {
    kind: 'replace-copy',
    ...at,
    body: { metadata: { name: at.name, uid: 'u-1', resourceVersion: '77' } },
  },
} as const satisfies { readonly [Kind in Effect['kind']]: Extract<Effect, { kind: Kind }> };

function statusTests(metadata: Readonly<Record<string, string>>): readonly JsonPatchOperation[] {
  const tests = Object.entries(metadata).map(
    ([member, value]) => ({ op: 'test', path: `/metadata/${member}`, value }) as const,
  );
  return [...tests, { op: 'add', path: '/status/numberReady', value: 1 }];
}

/** What every kind of write must be refused for: its fence taken away (S1, S4). */
const unfenced: readonly { readonly title: string; readonly effect: Effect }[] = [
  {
    title: 'create-pod whose body has another name',
    effect: { ...effects['create-pod'], body: { metadata: { name: 'other' } } },
  },
  {
    title: 'create-pod without metadata',
    effect: { ...effects['create-pod'], body: {} },
  },
  {
    title: 'create-pod with a generated name',
    effect: {
      ...effects['create-pod'],
      body: { metadata: { name: at.name, generateName: 'collector-' } },
    },
  },
  {
    title: 'create-pod into another namespace',
    effect: {
      ...effects['create-pod'],
      body: { metadata: { name: at.name, namespace: 'kube-system' } },
    },
  },
  {
    title: 'create-revision whose body has another name',
    effect: { ...effects['create-revision'], body: { metadata: { name: 'other' } } },
  },
  {
    title: 'create-event whose body has another name',
    effect: { ...effects['create-event'], body: { metadata: { name: 'other' } } },
  },
  { title: 'delete-pod without UID', effect: { ...effects['delete-pod'], uid: uid('') } },
  {
    title: 'delete-pod without version',
    effect: { ...effects['delete-pod'], resourceVersion: resourceVersion('') },
  },
  {
    title: 'delete-pod with version zero',
    effect: { ...effects['delete-pod'], resourceVersion: resourceVersion('0') },
  },
  {
    title: 'delete-revision without version',
    effect: { ...effects['delete-revision'], resourceVersion: resourceVersion('') },
  },
  {
    title: 'renumber without version',
    effect: { ...effects.patch, purpose: 'renumber' },
  },
  { title: 'patch without UID', effect: { ...effects.patch, uid: uid('') } },
  { title: 'patch whose body has no UID', effect: { ...effects.patch, body: { metadata: {} } } },
  {
    title: 'patch whose body has another UID',
    effect: { ...effects.patch, body: { metadata: { uid: 'u-2' } } },
  },
  {
    title: 'update-status without version',
    effect: { ...effects['update-status'], body: { metadata: { name: at.name, uid: 'u-1' } } },
  },
  {
    title: 'update-status of another UID',
    effect: {
      ...effects['update-status'],
      body: { metadata: { name: at.name, uid: 'u-2', resourceVersion: '77' } },
    },
  },
  {
    title: 'update-status by a patch that tests no version',
    effect: { ...effects['update-status'], body: statusTests({ uid: 'u-1' }) },
  },
  {
    title: 'update-status by a patch that tests another UID',
    effect: {
      ...effects['update-status'],
      body: statusTests({ uid: 'u-2', resourceVersion: '77' }),
    },
  },
  {
    title: 'update-status of another name',
    effect: {
      ...effects['update-status'],
      body: { metadata: { name: 'other', uid: 'u-1', resourceVersion: '77' } },
    },
  },
  {
    title: 'set-condition without a UID',
    effect: { ...effects['set-condition'], uid: uid('') },
  },
  {
    title: 'remove-taint without a UID',
    effect: { ...effects['remove-taint'], uid: uid('') },
  },
  {
    title: 'remove-taint of a name that leaves its path',
    effect: { ...effects['remove-taint'], name: nodeName('../pods') },
  },
  {
    title: 'restore-template without a UID',
    effect: { ...effects['restore-template'], uid: uid('') },
  },
  {
    title: 'restore-template without version',
    effect: { ...effects['restore-template'], resourceVersion: resourceVersion('') },
  },
  {
    title: 'create-copy whose body has another name',
    effect: { ...effects['create-copy'], body: { metadata: { name: 'other' } } },
  },
  {
    title: 'replace-copy whose body has another name',
    effect: {
      ...effects['replace-copy'],
      body: { metadata: { name: 'other', uid: 'u-1', resourceVersion: '77' } },
    },
  },
  {
    title: 'replace-copy without a UID',
    effect: {
      ...effects['replace-copy'],
      body: { metadata: { name: at.name, resourceVersion: '77' } },
    },
  },
  {
    title: 'replace-copy without version',
    effect: { ...effects['replace-copy'], body: { metadata: { name: at.name, uid: 'u-1' } } },
  },
  {
    title: 'a name that leaves its path',
    effect: { ...effects['delete-pod'], name: '../nodes/node-1' },
  },
  { title: 'a namespace that is none', effect: { ...effects['delete-pod'], namespace: '..' } },
];

/** The request of each kind: method, path, and where its precondition stands. */
const expected: Readonly<Record<Effect['kind'], readonly [string, string, unknown]>> = {
  'create-pod': ['POST', '/api/v1/namespaces/agents/pods', effects['create-pod'].body],
  'create-revision': [
    'POST',
    '/apis/apps/v1/namespaces/agents/controllerrevisions',
    effects['create-revision'].body,
  ],
  'create-event': ['POST', '/api/v1/namespaces/agents/events', effects['create-event'].body],
  'delete-pod': [
    'DELETE',
    '/api/v1/namespaces/agents/pods/collector-1',
    {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u-1', resourceVersion: '77' },
    },
  ],
  'delete-revision': [
    'DELETE',
    '/apis/apps/v1/namespaces/agents/controllerrevisions/collector-1',
    {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { uid: 'u-1', resourceVersion: '77' },
    },
  ],
  'patch-event': ['PATCH', '/api/v1/namespaces/agents/events/collector-1', { count: 2 }],
  'set-condition': [
    'PATCH',
    '/api/v1/nodes/node-1/status',
    {
      metadata: { uid: 'u-1' },
      status: {
        conditions: [
          {
            type: 'example.com/AgentsReady',
            status: 'True',
            reason: 'DaemonsServe',
            message: 'each DaemonSet that counts has a serving pod here',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    },
  ],
  'remove-taint': [
    'PATCH',
    '/api/v1/nodes/node-1',
    [
      { op: 'test', path: '/metadata/uid', value: 'u-1' },
      { op: 'test', path: '/spec/taints/2/key', value: 'example.com/agents-not-ready' },
      { op: 'test', path: '/spec/taints/2/effect', value: 'NoSchedule' },
      { op: 'test', path: '/spec/taints/2/value', value: 'x' },
      { op: 'remove', path: '/spec/taints/2' },
    ],
  ],
  patch: ['PATCH', '/api/v1/namespaces/agents/pods/collector-1', effects.patch.body],
  'update-status': [
    'PUT',
    '/apis/apps/v1/namespaces/agents/daemonsets/collector-1/status',
    effects['update-status'].body,
  ],
  'create-copy': ['POST', '/api/v1/namespaces/agents/podtemplates', effects['create-copy'].body],
  'replace-copy': [
    'PUT',
    '/api/v1/namespaces/agents/podtemplates/collector-1',
    effects['replace-copy'].body,
  ],
  'restore-template': [
    'PATCH',
    '/apis/apps/v1/namespaces/agents/daemonsets/collector-1',
    [
      { op: 'test', path: '/metadata/uid', value: 'u-1' },
      { op: 'test', path: '/metadata/resourceVersion', value: '77' },
      { op: 'replace', path: '/spec/template', value: { spec: { containers: [] } } },
    ],
  ],
};

describe('requestOf: every write carries its precondition (S1, S4, faults 4)', () => {
  for (const effect of Object.values(effects)) {
    it(`builds ${effect.kind}`, () => {
      const built = requestOf(effect);
      assert.equal(built.kind, 'request');
      if (built.kind !== 'request') return;
      const [method, path, body] = expected[effect.kind];
      assert.equal(built.request.method, method);
      assert.equal(built.request.path, path);
      assert.deepEqual(JSON.parse(built.request.body ?? ''), body);
    });
  }

  it('wants no more than the metadata of a pod that it makes or deletes, and all of anything else', () => {
    const metadata = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    for (const effect of Object.values(effects)) {
      const built = requestOf(effect);
      const isPod = effect.kind === 'create-pod' || effect.kind === 'delete-pod';
      const accept = isPod ? `${metadata},application/json;q=0.9` : undefined;
      assert.equal(built.kind === 'request' && built.request.accept, accept, effect.kind);
    }
  });

  it('sends a status that is a list as a JSON Patch of the status, and nothing beside it', () => {
    const body = statusTests({ uid: 'u-1', resourceVersion: '77' });
    const built = requestOf({ ...effects['update-status'], body });
    assert.ok(built.kind === 'request');
    const { method, path, contentType } = built.request;
    assert.deepEqual(
      [method, path, contentType],
      ['PATCH', expected['update-status'][1], 'application/json-patch+json'],
    );
    assert.deepEqual(JSON.parse(built.request.body ?? ''), body);
  });

  it('sends a patch with the content type of its effect, to the resource of its effect', () => {
    const built = requestOf({ ...effects.patch, resource: 'controllerrevisions' });
    assert.equal(built.kind, 'request');
    if (built.kind !== 'request') return;
    assert.equal(built.request.contentType, 'application/strategic-merge-patch+json');
    assert.match(
      built.request.path,
      /^\/apis\/apps\/v1\/namespaces\/agents\/controllerrevisions\//,
    );
  });

  for (const { title, effect } of unfenced) {
    it(`does not send ${title}`, () => {
      assert.equal(requestOf(effect).kind, 'faulty');
    });
  }
});
