// Everything that an API server says: hostile inputs for each reader (row 67).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import {
  readDaemonSet,
  readObject,
  readPage,
  readPodMetadata,
} from '../../../src/adapters/kubernetes/api/object-reader.ts';
import { retryAfterOf } from '../../../src/adapters/kubernetes/transport/api-status.ts';
import {
  classifyRead,
  classifyWrite,
} from '../../../src/adapters/kubernetes/api/status-classifier.ts';
import { skimForeignPod } from '../../../src/adapters/kubernetes/watch/skim-pod.ts';
import {
  LineSplitter,
  parseWatchFrame,
} from '../../../src/adapters/kubernetes/watch/watch-frames.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { createInterner, createProjector } from '../../../src/watcher/project/projection.ts';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { daemonSet } from '../../support/core-fixtures.ts';
import { assertOneLine, fuzz } from '../../support/fuzz/fuzz.ts';
import { bendJson, bendJsonText, bendText } from '../../support/fuzz/hostile-input.ts';
import { rawNode, rawPod } from '../../support/simulation/objects.ts';
import { messageOf } from '../../unit/adapters/sqs/watcher-message-samples.ts';

const AT = '2026-11-21T12:00:00Z';
const POD = identified(rawPod({ name: 'agent-x', app: 'agent', node: 'n1' }), 'pod-uid');
const NODE = identified(
  rawNode('n1', { labels: { a: 'b' }, taints: [{ key: 'k', effect: 'NoSchedule' }] }),
  'node-uid',
);
const LIST: JsonObject = {
  kind: 'PodList',
  metadata: { resourceVersion: '10', continue: 'token' },
  items: [POD, POD],
};
const STATUS: JsonObject = {
  kind: 'Status',
  status: 'Failure',
  reason: 'NotFound',
  message: 'pods "agent-x" not found',
  details: { name: 'agent-x', kind: 'pods', retryAfterSeconds: 3, causes: [{ reason: 'x' }] },
  code: 404,
};

/** A raw object as an API server gives it: with UID and version. */
function identified(object: { readonly metadata: object }, uid: string): JsonObject {
  const metadata = { ...object.metadata, uid, resourceVersion: '7', creationTimestamp: AT };
  return { ...object, metadata }; // raw JSON
}

function bent(sample: Json, random: Random): Json {
  return bendJson(sample, random) as Json;
}

test('row 67: a watch line is an event, a failure or undecodable, never a crash', async () => {
  const samples: readonly JsonObject[] = [
    { type: 'ADDED', object: POD },
    { type: 'BOOKMARK', object: { metadata: { resourceVersion: '7', annotations: {} } } },
    { type: 'ERROR', object: STATUS },
  ];
  const kinds = new Set<string>();
  const count = await fuzz({
    name: 'parseWatchFrame',
    feed: (random) => {
      const sample = samples[Math.floor(random.next() * samples.length)];
      kinds.add(parseWatchFrame(bendJsonText(sample, random)).kind);
    },
  });
  if (count > 1) assert.ok(kinds.has('added') && kinds.has('undecodable') && kinds.has('failed'));
});

test('row 67: a foreign pod is skimmed, or left to the parser, whatever its line holds', async () => {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'r',
    uid: 'u',
    controller: true,
  };
  const metadata = { name: 'p', namespace: 'ns', uid: 'u', resourceVersion: '7', labels: {} };
  const sample = { type: 'ADDED', object: { metadata: { ...metadata, ownerReferences: [owner] } } };
  let skimmedCount = 0;
  const count = await fuzz({
    name: 'skimForeignPod',
    feed: (random) => {
      const frame = skimForeignPod(Buffer.from(bendJsonText(sample, random)));
      if (frame !== undefined) skimmedCount += 1;
    },
  });
  if (count > 1) assert.ok(skimmedCount > 0 && skimmedCount < count);
});

