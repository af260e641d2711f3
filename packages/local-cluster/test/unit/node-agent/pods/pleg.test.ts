/** The pod lifecycle event generator: tells what changed since the last look, once, and only what matters. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startPleg } from '../../../../src/node-agent/pods/pleg.ts';
import type { Pleg } from '../../../../src/node-agent/pods/pleg.ts';
import type { PodObject } from '../../../../src/node-agent/shared/pod-object.ts';
import { ScriptedPodRuntime } from '../../../support/scripted-pod-runtime.ts';
import { settle, VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const POD: PodObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { containers: [{ name: 'main', image: 'i' }] },
};

function createBench(): { runtime: ScriptedPodRuntime; events: string[]; pleg: Pleg } {
  const runtime = new ScriptedPodRuntime(new VirtualClock());
  const events: string[] = [];
  const pleg = startPleg(runtime, ({ type, containerId }) => {
    events.push(`${type} ${containerId}`);
  });
  return { runtime, events, pleg };
}

describe('the pod lifecycle event generator', () => {
  it('tells of starts, ends and removals, each once', async () => {
    const { runtime, events } = createBench();
    runtime.start(POD);
    runtime.tell('u');
    await settle();
    runtime.tell('u');
    await settle();
    runtime.end('u', 'main', 1);
    await settle();
    await runtime.removePod('u');
    await settle();
    assert.deepEqual(events, [
      'ContainerStarted main-0',
      'ContainerDied main-0',
      'ContainerRemoved main-0',
    ]);
  });

  it('finds on a relist what the runtime did not report', async () => {
    const { runtime, events, pleg } = createBench();
    pleg.stop();
    runtime.start(POD);
    await settle();
    assert.deepEqual(events, []);
    pleg.relist();
    assert.deepEqual(events, ['ContainerStarted main-0']);
  });
});
