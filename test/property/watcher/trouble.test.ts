/** Whatever kubelets and runtimes say of containers and nodes, the reader of messages takes what is made of it (L4, issue 17). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { strictProjector } from '../../support/strict-projector.ts';
import { messageOf } from '../../unit/adapters/sqs/watcher-message-samples.ts';

const word = fc.option(
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 400 }),
    fc.constantFrom('Error', 'OOMKilled', 'ErrImagePull', 'CrashLoopBackOff', 'ContainerCreating'),
  ),
  { nil: undefined },
);
const number = fc.option(fc.maxSafeInteger(), { nil: undefined });
const ended = fc.record({
  reason: word,
  exitCode: number,
  finishedAt: fc.constantFrom('2026-01-01T00:00:00Z', '0001-01-01T00:00:00Z', null),
});
const state = fc.option(
  fc.oneof(
    fc.record({ waiting: fc.record({ reason: word }) }),
    fc.record({ terminated: ended }),
    fc.constant({ running: {} }),
  ),
  { nil: undefined },
);
const containers = fc.option(
  fc.array(fc.record({ name: word, restartCount: number, state, lastState: state }), {
    maxLength: 4,
  }),
  { nil: undefined },
);
const condition = fc.record({
  type: fc.constantFrom('Ready', 'ContainersReady', 'PodScheduled', 'DisruptionTarget'),
  status: fc.constantFrom('True', 'False', 'Unknown'),
  reason: word,
});
const podStatus = fc.record({
  phase: fc.constantFrom('Pending', 'Running', 'Failed'),
  reason: word,
  conditions: fc.array(condition, { maxLength: 4 }),
  initContainerStatuses: containers,
  containerStatuses: containers,
});
const nodeInfoFields = fc.constantFrom('bootID', 'osImage', 'kernelVersion', 'kubeletVersion');
const nodeStatus = fc.record({ nodeInfo: fc.dictionary(nodeInfoFields, fc.string()) });

const projector = strictProjector();

function assertTaken(kind: 'Pod' | 'Node', status: object): void {
  const identity = { name: 'o1', uid: 'u1', resourceVersion: '5' };
  const namespace = kind === 'Pod' ? { namespace: 'ops' } : {};
  const metadata = { ...identity, ...namespace, creationTimestamp: '2026-01-01T00:00:00Z' };
  const raw: KubernetesObject = { metadata, status };
  const result = projector.project(kind, raw);
  if (result.kind !== 'tracked') return assert.fail(result.kind);
  const { of, uid, name, projection: object } = result.slim;
  const delta = { of, uid, name, ...namespace, object, sets: [], formerSets: [] };
  const message = messageOf({ kind: 'changes', deltas: [delta] });
  // There and back it is the same: nothing undefined, nothing that JSON would change.
  const parsed = parseWatcherMessage(encodeWatcherMessage(message));
  assert.deepEqual(parsed, { kind: 'message', message });
}

test('trouble of a pod', () => {
  fc.assert(
    fc.property(podStatus, (status) => {
      assertTaken('Pod', status);
    }),
    { numRuns: 2000 },
  );
});

test('the system of a node', () => {
  fc.assert(
    fc.property(nodeStatus, (status) => {
      assertTaken('Node', status);
    }),
    { numRuns: 300 },
  );
});
