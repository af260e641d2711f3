/** The projection is the filter (design 2), and what cannot be projected travels opaque (protocol 22). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import {
  clusterId,
  clusterUid,
  epoch,
  incarnation,
} from '../../../../src/core/model/identifiers.ts';
import type { Uid } from '../../../../src/core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { WATCHED_KINDS, type WatchedKind } from '../../../../src/core/model/projections.ts';
import { MESSAGE_SCHEMA, type WatcherMessage } from '../../../../src/core/model/watcher-message.ts';
import { createInterner } from '../../../../src/watcher/project/projection.ts';
import {
  createProjector,
  isSameSlim,
  slimText,
} from '../../../../src/watcher/project/projection.ts';
import type { SlimObject, OpaqueReason } from '../../../../src/watcher/project/projection.ts';
import {
  daemonSetDraft,
  nodeDraft,
  ownerOf,
  podDraft,
  revisionDraft,
} from '../../../support/watcher-harness.ts';

const unsendable = new Map<Uid, OpaqueReason>();
const opaqued: string[] = [];
const projector = createProjector({
  interner: createInterner(),
  objectBytesMax: 10_000,
  unsendable,
  onOpaque: ({ name }, reason) => opaqued.push(`${name} ${reason}`),
});

function stored(draft: object, version = '5'): KubernetesObject {
  const { metadata } = draft as { metadata: Record<string, unknown> };
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return {
    ...draft,
    metadata: { uid: 'u1', creationTimestamp, ...metadata, resourceVersion: version },
  } as unknown as KubernetesObject;
}

function slimOf(kind: WatchedKind, draft: object, version?: string): SlimObject {
  const result = projector.project(kind, stored(draft, version));
  assert.equal(result.kind, 'tracked');
  return result.kind === 'tracked' ? result.slim : assert.fail();
}

function textOf(kind: WatchedKind, draft: object, version?: string): string {
  return slimText(slimOf(kind, draft, version));
}

test('a node heartbeat changes nothing that is sent (design 2)', () => {
  const beat = (time: string): object =>
    nodeDraft('n1', {
      status: {
        images: [time],
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: time }],
      },
    });
  assert.equal(textOf('Node', beat('a'), '5'), textOf('Node', beat('b'), '6'));
  assert.ok(isSameSlim(slimOf('Node', beat('a'), '5'), slimOf('Node', beat('b'), '6')));
});

test('labels, taints, cordon, readiness and deletion of a node are sent; timeAdded is not', () => {
  const base = textOf('Node', nodeDraft('n1'));
  const taint = { key: 'k', effect: 'NoExecute' };
  const changed = [
    nodeDraft('n1', { metadata: { name: 'n1', labels: { a: 'b' } } }),
    nodeDraft('n1', { spec: { taints: [taint] } }),
    nodeDraft('n1', { spec: { unschedulable: true } }),
    nodeDraft('n1', { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }),
    nodeDraft('n1', { metadata: { name: 'n1', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
  ];
  const texts = new Set(changed.map((draft) => textOf('Node', draft)));
  assert.equal(texts.size, changed.length);
  assert.ok(!texts.has(base));
  const added = nodeDraft('n1', { spec: { taints: [{ ...taint, timeAdded: 'now' }] } });
  assert.ok(texts.has(textOf('Node', added)));
});

test('a pod that something else than an apps DaemonSet controls does not matter', () => {
  for (const owner of [
    ownerOf('ReplicaSet', 'x'),
    ownerOf('DaemonSet', 'x', 'apps.kruise.io/v1'),
  ]) {
    const draft = podDraft('p');
    const result = projector.project(
      'Pod',
      stored({ ...draft, metadata: { ...draft.metadata, ownerReferences: [owner] } }),
    );
    assert.equal(result.kind, 'irrelevant');
  }
  assert.equal(slimOf('Pod', podDraft('p', { owner: 'ds1' })).ownerUid, 'ds1');
  assert.equal(slimOf('Pod', podDraft('p')).ownerUid, undefined);
});

test('the target of an unbound pod is the node that its required affinity names (spec 2.4)', () => {
  const requirement = { key: 'metadata.name', operator: 'In', values: ['n7'] };
  const terms = { nodeSelectorTerms: [{ matchFields: [requirement] }] };
  const affinity = { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
  const unbound = slimOf('Pod', { ...podDraft('p', { owner: 'd' }), spec: { affinity } });
  assert.equal(unbound.projection.kind === 'Pod' && unbound.projection.targetNode, 'n7');
  assert.equal(unbound.projection.kind === 'Pod' && unbound.projection.boundNode, undefined);
  const spec = { affinity, nodeName: 'n8' };
  const bound = slimOf('Pod', { ...podDraft('p', { owner: 'd' }), spec });
  assert.equal(bound.projection.kind === 'Pod' && bound.projection.targetNode, 'n8');
});

test('a DaemonSet of a list equals the same one of an event, and loses managedFields', () => {
  const draft = daemonSetDraft('agent');
  const listed = slimOf('DaemonSet', draft);
  const seen = slimOf('DaemonSet', {
    ...draft,
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...draft.metadata, managedFields: [{ manager: 'x' }] },
  });
  assert.equal(slimText(listed), slimText(seen));
  assert.ok(!slimText(listed).includes('managedFields'));
  const object = listed.projection.kind === 'DaemonSet' ? listed.projection.object : assert.fail();
  assert.equal(object.apiVersion, 'apps/v1');
});

test('a revision is slim: owner, labels and number, without its data', () => {
  const slim = slimOf('ControllerRevision', revisionDraft('r1', 'ds1', 7));
  const { projection } = slim;
  assert.equal(projection.kind === 'ControllerRevision' && projection.revision, 7);
  assert.ok(!slimText(slim).includes('xxx'));
});

test('a rollout runs while the status lags, or pods are not updated (design 2, heartbeats)', () => {
  const with_ = (status: object): boolean =>
    slimOf('DaemonSet', { ...daemonSetDraft('a'), status }).isRollingOut;
  assert.equal(with_({ observedGeneration: 1 }), false);
  assert.equal(with_({ observedGeneration: 0 }), true);
  const desired = { observedGeneration: 1, desiredNumberScheduled: 3 };
  assert.equal(with_({ ...desired, updatedNumberScheduled: 2 }), true);
  assert.equal(with_({ ...desired, updatedNumberScheduled: 3 }), false);
});

test('what is too large or not as documented travels opaque, and each version of it (protocol 22)', () => {
  opaqued.length = 0;
  const large = { ...daemonSetDraft('a'), notes: 'x'.repeat(10_000) };
  const first = slimOf('DaemonSet', large, '5');
  const { outline, ...projection } =
    first.projection.kind === 'Opaque' ? first.projection : assert.fail();
  assert.deepEqual(projection, {
    kind: 'Opaque',
    of: 'DaemonSet',
    namespace: 'infra',
    name: 'a',
    uid: 'u1',
    resourceVersion: '5',
    reason: 'too-large',
  });
  assert.ok(outline !== undefined && outline.bytes > outline.bytesMax);
  assert.deepEqual(outline.object.spec, { selector: { matchLabels: { app: 'a' } }, template: {} });
  assert.equal(outline.object.status?.observedGeneration, 1);
  assert.deepEqual(first.selector, { matchLabels: { app: 'a' } });
  const next = slimOf('DaemonSet', large, '6');
  assert.notEqual(slimText(next), slimText(first));
  assert.deepEqual([isSameSlim(next, first), isSameSlim(first, first)], [false, true]);
  const odd = slimOf('Pod', { ...podDraft('p', { owner: 'ds1' }), status: { phase: 'Odd' } });
  assert.equal(odd.projection.kind === 'Opaque' && odd.projection.reason, 'undecodable');
  assert.equal(odd.ownerUid, 'ds1');
  let nested: object = {};
  for (let depth = 0; depth < 5000; depth += 1) nested = { nested };
  assert.equal(slimOf('DaemonSet', { ...daemonSetDraft('d'), nested }).projection.kind, 'Opaque');
  assert.deepEqual(opaqued, ['a too-large', 'a too-large', 'p undecodable', 'd undecodable']);
});

test('an object without identity is reported, not guessed', () => {
  for (const metadata of [undefined, {}, { name: 'n', uid: 'u', resourceVersion: '0' }]) {
    const raw = { metadata } as unknown as KubernetesObject;
    assert.equal(projector.project('Node', raw).kind, 'unidentified');
  }
});

test('whatever an API server sends, the reader of messages accepts what is made of it (L4)', () => {
  const word = fc.oneof(fc.string(), fc.constantFrom('True', 'Ready', 'DaemonSet', 'n1', 'infra'));
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      word,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const labels = fc.oneof(tree, fc.dictionary(word, word));
  const field = (...others: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> =>
    fc.option(fc.oneof(tree, ...others), { nil: undefined });
  const raw = fc.record({
    metadata: fc.record({
      name: fc.constantFrom('a', 'B', 'x'.repeat(300)),
      namespace: fc.constantFrom('infra', 'a.b', undefined),
      uid: fc.constantFrom('u', 'not a uid'),
      resourceVersion: fc.constantFrom('7', '07'),
      creationTimestamp: fc.constantFrom('2026-01-01T00:00:00Z', '0001-01-01T00:00:00Z', 'soon'),
      labels: field(labels),
      ownerReferences: field(fc.constant([ownerOf('DaemonSet', 'd1')])),
    }),
    spec: field(fc.record({ nodeName: word, taints: tree, template: tree, selector: tree })),
    status: field(fc.record({ phase: fc.constant('Running'), reason: word, conditions: tree })),
    revision: field(fc.integer()),
  });
  fc.assert(
    fc.property(fc.constantFrom(...WATCHED_KINDS), raw, (kind, object) => {
      const result = projector.project(kind, object as unknown as KubernetesObject);
      if (result.kind !== 'tracked') return;
      const { of, uid, name, namespace, projection } = result.slim;
      const names = { of, uid, name, ...(namespace === undefined ? {} : { namespace }) };
      const delta = { ...names, object: projection, sets: [], formerSets: [] };
      const message: WatcherMessage = {
        schema: MESSAGE_SCHEMA,
        cluster: clusterId('c1'),
        clusterUid: clusterUid('u'),
        epoch: epoch('1'),
        incarnation: incarnation('i'),
        seq: 1,
        body: { kind: 'changes' as const, deltas: [delta] },
      };
      const parsed = parseWatcherMessage(encodeWatcherMessage(message));
      assert.equal(parsed.kind, 'message', JSON.stringify(parsed));
    }),
    { numRuns: 1000 },
  );
});
