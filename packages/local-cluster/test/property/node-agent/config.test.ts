/** The update channel against a model: whoever follows its updates holds what the sources hold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PodObject } from '../../../src/node-agent/shared/pod-object.ts';
import { createPodConfig } from '../../../src/node-agent/pod-config.ts';
import type { PodUpdate } from '../../../src/node-agent/pod-config.ts';

type Step =
  | { readonly kind: 'put'; readonly uid: string; readonly label: string; readonly phase: string }
  | { readonly kind: 'delete'; readonly uid: string }
  | { readonly kind: 'drop'; readonly uid: string }
  | { readonly kind: 'turn' };

const uids = fc.constantFrom('a', 'b', 'c');
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('put' as const),
      uid: uids,
      label: fc.constantFrom('x', 'y'),
      phase: fc.constantFrom('Pending', 'Running'),
    }),
    fc.record({ kind: fc.constant('delete' as const), uid: uids }),
    fc.record({ kind: fc.constant('drop' as const), uid: uids }),
    fc.record({ kind: fc.constant('turn' as const) }),
  ),
  { maxLength: 30 },
);

function podOf(step: Exclude<Step, { kind: 'turn' | 'drop' }>): PodObject {
  const isDeleted = step.kind === 'delete';
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: step.uid,
      namespace: 'default',
      uid: step.uid,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { label: isDeleted ? 'x' : step.label },
      ...(isDeleted ? { deletionTimestamp: '2026-01-01T00:00:30Z' } : {}),
    },
    spec: { containers: [{ name: 'main', image: 'i' }] },
    status: { phase: isDeleted ? 'Running' : step.phase },
  };
}

/** What a follower holds, and what must not happen to it. */
function follow(held: Map<string, PodObject>, update: PodUpdate): void {
  for (const pod of update.pods) {
    const { uid } = pod.metadata;
    const known = held.get(uid);
    if (update.operation === 'ADD') assert.equal(known, undefined, `ADD of ${uid}, known already`);
    else assert.ok(known !== undefined, `${update.operation} of ${uid}, not known`);
    if (update.operation === 'DELETE') assert.ok(pod.metadata.deletionTimestamp !== undefined);
    if (update.operation === 'RECONCILE') {
      assert.deepEqual(pod.metadata.labels, known?.metadata.labels);
      assert.equal(pod.metadata.deletionTimestamp, known?.metadata.deletionTimestamp);
    }
    if (update.operation === 'REMOVE') held.delete(uid);
    else held.set(uid, pod);
  }
}

test('a follower of the updates holds what the source holds', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const followed = new Map<string, PodObject>();
      const model = new Map<string, PodObject>();
      const config = createPodConfig((update) => {
        follow(followed, update);
      });
      for (const step of list) {
        if (step.kind === 'turn') await Promise.resolve();
        else if (step.kind === 'drop') {
          config.drop(step.uid);
          model.delete(step.uid);
        } else {
          const pod = podOf(step);
          config.put(pod);
          model.set(step.uid, pod);
        }
      }
      await Promise.resolve();
      assert.deepEqual([...followed.keys()].sort(), [...model.keys()].sort());
      for (const [uid, pod] of model) assert.deepEqual(followed.get(uid), pod);
    }),
    { numRuns: 300 },
  );
});
