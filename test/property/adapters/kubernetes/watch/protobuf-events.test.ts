/** Whatever a pod holds, a watcher keeps the same of it whether the API server writes it in JSON or in protobuf (ADR 0075). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '@rollcall/base/json.ts';
import { readEvent } from '../../../../../src/adapters/kubernetes/watch/protobuf-events.ts';
import { streamEvents } from '../../../../../src/adapters/kubernetes/watch/stream-events.ts';
import type { WatchFrame } from '../../../../../src/ports/cluster/watch-source.ts';
import { createInterner } from '../../../../../src/watcher/project/projection.ts';
import { createProjector } from '../../../../../src/watcher/project/projection.ts';
import { encodeEvent, encodeObject } from '../../../../support/encode-protobuf.ts';

const absent: { requiredKeys: [] } = { requiredKeys: [] };
const name = fc.stringMatching(/^[a-z]([a-z0-9-]{0,8}[a-z0-9])?$/);
const text = fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => value !== '');
const EPOCH = '1970-01-01T00:00:00Z';
const time = fc
  .date({ min: new Date('0001-01-02'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => `${date.toISOString().slice(0, 19)}Z`)
  // Zero of 1970 is how protobuf writes that there is no time.
  .filter((value) => value !== EPOCH);
/** Of a pod that was made before 1970 nothing but its identity is kept: few are. */
const made = fc.oneof(
  { arbitrary: time.filter((value) => value > EPOCH), weight: 9 },
  { arbitrary: time, weight: 1 },
);
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const ended = fc.record({ reason: text, exitCode: int32, finishedAt: time }, absent);
const state = fc.oneof(
  fc.record({ waiting: fc.record({ reason: text, message: text }, absent) }),
  fc.record({ terminated: ended }),
  fc.constant({ running: {} }),
  fc.constant({}),
);
const container = fc.record(
  { name, state, lastState: state, ready: fc.boolean(), restartCount: int32, image: text },
  { requiredKeys: ['name'] },
);
const containers = fc.array(container, { maxLength: 3 });
const condition = fc.record(
  {
    type: fc.constantFrom('Ready', 'ContainersReady', 'PodScheduled', 'DisruptionTarget', 'Other'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    lastTransitionTime: time,
    reason: text,
    message: text,
  },
  { requiredKeys: ['type', 'status'] },
);
const owner = fc.record(
  {
    apiVersion: fc.constantFrom('apps/v1', 'apps.kruise.io/v1alpha1', 'batch/v1'),
    kind: fc.constantFrom('DaemonSet', 'ReplicaSet', 'Job'),
    name,
    uid: name,
    controller: fc.boolean(),
  },
  { requiredKeys: ['apiVersion', 'kind', 'name', 'uid'] },
);
const managed = fc.record(
  { manager: text, operation: fc.constant('Update'), time, subresource: fc.constant('status') },
  { requiredKeys: ['manager', 'operation'] },
);
const metadata = fc.record(
  {
    name,
    namespace: name,
    uid: name,
    resourceVersion: fc.constantFrom('1', '4711'),
    creationTimestamp: made,
    deletionTimestamp: time,
    labels: fc.dictionary(name, fc.oneof(name, fc.constant(''))),
    annotations: fc.dictionary(text, text),
    ownerReferences: fc.array(owner, { maxLength: 2 }),
    managedFields: fc.array(managed, { maxLength: 3 }),
  },
  { requiredKeys: ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'] },
);
const requirement = fc.record({
  key: fc.constantFrom('metadata.name', 'other'),
  operator: fc.constantFrom('In', 'NotIn'),
  values: fc.array(name, { maxLength: 2 }),
});
const term = fc.record({ matchFields: fc.array(requirement, { maxLength: 2 }) }, absent);
const required = fc.record({ nodeSelectorTerms: fc.array(term, { maxLength: 2 }) });
const spec = fc.record(
  {
    nodeName: name,
    serviceAccountName: name,
    priority: int32,
    affinity: fc.record({
      nodeAffinity: fc.record({ requiredDuringSchedulingIgnoredDuringExecution: required }, absent),
    }),
  },
  absent,
);
const status = fc.record(
  {
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
    reason: text,
    message: text,
    conditions: fc.array(condition, { maxLength: 4 }),
    initContainerStatuses: containers,
    containerStatuses: containers,
  },
  absent,
);
const pod = fc.record({ metadata, spec, status });

const projector = createProjector({
  interner: createInterner(),
  objectBytesMax: 100_000,
  unsendable: new Map(),
  onOpaque: () => undefined,
});

/** What a watcher keeps of the object of a frame. */
function keptOf(frame: WatchFrame): unknown {
  if (!('object' in frame)) return frame;
  return { kind: frame.kind, kept: projector.project('Pod', frame.object) };
}

test('what is kept of a pod is the same in both forms', () => {
  const json = streamEvents('json', 'Pod');
  const seen = new Set<string>();
  fc.assert(
    fc.property(pod, fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), (drawn, type) => {
      const object = JSON.parse(JSON.stringify(drawn)) as JsonObject;
      const line = { type, object: { kind: 'Pod', apiVersion: 'v1', ...object } };
      const inJson = keptOf(json.read(Buffer.from(JSON.stringify(line))));
      const inProtobuf = keptOf(readEvent(encodeEvent(type, encodeObject('v1', 'Pod', object))));
      assert.deepEqual(inProtobuf, inJson);
      const { kept } = inJson as { kept: ReturnType<typeof projector.project> };
      if (kept.kind === 'tracked') {
        const isWhole = kept.slim.projection.kind === 'Pod';
        assert.equal(isWhole, drawn.metadata.creationTimestamp > EPOCH);
      }
      seen.add(kept.kind);
    }),
    { numRuns: 2000 },
  );
  assert.deepEqual([...seen].sort(), ['irrelevant', 'tracked']);
});
