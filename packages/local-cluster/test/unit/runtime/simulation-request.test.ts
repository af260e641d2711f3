/** What pods ask of the simulation: annotations, image names, precedence, warnings. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import {
  WELL_BEHAVED,
  readContainerSimulation,
  readSandboxSimulation,
  readVolumeSimulation,
} from '../../../src/runtime/simulation-request.ts';
import type { Simulation } from '../../../src/runtime/simulation-request.ts';

const ALWAYS = Number.POSITIVE_INFINITY;

function asked(input: {
  readonly container?: string;
  readonly pod?: string;
  readonly image?: string;
}): Simulation {
  const annotations = {
    ...(input.container === undefined ? {} : { 'simulate.rollcall.dev/app': input.container }),
    ...(input.pod === undefined ? {} : { 'simulate.rollcall.dev/pod': input.pod }),
  };
  const image = input.image ?? 'registry.example/app:1.0';
  return readContainerSimulation({ annotations, containerName: 'app', image }).simulation;
}

test('a pod that asks for nothing behaves', () => {
  assert.equal(asked({}), WELL_BEHAVED);
  assert.deepEqual(readSandboxSimulation({ other: 'x' }), {
    simulation: { sandboxFailures: 0, networkFailures: 0 },
    warnings: [],
  });
});

test('each request of a container is read', () => {
  const cases: readonly (readonly [string, Partial<Simulation>])[] = [
    ['pull=3s', { pullMs: 3000 }],
    ['pull-fails', { pullFailures: ALWAYS }],
    ['pull-fails=2', { pullFailures: 2 }],
    ['create-fails=1', { createFailures: 1 }],
    ['start=500ms', { startMs: 500 }],
    ['start-fails=1', { startFailures: 1 }],
    ['exit=1@5s', { exit: { code: 1, afterMs: 5000 } }],
    ['exit=0', { exit: { code: 0, afterMs: 0 } }],
    ['oom@20s', { oomAfterMs: 20_000 }],
    ['panic=5.10@10s', { panic: { kernel: '5.10', afterMs: 10_000 } }],
    ['panic=6', { panic: { kernel: '6', afterMs: 0 } }],
    ['load-api=300ms', { apiLoadMs: 300 }],
    ['ignore-sigterm', { ignoresSigterm: true }],
    ['stop=2s', { stopMs: 2000 }],
    ['startup-after=5s', { startupAfterMs: 5000 }],
    ['ready-after=1.5m', { readyAfterMs: 90_000 }],
    ['unready-at=30s', { unreadyAtMs: 30_000 }],
    ['flap=5s', { flapMs: 5000 }],
    ['liveness-fails-at=1h', { livenessFailsAtMs: 3_600_000 }],
    ['probe=3s', { probeMs: 3000 }],
    ['post-start=1s', { postStartMs: 1000 }],
    ['post-start-fails', { failsPostStart: true }],
    ['pre-stop=3s', { preStopMs: 3000 }],
    ['pre-stop-fails', { failsPreStop: true }],
    ['runs=2', { affectedRuns: 2 }],
    [' pull = 3s', {}],
    ['pull=1s ,, exit=2@1s,', { pullMs: 1000, exit: { code: 2, afterMs: 1000 } }],
  ];
  for (const [text, expected] of cases) {
    assert.deepEqual(asked({ container: text }), { ...WELL_BEHAVED, ...expected }, text);
  }
});

test('what is said more closely wins: container, pod, image', () => {
  const image = 'registry.example/app:1-simulate-pull-1s_start-1s_stop-1s';
  const simulation = asked({ image, pod: 'start=2s, stop=2s', container: 'stop=3s' });
  assert.deepEqual([simulation.pullMs, simulation.startMs, simulation.stopMs], [1000, 2000, 3000]);
});

test('an image name asks in its tag or in the end of its repository', () => {
  const cases: readonly (readonly [string, Partial<Simulation>])[] = [
    ['registry.example/app:1.0-simulate-pull-fails', { pullFailures: ALWAYS }],
    ['registry.example/app:simulate-pull-fails-2', { pullFailures: 2 }],
    ['registry.example/team/app-simulate-exit-1-5s:2', { exit: { code: 1, afterMs: 5000 } }],
    [
      'registry.example:5000/app-simulate-oom-20s_ignore-sigterm',
      { oomAfterMs: 20_000, ignoresSigterm: true },
    ],
    ['registry.example/cannot-pull:1', { pullFailures: ALWAYS }],
    ['registry.example/crash-loop:1', { exit: { code: 1, afterMs: 1000 } }],
    ['agent:2-simulate-panic-5.10-10s', { panic: { kernel: '5.10', afterMs: 10_000 } }],
    ['agent:2-simulate-load-api-300ms', { apiLoadMs: 300 }],
    ['completes', { exit: { code: 0, afterMs: 1000 } }],
    [`registry.example/crash-loop@sha256:${'0'.repeat(64)}`, { exit: { code: 1, afterMs: 1000 } }],
    ['registry.example/simulate-pull-3s/app:1', {}],
  ];
  for (const [image, expected] of cases) {
    assert.deepEqual(asked({ image }), { ...WELL_BEHAVED, ...expected }, image);
  }
});

test('a malformed list is ignored as a whole, and told', () => {
  for (const text of [
    'pull=fast',
    'nonsense',
    'exit=256',
    'panic',
    'panic=5.x@1s',
    'panic=5.10@soon',
    'load-api',
    'exit',
    'ignore-sigterm=yes',
    'pull-fails=-1',
    'sandbox-fails=1',
    '=3',
  ]) {
    const annotations = { 'simulate.rollcall.dev/app': `start=1s, ${text}` };
    assert.equal(asked({ container: `start=1s, ${text}` }).startMs, undefined, text);
    const { warnings } = readSandboxSimulation(annotations);
    assert.equal(warnings.length, 1, text);
    assert.match(
      warnings[0] ?? '',
      /^The simulation ignores annotation simulate\.rollcall\.dev\/app: /,
    );
  }
});

test('a malformed image name is told with the container', () => {
  const image = 'registry.example/app:simulate-exit-999';
  const { simulation, warnings } = readContainerSimulation({
    annotations: {},
    containerName: 'app',
    image,
  });
  assert.deepEqual(simulation, WELL_BEHAVED);
  assert.deepEqual(warnings, [
    `The simulation ignores image ${image}: exit: "999" is no exit code from 0 to 255`,
  ]);
});

test('the sandbox and the volumes have requests of their own', () => {
  const { simulation } = readSandboxSimulation({
    'simulate.rollcall.dev/pod': 'sandbox-fails=1, network-fails=2, stop=1s',
  });
  assert.deepEqual([simulation.sandboxFailures, simulation.networkFailures], [1, 2]);
  const volumes = readVolumeSimulation({ 'simulate.rollcall.dev/volumes': 'delay=3s, fail=2' });
  assert.deepEqual(volumes, { delayMs: 3000, failures: 2 });
  const malformed = { 'simulate.rollcall.dev/volumes': 'delay=soon' };
  assert.deepEqual(readVolumeSimulation(malformed), { delayMs: 0, failures: 0 });
  assert.equal(readSandboxSimulation(malformed).warnings.length, 1);
});

test('the documentation names every request, and no other', () => {
  const page = readFileSync(new URL('../../../../../docs/try-it.md', import.meta.url), 'utf8');
  const [, text = ''] = /^## Make pods fail\n([^]*?)^## /m.exec(page) ?? [];
  const documented = [...text.matchAll(/^\| `([a-z-]+)[=@`]/gm)].map(([, name = '']) => name);
  for (const name of documented) {
    const value = ['', '=1s', '=1', '=1@1s'].find((suffix) =>
      [
        readSandboxSimulation({ 'simulate.rollcall.dev/pod': name + suffix }),
        readSandboxSimulation({ 'simulate.rollcall.dev/volumes': name + suffix }),
      ].some(({ warnings }) => warnings.length === 0),
    );
    assert.notEqual(value, undefined, `${name} is documented and cannot be asked for`);
  }
  for (const name of [
    'pull',
    'pull-fails',
    'create-fails',
    'start',
    'start-fails',
    'exit',
    'oom',
    'ignore-sigterm',
    'stop',
    'startup-after',
    'ready-after',
    'unready-at',
    'liveness-fails-at',
    'probe',
    'post-start',
    'post-start-fails',
    'pre-stop',
    'pre-stop-fails',
    'runs',
    'sandbox-fails',
    'network-fails',
    'delay',
    'fail',
  ]) {
    assert.ok(documented.includes(name), `${name} is not documented`);
  }
});
