/** Whatever a pod asks of its simulation and whenever it is killed: no container runs twice, and in the end none runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RuntimeContainer } from '../../../../src/runtime/cri.ts';
import { isSidecar } from '../../../../src/node-agent/shared/pod-object.ts';
import { createPodBench, plainContainer } from '../../../support/pod-bench.ts';
import type { PodBench } from '../../../support/pod-bench.ts';

const request = fc.constantFrom(
  'start=2s',
  'exit=0@3s',
  'exit=1@2s',
  'exit=1@1s, runs=1',
  'oom@4s',
  'ignore-sigterm',
  'stop=5s',
  'pull-fails=1',
  'create-fails=1',
  'start-fails=1',
  'post-start-fails, runs=1',
  'post-start=4s',
  'pre-stop=6s',
  'liveness-fails-at=5s',
  'startup-after=3s',
  '',
);
const life = fc.record({
  seed: fc.integer({ min: 0, max: 1_000_000 }),
  restartPolicy: fc.constantFrom('Always', 'OnFailure', 'Never'),
  inits: fc.array(fc.record({ isSidecar: fc.boolean(), request }), { maxLength: 2 }),
  ordinary: fc.array(request, { minLength: 1, maxLength: 2 }),
  pod: fc.constantFrom('sandbox-fails=1', 'network-fails=1', 'stop=1s'),
  killAfterMs: fc.integer({ min: 0, max: 60_000 }),
  graceSeconds: fc.integer({ min: 0, max: 20 }),
});

const EXTRAS = {
  lifecycle: {
    postStart: { exec: { command: ['a'] } },
    preStop: { exec: { command: ['b'] } },
  },
  livenessProbe: { periodSeconds: 2, failureThreshold: 1, exec: { command: ['c'] } },
  startupProbe: { periodSeconds: 1, failureThreshold: 10, exec: { command: ['d'] } },
};

type Life = typeof life extends fc.Arbitrary<infer Value> ? Value : never;

function benchOf({ seed, restartPolicy, inits, ordinary, pod }: Life): PodBench {
  const simulate = Object.fromEntries([
    ...inits.map(({ request: asked }, index) => [`init-${index}`, asked] as const),
    ...ordinary.map((asked, index) => [`app-${index}`, asked] as const),
    ['pod', pod] as const,
  ]);
  return createPodBench({
    seed,
    simulate,
    spec: {
      restartPolicy,
      terminationGracePeriodSeconds: 3,
      initContainers: inits.map(({ isSidecar: stays }, index) =>
        stays
          ? plainContainer(`init-${index}`, { restartPolicy: 'Always', ...EXTRAS })
          : plainContainer(`init-${index}`),
      ),
      containers: ordinary.map((_asked, index) => plainContainer(`app-${index}`, EXTRAS)),
    },
  });
}

function alive(bench: PodBench): readonly RuntimeContainer[] {
  return bench.runtime.listContainers().filter(({ state }) => state !== 'exited');
}

function assertOneOfEachName(bench: PodBench): void {
  const names = alive(bench).map(({ config }) => config.name);
  assert.equal(new Set(names).size, names.length, names.join(', '));
  const ready = bench.runtime.listPodSandboxes().filter(({ state }) => state === 'ready');
  assert.ok(ready.length <= 1, 'one sandbox at a time');
}

/** An ordinary container is started only when the init containers of its sandbox are done. */
function assertInitialised(bench: PodBench, id: string): void {
  const containers = bench.runtime.listContainers();
  const started = containers.find((one) => one.id === id);
  if (started?.config.name.startsWith('app-') !== true || started.config.attempt > 0) return;
  for (const spec of bench.pod.spec.initContainers ?? []) {
    const latest = containers.find(({ config }) => config.name === spec.name);
    if (isSidecar(spec)) assert.ok(latest, `${spec.name} was never started`);
    else assert.deepEqual([latest?.state, latest?.exitCode], ['exited', 0], spec.name);
  }
}

test('a pod never runs a container twice nor too early, and killPod ends everything', async () => {
  await fc.assert(
    fc.asyncProperty(life, async (one) => {
      const bench = benchOf(one);
      const problems: unknown[] = [];
      bench.runtime.onEvent(({ type, id }) => {
        try {
          assertOneOfEachName(bench);
          if (type === 'started') assertInitialised(bench, id);
        } catch (problem) {
          problems.push(problem);
        }
      });
      bench.start();
      await bench.clock.advance(one.killAfterMs);
      let isEnded = false;
      const killed = bench.kill(one.graceSeconds).then(() => {
        isEnded = true;
      });
      await bench.clock.advanceUntil(() => isEnded, { withinMs: 120_000 });
      await killed;
      assert.deepEqual(alive(bench), []);
      await bench.podRuntime.removePod(bench.pod.metadata.uid);
      assert.deepEqual(bench.runtime.listPodSandboxes(), []);
      // A pull or a hook that nobody waits for any more ends by itself.
      await bench.clock.advance(10_000);
      assert.equal(bench.clock.pendingTimers, 0, 'no timer is left');
      assert.deepEqual(problems, []);
    }),
    { numRuns: 150 },
  );
});
