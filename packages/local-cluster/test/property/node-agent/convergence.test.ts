/**
 * The whole agent under a random history: pods come, go gracefully or by force, crash, change; the
 * machine loses power, requests fail. Once that ends, API and runtime agree: what should run runs and is told to, nothing
 * else does, no deletion is left over.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ClientOutcome, LocalClient } from '../../../src/client/local-client.ts';
import { isTerminalPhase } from '../../../src/node-agent/shared/pod-object.ts';
import type { PodObject } from '../../../src/node-agent/shared/pod-object.ts';
import { startNodeAgent } from '../../../src/node-agent/start-node-agent.ts';
import type { NodeAgent } from '../../../src/node-agent/start-node-agent.ts';
import { createSimulatedRuntime } from '../../../src/runtime/simulated-runtime.ts';
import { prepareNamespace, TEST_MACHINE } from '../../support/agent-world.ts';
import { podObject } from '../../support/objects.ts';
import { createLocalWorld } from '../../support/world.ts';

type Step =
  | {
      readonly kind: 'create';
      readonly pod: number;
      readonly image: string;
      readonly policy: string;
    }
  | { readonly kind: 'delete'; readonly pod: number; readonly isForced: boolean }
  | { readonly kind: 'label'; readonly pod: number }
  | { readonly kind: 'power-loss' }
  | { readonly kind: 'faults'; readonly share: number }
  | { readonly kind: 'wait'; readonly ms: number };

const podNumber = fc.integer({ min: 0, max: 3 });
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('create' as const),
        pod: podNumber,
        image: fc.constantFrom('example/main:1', 'example/crash-loop:1', 'example/completes:1'),
        policy: fc.constantFrom('Always', 'Never'),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('delete' as const),
        pod: podNumber,
        isForced: fc.boolean(),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('label' as const), pod: podNumber }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'power-loss' as const }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('faults' as const),
        share: fc.constantFrom(0, 0.5, 1),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('wait' as const),
        ms: fc.constantFrom(1, 50, 700, 5000, 40_000),
      }),
    },
  ),
  { minLength: 5, maxLength: 25 },
);

const DOWN: ClientOutcome = {
  kind: 'refused',
  status: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'InternalError',
    message: 'down',
    code: 500,
  },
};

/** A client some of whose requests fail. */
function faulty(client: LocalClient, fails: () => boolean): LocalClient {
  const maybe = (send: () => Promise<ClientOutcome>): Promise<ClientOutcome> =>
    fails() ? Promise.resolve(DOWN) : send();
  return {
    get: (ref) => maybe(() => client.get(ref)),
    list: (selection) => client.list(selection),
    create: (resource, object) => maybe(() => client.create(resource, object)),
    update: (ref, object) => maybe(() => client.update(ref, object)),
    updateStatus: (ref, object) => maybe(() => client.updateStatus(ref, object)),
    patch: (ref, patch) => maybe(() => client.patch(ref, patch)),
    delete: (ref, options) => maybe(() => client.delete(ref, options)),
    act: (ref, subresource, body) => maybe(() => client.act(ref, subresource, body)),
    observe: (selection, onChange) => client.observe(selection, onChange),
  };
}

async function live(history: readonly Step[], seed: number): Promise<void> {
  const world = await createLocalWorld({ seed });
  await prepareNamespace(world);
  const { clock, random, log, admin } = world;
  let share = 0;
  const user = { name: 'system:node:node-1', groups: ['system:masters'] };
  const client = faulty(world.clients.clientFor(user), () => random.next() < share);
  const newRuntime = (): ReturnType<typeof createSimulatedRuntime> =>
    createSimulatedRuntime({ machine: TEST_MACHINE, clock, random });
  let runtime = newRuntime();
  const boot = (): NodeAgent =>
    startNodeAgent({ machine: TEST_MACHINE, client, runtime, clock, random, log });
  let agent: NodeAgent = boot();
  const run = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'create': {
        const containers = [{ name: 'main', image: step.image }];
        const spec = { nodeName: 'node-1', containers, restartPolicy: step.policy };
        await admin.create('pods', podObject(`p${step.pod}`, { spec }));
        return;
      }
      case 'delete':
        await admin.delete(
          { resource: 'pods', namespace: 'default', name: `p${step.pod}` },
          step.isForced ? { gracePeriodSeconds: 0 } : {},
        );
        return;
      case 'label':
        await admin.patch(
          { resource: 'pods', namespace: 'default', name: `p${step.pod}` },
          { type: 'merge', body: { metadata: { labels: { at: String(clock.nowMs()) } } } },
        );
        return;
      case 'power-loss':
        agent.powerOff();
        runtime = newRuntime();
        agent = boot();
        return;
      case 'faults':
        ({ share } = step);
        return;
      case 'wait':
        await clock.advance(step.ms);
    }
  };
  for (const step of history) await run(step);
  share = 0;
  await clock.advance(400_000);
  assertAgreement(world.store.list('pods') as readonly PodObject[], runtime);
  assert.deepEqual(log.at('error'), []);
  await agent.stop();
}

function assertAgreement(
  pods: readonly PodObject[],
  runtime: ReturnType<typeof createSimulatedRuntime>,
): void {
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  for (const { podUid, id } of runtime.listContainers()) {
    assert.ok(uids.has(podUid), `container ${id} belongs to no pod`);
  }
  for (const pod of pods) {
    const { name, uid, deletionTimestamp } = pod.metadata;
    assert.equal(deletionTimestamp, undefined, `${name} is still being deleted`);
    const { phase } = pod.status ?? {};
    const running = runtime.listContainers(uid).filter(({ state }) => state === 'running');
    if (isTerminalPhase(phase)) {
      assert.equal(running.length, 0, `${name} has ended but runs`);
      assert.equal(pod.spec.restartPolicy, 'Never', `${name} has ended although it restarts`);
      continue;
    }
    assert.equal(phase, 'Running', `${name} is ${String(phase)}`);
    const [status] = pod.status?.containerStatuses ?? [];
    assert.equal(status?.ready, running.length === 1, `readiness of ${name}`);
  }
}

test('after any history the API and the runtime agree', async () => {
  await fc.assert(fc.asyncProperty(steps, fc.integer({ min: 1, max: 1e6 }), live), {
    numRuns: 100,
  });
});
