/** What is computed for a pod keeps its promises for every spec and every state of the runtime. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeActions } from '../../../../src/node-agent/containers/compute-actions.ts';
import { specHashOf } from '../../../../src/node-agent/containers/container-spec.ts';
import type { ActionInput } from '../../../../src/node-agent/containers/compute-actions.ts';
import { isSidecar } from '../../../../src/node-agent/shared/pod-object.ts';
import type { ContainerSpec } from '../../../../src/node-agent/shared/pod-object.ts';
import type { RuntimeContainer, Sandbox } from '../../../../src/runtime/cri.ts';
import { benchPod, plainContainer } from '../../../support/pod-bench.ts';

interface Instance {
  readonly state: RuntimeContainer['state'];
  readonly exitCode: number;
  readonly isChanged: boolean;
  readonly failed: 'liveness' | 'startup' | undefined;
}

const instance: fc.Arbitrary<Instance> = fc.record({
  state: fc.constantFrom('created', 'running', 'exited'),
  exitCode: fc.constantFrom(0, 1),
  isChanged: fc.boolean(),
  failed: fc.constantFrom(undefined, undefined, 'liveness', 'startup'),
});

const situation = fc.record({
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  inits: fc.array(
    fc.record({ isSidecar: fc.boolean(), hasStartup: fc.boolean(), isStarted: fc.boolean() }),
    {
      maxLength: 3,
    },
  ),
  ordinaryCount: fc.integer({ min: 1, max: 3 }),
  sandbox: fc.constantFrom('none', 'ready', 'ready', 'ready', 'notReady'),
  instances: fc.array(
    fc.option(fc.array(instance, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    {
      minLength: 6,
      maxLength: 6,
    },
  ),
});

type Situation = typeof situation extends fc.Arbitrary<infer Value> ? Value : never;

function inputOf({
  restartPolicy,
  inits,
  ordinaryCount,
  sandbox,
  instances,
}: Situation): ActionInput {
  const initContainers = inits.map((init, index) =>
    plainContainer(`init-${index}`, {
      ...(init.isSidecar ? { restartPolicy: 'Always' } : {}),
      ...(init.hasStartup && init.isSidecar ? { startupProbe: { periodSeconds: 1 } } : {}),
    }),
  );
  const containers = Array.from({ length: ordinaryCount }, (_unused, index) =>
    plainContainer(`app-${index}`),
  );
  const pod = benchPod({ spec: { restartPolicy, initContainers, containers } });
  const failedProbes = new Map<string, 'liveness' | 'startup'>();
  const held = [...initContainers, ...containers].flatMap((spec, index) =>
    (instances[index] ?? []).map((one, age) => {
      const made = containerOf(spec, { one, age });
      if (one.failed !== undefined && made.state === 'running')
        failedProbes.set(made.id, one.failed);
      return made;
    }),
  );
  return {
    pod,
    status: { podUid: pod.metadata.uid, sandboxes: sandboxesOf(sandbox), containers: held },
    startedProbe: new Map(inits.map(({ isStarted }, index) => [`init-${index}`, isStarted])),
    failedProbes,
  };
}

/** Newest first; only the newest instance of a container can be alive. */
function containerOf(
  spec: ContainerSpec,
  { one, age }: { readonly one: Instance; readonly age: number },
): RuntimeContainer {
  return {
    id: `${spec.name}/${age}`,
    sandboxId: 'sandbox',
    podUid: '0000-1111',
    imageId: '',
    createdAtMs: 0,
    state: age === 0 ? one.state : 'exited',
    exitCode: one.exitCode,
    config: {
      name: spec.name,
      image: spec.image,
      attempt: 1 - age,
      specHash: one.isChanged ? 'old' : specHashOf(spec),
      isAwaited: false,
    },
  };
}

function sandboxesOf(kind: Situation['sandbox']): readonly Sandbox[] {
  if (kind === 'none') return [];
  return [
    {
      id: 'sandbox',
      state: kind,
      createdAtMs: 0,
      podIp: '10.0.0.2',
      config: {
        podUid: '0000-1111',
        namespace: 'ops',
        name: 'agent-x',
        attempt: 0,
        isHostNetwork: false,
        labels: {},
        annotations: {},
        cgroupParent: '',
      },
    },
  ];
}

function stateOf({ status }: ActionInput, name: string): RuntimeContainer | undefined {
  return status.containers.find(({ config }) => config.name === name);
}

test('no name is started twice, nor while an instance of it goes on running', () => {
  fc.assert(
    fc.property(situation.map(inputOf), (input) => {
      const actions = computeActions(input);
      const names = [...actions.initToStart, ...actions.toStart].map(({ name }) => name);
      assert.equal(new Set(names).size, names.length);
      const killed = new Set(actions.toKill.map(({ container }) => container.id));
      assert.equal(killed.size, actions.toKill.length);
      for (const name of names) {
        const latest = stateOf(input, name);
        if (latest?.state !== 'running') continue;
        assert.ok(actions.killPod || killed.has(latest.id), `${name} runs and would be started`);
      }
    }),
    { numRuns: 1000 },
  );
});

test('no ordinary container is started before every init container is done', () => {
  fc.assert(
    fc.property(situation.map(inputOf), (input) => {
      const actions = computeActions(input);
      if (actions.toStart.length === 0) return;
      const inits = input.pod.spec.initContainers ?? [];
      if (actions.createSandbox) {
        assert.equal(inits.length, 0, 'a new sandbox starts from the beginning');
        return;
      }
      const hasOrdinary = input.pod.spec.containers.some(({ name }) =>
        ['created', 'running'].includes(stateOf(input, name)?.state ?? ''),
      );
      // Once an ordinary container exists, init containers have been done before.
      if (hasOrdinary) return;
      const last = inits.at(-1);
      if (last === undefined) return;
      const latest = stateOf(input, last.name);
      if (isSidecar(last)) assert.equal(latest?.state, 'running');
      else assert.deepEqual([latest?.state, latest?.exitCode], ['exited', 0]);
    }),
    { numRuns: 1000 },
  );
});

test('nothing is started without a ready sandbox, and a pod that is killed starts nothing in it', () => {
  fc.assert(
    fc.property(situation.map(inputOf), (input) => {
      const actions = computeActions(input);
      const starts = actions.initToStart.length + actions.toStart.length;
      const isReady = input.status.sandboxes[0]?.state === 'ready';
      if (!isReady) assert.ok(actions.createSandbox || starts === 0);
      if (actions.killPod && !actions.createSandbox) assert.equal(starts, 0);
      if (actions.createSandbox) assert.ok(actions.killPod && starts > 0);
    }),
    { numRuns: 1000 },
  );
});
