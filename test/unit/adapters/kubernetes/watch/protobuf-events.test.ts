/** A watch of pods in protobuf: events, bookmarks, errors, and what is none of them (design 2, faults row 36). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import {
  LengthSplitter,
  readEvent,
  refusalText,
} from '../../../../../src/adapters/kubernetes/watch/protobuf-events.ts';
import { FRAME_BYTES_MAX } from '../../../../../src/adapters/kubernetes/watch/watch-frames.ts';
import {
  bytesField,
  encodeEvent,
  encodeObject,
  framed,
} from '../../../../support/encode-protobuf.ts';
import { FULL_POD } from '../../../../support/full-pod.ts';

const GONE: JsonObject = {
  metadata: {},
  status: 'Failure',
  message: 'too old resource version',
  reason: 'Expired',
  code: 410,
};

function podEvent(type: string, metadata: Readonly<Record<string, Json>>): Buffer {
  return encodeEvent(type, encodeObject('v1', 'Pod', { ...FULL_POD, metadata }));
}

test('a pod of a DaemonSet comes with all that is read of one', () => {
  for (const [type, kind] of [
    ['ADDED', 'added'],
    ['MODIFIED', 'modified'],
    ['DELETED', 'deleted'],
  ] as const) {
    const frame = readEvent(encodeEvent(type, encodeObject('v1', 'Pod', FULL_POD)));
    assert.ok(frame.kind === kind && 'object' in frame);
    const { metadata, spec, status } = frame.object as unknown as Record<string, JsonObject>;
    assert.equal(metadata?.['uid'], 'u-1');
    assert.deepEqual(metadata['labels'], (FULL_POD['metadata'] as JsonObject)['labels']);
    assert.deepEqual(spec, {
      nodeName: 'n1',
      affinity: (FULL_POD['spec'] as JsonObject)['affinity'],
    });
    assert.equal(status?.['phase'], 'Running');
  }
});

test('of a pod that something else controls its identity and its owner come alone', () => {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'w',
    uid: 'r',
    controller: true,
  };
  const identity = { name: 'w-1', namespace: 'team', uid: 'u-2', resourceVersion: '7' };
  const metadata = { ...identity, labels: { app: 'w' }, ownerReferences: [owner] };
  assert.deepEqual(readEvent(podEvent('MODIFIED', metadata)), {
    kind: 'modified',
    object: { metadata: { ...identity, ownerReferences: [owner] } },
  });
  const orphan = readEvent(podEvent('ADDED', { ...identity, labels: { app: 'w' } }));
  assert.ok('object' in orphan);
  assert.deepEqual(orphan.object.metadata.labels, { app: 'w' });
});

test('a bookmark tells its version, and whether initial events end with it', () => {
  const bookmark = (metadata: JsonObject): unknown =>
    readEvent(encodeEvent('BOOKMARK', encodeObject('v1', 'Pod', { metadata })));
  assert.deepEqual(bookmark({ resourceVersion: '12' }), {
    kind: 'bookmark',
    resourceVersion: '12',
    isInitialEventsEnd: false,
  });
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  assert.deepEqual(bookmark({ resourceVersion: '12', annotations }), {
    kind: 'bookmark',
    resourceVersion: '12',
    isInitialEventsEnd: true,
  });
});

test('an error is the failure that its code means', () => {
  const error = (status: JsonObject): unknown =>
    readEvent(encodeEvent('ERROR', encodeObject('v1', 'Status', status)));
  assert.deepEqual(error(GONE), {
    kind: 'failed',
    failure: { kind: 'expired', message: 'HTTP 410 Expired: too old resource version' },
  });
  const busy = { ...GONE, code: 429, reason: 'TooManyRequests', message: 'later' };
  assert.deepEqual(error({ ...busy, details: { retryAfterSeconds: 3 } }), {
    kind: 'failed',
    failure: {
      kind: 'throttled',
      message: 'HTTP 429 TooManyRequests: later',
      retryAfterMs: 3000,
    },
  });
});

test('what is no event of a pod is undecodable', () => {
  const pod = encodeObject('v1', 'Pod', FULL_POD);
  const odd: readonly Buffer[] = [
    Buffer.alloc(0),
    Buffer.from('{"type":"ADDED"}'),
    bytesField(1, 'ADDED'),
    Buffer.concat([bytesField(1, 'ADDED'), bytesField(2, '')]),
    encodeEvent('ADDED', pod.subarray(4)),
    encodeEvent('ADDED', Buffer.from('k8s\0')),
    encodeEvent('ADDED', pod.subarray(0, pod.length - 20)),
    encodeEvent('ADDED', encodeObject('v1', 'Node', { metadata: { name: 'n' } })),
    encodeEvent('ODD', pod),
    encodeEvent('BOOKMARK', encodeObject('v1', 'Pod', { metadata: {} })),
    encodeEvent('ERROR', pod),
    encodeEvent('ADDED', encodeObject('v1', 'Status', GONE)),
  ];
  for (const event of odd)
    assert.equal(readEvent(event).kind, 'undecodable', event.toString('hex'));
});

test('a refusal is the same Status in JSON, and anything else is nothing', () => {
  const { metadata: _metadata, ...told } = GONE;
  assert.deepEqual(JSON.parse(refusalText(encodeObject('v1', 'Status', GONE))), {
    kind: 'Status',
    ...told,
  });
  for (const body of ['', 'a page of a proxy', 'k8s\0\x0a\x05']) {
    assert.equal(JSON.parse(refusalText(Buffer.from(body)) || '""'), '');
  }
});

test('events are cut the same way wherever chunks end', () => {
  const events = ['one', '', 'three'.repeat(50)].map((text) => Buffer.from(text));
  const bytes = Buffer.concat(events.map(framed));
  for (let size = 1; size <= bytes.length; size += 1) {
    const splitter = new LengthSplitter();
    const cut: string[] = [];
    for (let at = 0; at < bytes.length; at += size) {
      cut.push(...(splitter.split(bytes.subarray(at, at + size)) ?? []).map(String));
    }
    assert.deepEqual(cut, events.map(String), `chunks of ${String(size)} bytes`);
  }
});

test('an event that is longer than any can be is refused by its length', () => {
  const splitter = new LengthSplitter();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(FRAME_BYTES_MAX + 1);
  assert.deepEqual(splitter.split(length.subarray(0, 3)), []);
  assert.equal(splitter.split(length.subarray(3)), undefined);
});
