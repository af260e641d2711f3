/** Pods of others, read without being parsed (design 2): what is skimmed is certain, all else is left. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { skimForeignPod } from '../../../../../src/adapters/kubernetes/watch/skim-pod.ts';
import { parseWatchFrame } from '../../../../../src/adapters/kubernetes/watch/watch-frames.ts';

const REPLICA_SET = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  name: 'web-1',
  uid: 'rs-1',
  controller: true,
};
const DAEMON_SET = { ...REPLICA_SET, kind: 'DaemonSet', uid: 'ds-1' };
const IDENTITY = { name: 'web-1-x', namespace: 'team', uid: 'u-1', resourceVersion: '7' };

/** A line as the API server writes it: type first, metadata before spec and status. */
function lineOf(metadata: object, type = 'ADDED'): Buffer {
  const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec: { nodeName: 'n1' } };
  return Buffer.from(JSON.stringify({ type, object }));
}

const MEMBERS = {
  labels: { app: 'web', text: 'a "quoted" \\ word }' },
  annotations: { 'last-applied': '{"metadata":{"name":"other","ownerReferences":[]}}' },
};
const LATER = { finalizers: ['x'], managedFields: [{ fieldsV1: { 'f:ownerReferences': {} } }] };

test('a pod of a ReplicaSet comes with its identity and its owner alone', () => {
  for (const [type, kind] of [
    ['ADDED', 'added'],
    ['MODIFIED', 'modified'],
    ['DELETED', 'deleted'],
  ] as const) {
    const metadata = { ...IDENTITY, ...MEMBERS, ownerReferences: [REPLICA_SET], ...LATER };
    assert.deepEqual(skimForeignPod(lineOf(metadata, type)), {
      kind,
      object: { metadata: { ...IDENTITY, ownerReferences: [REPLICA_SET] } },
    });
  }
});

test('the identity is found wherever in the metadata it stands', () => {
  const metadata = { ownerReferences: [REPLICA_SET], ...LATER, ...MEMBERS, ...IDENTITY };
  assert.deepEqual(skimForeignPod(lineOf(metadata)), {
    kind: 'added',
    object: { metadata: { ownerReferences: [REPLICA_SET], ...IDENTITY } },
  });
});

test('orphans and whatever names a DaemonSet are left to the parser', () => {
  const left = [
    { ...IDENTITY, ...MEMBERS, ...LATER },
    { ...IDENTITY, ownerReferences: [] },
    { ...IDENTITY, ownerReferences: null },
    { ...IDENTITY, ownerReferences: [DAEMON_SET] },
    { ...IDENTITY, ownerReferences: [{ ...DAEMON_SET, apiVersion: 'apps.kruise.io/v1alpha1' }] },
    { ...IDENTITY, ownerReferences: [REPLICA_SET, { ...DAEMON_SET, controller: false }] },
    { ...IDENTITY, ownerReferences: [{ ...REPLICA_SET, controller: false }] },
    { ...IDENTITY, ownerReferences: [{ ...REPLICA_SET, kind: 7 }] },
  ];
  for (const metadata of left) assert.equal(skimForeignPod(lineOf(metadata)), undefined);
});

test('a line that is laid out otherwise is left to the parser', () => {
  const metadata = { ...IDENTITY, ownerReferences: [REPLICA_SET] };
  const text = lineOf(metadata).toString();
  const odd = [
    '',
    '{}',
    'null',
    text.slice(0, 40),
    ` ${text}`,
    text.replace('"uid"', ' "uid"'),
    text.replace('ADDED', 'BOOKMARK'),
    text.replace('ADDED', 'ERROR'),
    text.replace('"type":"ADDED",', ''),
    JSON.stringify({ object: { metadata }, type: 'ADDED' }),
    JSON.stringify({ type: 'ADDED', object: { spec: {} } }),
    JSON.stringify({ type: 'ADDED', object: { metadata: 'none' } }),
    JSON.stringify({ type: 'ADDED', object: [] }),
  ];
  for (const line of odd) assert.equal(skimForeignPod(Buffer.from(line)), undefined, line);
});

test('what is skimmed is what the parser would have found', () => {
  const name = fc.stringMatching(/^[a-z]{1,6}$/);
  const reference = fc.record(
    {
      apiVersion: fc.constantFrom('apps/v1', 'batch/v1'),
      kind: fc.constantFrom('ReplicaSet', 'Job', 'DaemonSet'),
      name,
      uid: fc.string(),
      controller: fc.boolean(),
    },
    { requiredKeys: ['apiVersion', 'kind', 'name', 'uid'] },
  );
  const owners = { ownerReferences: fc.array(reference, { maxLength: 2 }) };
  const identity = { name, namespace: name, uid: fc.string({ unit: 'grapheme' }) };
  const others = { labels: fc.dictionary(fc.string(), fc.string()), annotations: fc.jsonValue() };
  const metadata = fc.record({ ...identity, resourceVersion: name, ...others, ...owners });
  let skimmedCount = 0;
  fc.assert(
    fc.property(metadata, (given) => {
      const line = lineOf(given);
      const skimmed = skimForeignPod(line);
      if (skimmed === undefined) return;
      skimmedCount += 1;
      const parsed = parseWatchFrame(line.toString('utf8'));
      assert.ok('object' in parsed && 'object' in skimmed && parsed.kind === skimmed.kind);
      const { labels: _labels, annotations: _annotations, ...kept } = parsed.object.metadata;
      assert.deepEqual(skimmed.object.metadata, kept);
      const isDaemon = given.ownerReferences.some((owner) => owner.kind === 'DaemonSet');
      assert.ok(!isDaemon && given.ownerReferences.some((owner) => owner.controller === true));
    }),
    { numRuns: 500 },
  );
  assert.ok(skimmedCount > 50);
});