test('row 67: lines are cut the same way wherever chunks end', async () => {
  await fuzz({
    name: 'LineSplitter',
    feed: (random) => {
      const text = `${bendText('{"a":"ä😀"}\n{"b":2}\n', random)}\n`;
      const whole = new LineSplitter().split(Buffer.from(text))?.map(String);
      const pieces = new LineSplitter();
      const bytes = Buffer.from(text);
      const lines: string[] = [];
      for (let from = 0; from < bytes.length;) {
        const to = from + 1 + Math.floor(random.next() * Math.max(1, bytes.length / 3));
        lines.push(...(pieces.split(bytes.subarray(from, to)) ?? []).map(String));
        from = to;
      }
      assert.deepEqual(lines, whole);
    },
  });
});

test('row 67: what the API server answers is read, or said to be unreadable', async () => {
  await fuzz({
    name: 'object readers',
    feed: (random) => {
      const object = readObject(bent(POD, random), { name: 'agent-x', namespace: 'ns' });
      if (object !== undefined) assert.equal(object.metadata.name, 'agent-x');
      const set = bent(daemonSet() as unknown as JsonObject, random); // raw JSON
      readDaemonSet(set, { name: 'agent', namespace: 'ns' });
      const page = readPage(bent(LIST, random));
      for (const item of page?.items ?? [])
        assert.equal(typeof readPodMetadata(item).uid, 'string');
    },
  });
});

test('row 67: an answer of any status and body has one outcome, within bounds', async () => {
  await fuzz({
    name: 'classifyWrite, classifyRead',
    feed: (random) => {
      const status = [200, 201, 301, 400, 403, 404, 409, 410, 422, 429, 500, 503, 999][
        Math.floor(random.next() * 13)
      ];
      assert.ok(status !== undefined);
      const body = random.next() < 0.1 ? undefined : bent(STATUS, random);
      const answer = { kind: 'answered', status, body } as const;
      const outcome = classifyWrite(answer, { operation: 'delete', name: 'agent-x' });
      if ('message' in outcome) assertOneLine(outcome.message);
      const read = classifyRead(answer, 'agent-x', (found) =>
        isJsonObject(found) ? found : undefined,
      );
      if (read.kind === 'missing') assert.equal(status, 404);
      for (const header of [undefined, bendText('120', random)]) {
        const waitMs = retryAfterOf(header, body, 0) ?? 0;
        assert.ok(waitMs >= 0 && waitMs <= 60_000);
      }
    },
  });
});

test('row 67: any object of a cluster is projected, opaque or irrelevant, and then fits its schema', async () => {
  const raws = [
    ['Pod', POD],
    ['Node', NODE],
    ['DaemonSet', daemonSet()],
  ] as const;
  const seen = new Set<string>();
  const count = await fuzz({
    name: 'projector',
    feed: (random) => {
      const [kind, sample] = raws[Math.floor(random.next() * raws.length)] ?? raws[0];
      const raw = bendJson(sample, random);
      if (!isJsonObject(raw) || !isJsonObject(raw['metadata'])) return;
      const projector = createProjector({
        interner: createInterner(),
        objectBytesMax: 100_000,
        unsendable: new Map(),
        onOpaque: () => undefined,
      });
      const result = projector.project(kind, raw as unknown as KubernetesObject); // as frames give it
      if (result.kind !== 'tracked') return void seen.add(result.kind);
      const { projection } = result.slim;
      seen.add(projection.kind);
      const { uid, name } = projection;
      const namespace = 'namespace' in projection ? { namespace: projection.namespace } : {};
      const delta = {
        of: kind,
        uid,
        name,
        ...namespace,
        object: projection,
        sets: [],
        formerSets: [],
      };
      const message = messageOf({ kind: 'changes', deltas: [delta] });
      const parsed = parseWatcherMessage(encodeWatcherMessage(message));
      assert.equal(parsed.kind, 'message', JSON.stringify(parsed).slice(0, 300));
    },
  });
  if (count > 1)
    for (const kind of ['Pod', 'Node', 'DaemonSet', 'Opaque']) assert.ok(seen.has(kind), kind);
});
