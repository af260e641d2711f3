/** What a status says of init containers, sidecars, vanished containers and all restart policies. Pure. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  ContainerSpec,
  PodObject,
  PodStatus,
} from '../../../../src/node-agent/shared/pod-object.ts';
import { generateStatus } from '../../../../src/node-agent/status/generate-status.ts';
import type { StatusInput } from '../../../../src/node-agent/status/generate-status.ts';
import type { RuntimeContainer } from '../../../../src/runtime/cri.ts';

const AT_MS = Date.UTC(2026, 0, 1);

function podOf(spec: Partial<PodObject['spec']>, status: PodStatus = {}): PodObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'p',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { restartPolicy: 'Always', containers: [named('main')], ...spec },
    status,
  };
}

function named(name: string, of: Partial<ContainerSpec> = {}): ContainerSpec {
  return { name, image: `example/${name}:1`, ...of };
}

function container(
  name: string,
  state: RuntimeContainer['state'],
  of: { readonly exitCode?: number; readonly attempt?: number } = {},
): RuntimeContainer {
  const { exitCode, attempt = 0 } = of;
  return {
    id: `${name}-${attempt}`,
    sandboxId: 's',
    podUid: 'u',
    config: { name, attempt, image: `example/${name}:1`, specHash: '', isAwaited: false },
    state,
    imageId: 'sha256:1',
    createdAtMs: AT_MS + attempt,
    ...(exitCode === undefined ? {} : { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error' }),
  };
}

function generate(
  pod: PodObject,
  containers: readonly RuntimeContainer[],
  of: Partial<StatusInput> = {},
): PodStatus {
  return generateStatus({
    pod,
    previous: pod.status ?? {},
    runtime: {
      podUid: 'u',
      sandboxes: [
        {
          id: 's',
          config: {
            podUid: 'u',
            namespace: 'default',
            name: 'p',
            attempt: 0,
            isHostNetwork: false,
            labels: {},
            annotations: {},
            cgroupParent: '',
          },
          state: 'ready',
          createdAtMs: AT_MS,
          podIp: '10.0.0.1',
        },
      ],
      containers,
    },
    waiting: new Map(),
    probes: { isReady: () => true, isStarted: () => true },
    isTerminal: false,
    hostIp: '172.16.0.1',
    nowText: '2026-01-01T00:00:00Z',
    ...of,
  });
}

function conditionOf(status: PodStatus, type: string): string | undefined {
  const condition = status.conditions?.find((each) => each.type === type);
  return condition === undefined
    ? undefined
    : `${condition.status} ${condition.reason ?? ''}`.trim();
}

describe('init containers', () => {
  const pod = podOf({ initContainers: [named('one'), named('two')] });

  it('that have not all completed keep the pod Pending and the others PodInitializing', () => {
    const status = generate(pod, [
      container('two', 'running'),
      container('one', 'exited', { exitCode: 0 }),
    ]);
    assert.equal(status.phase, 'Pending');
    assert.equal(status.containerStatuses?.[0]?.state.waiting?.reason, 'PodInitializing');
    assert.deepEqual(
      status.initContainerStatuses?.map(({ ready }) => ready),
      [true, false],
    );
    assert.equal(conditionOf(status, 'Initialized'), 'False ContainersNotInitialized');
    const initialized = status.conditions?.find(({ type }) => type === 'Initialized');
    assert.equal(initialized?.message, 'containers with incomplete status: [two]');
  });

  it('that have completed leave the pod Initialized', () => {
    const inits = ['one', 'two'].map((name) => container(name, 'exited', { exitCode: 0 }));
    const status = generate(pod, [container('main', 'running'), ...inits]);
    assert.equal(status.phase, 'Running');
    assert.equal(conditionOf(status, 'Initialized'), 'True');
    assert.equal(status.initContainerStatuses?.[0]?.state.terminated?.reason, 'Completed');
  });

  it('that fail end the pod only when nothing restarts them', () => {
    const failed = [container('one', 'exited', { exitCode: 1 })];
    assert.equal(generate(pod, failed).phase, 'Pending');
    const never = podOf({ restartPolicy: 'Never', initContainers: [named('one')] });
    assert.equal(generate(never, failed).phase, 'Failed');
  });
});

describe('sidecars', () => {
  const pod = podOf({ initContainers: [named('proxy', { restartPolicy: 'Always' })] });

  it('count for readiness, and hold back the pod until they have started', () => {
    const starting = generate(pod, [container('proxy', 'running')], {
      probes: { isReady: () => true, isStarted: () => false },
    });
    assert.equal(starting.phase, 'Pending');
    const unready = generate(pod, [container('proxy', 'running'), container('main', 'running')], {
      probes: { isReady: (_, { config }) => config.name === 'main', isStarted: () => true },
    });
    assert.equal(unready.phase, 'Running');
    const ready = unready.conditions?.find(({ type }) => type === 'Ready');
    assert.equal(ready?.message, 'containers with unready status: [proxy]');
  });

  it('that restart do not put a running pod back to Pending', () => {
    const status = generate(pod, [
      container('main', 'running'),
      container('proxy', 'exited', { exitCode: 1 }),
    ]);
    assert.equal(status.phase, 'Running');
    assert.equal(conditionOf(status, 'Initialized'), 'True');
  });
});

describe('the phase', () => {
  const ended = (exitCode: number): readonly RuntimeContainer[] => [
    container('main', 'exited', { exitCode }),
  ];

  it('of ended containers follows the restart policy', () => {
    const phaseOf = (restartPolicy: string, exitCode: number): string | undefined =>
      generate(podOf({ restartPolicy }), ended(exitCode)).phase;
    assert.deepEqual(
      [
        phaseOf('Always', 0),
        phaseOf('Always', 1),
        phaseOf('OnFailure', 0),
        phaseOf('OnFailure', 1),
      ],
      ['Running', 'Running', 'Succeeded', 'Running'],
    );
    assert.deepEqual([phaseOf('Never', 0), phaseOf('Never', 1)], ['Succeeded', 'Failed']);
  });

  it('of a pod that is stopped for good is terminal whatever the policy', () => {
    assert.equal(generate(podOf({}), ended(0), { isTerminal: true }).phase, 'Succeeded');
    assert.equal(generate(podOf({}), ended(137), { isTerminal: true }).phase, 'Failed');
  });

  it('that is terminal is kept, with its reason, whatever the containers do', () => {
    const pod = podOf({}, { phase: 'Failed', reason: 'Evicted', message: 'why' });
    const status = generate(pod, [container('main', 'running')]);
    assert.deepEqual([status.phase, status.reason, status.message], ['Failed', 'Evicted', 'why']);
  });

  it('loses its reason when it changes', () => {
    const pod = podOf({}, { phase: 'Pending', reason: 'Odd' });
    assert.equal(generate(pod, [container('main', 'running')]).reason, undefined);
    assert.equal(generate(pod, []).reason, 'Odd');
  });
});

describe('container statuses', () => {
  it('wait with the last reason and remember how the container ended', () => {
    const waiting = new Map([['main', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]]);
    const exited = container('main', 'exited', { exitCode: 2, attempt: 3 });
    const [status] = generate(podOf({}), [exited], { waiting }).containerStatuses ?? [];
    assert.deepEqual(status?.state, {
      waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' },
    });
    assert.equal(status?.lastState.terminated?.exitCode, 2);
    assert.equal(status.restartCount, 3);
  });

  it('of a container that ran and has vanished count it as ended with 137', () => {
    const running = generate(podOf({}), [container('main', 'running')]);
    const [status] = generate(podOf({}, running), []).containerStatuses ?? [];
    assert.equal(status?.lastState.terminated?.exitCode, 137);
    assert.equal(status.lastState.terminated.reason, 'ContainerStatusUnknown');
    assert.equal(status.restartCount, 1);
  });

  it('keep the end of a container that the runtime has removed', () => {
    const ended = generate(podOf({ restartPolicy: 'Never' }), [
      container('main', 'exited', { exitCode: 4 }),
    ]);
    const status = generate(podOf({ restartPolicy: 'Never' }, ended), []);
    assert.equal(status.containerStatuses?.[0]?.state.terminated?.exitCode, 4);
    assert.equal(status.phase, 'Failed');
  });

  it('are sorted by name', () => {
    const pod = podOf({ containers: [named('b'), named('a')] });
    assert.deepEqual(
      generate(pod, []).containerStatuses?.map(({ name }) => name),
      ['a', 'b'],
    );
  });
});

describe('readiness gates', () => {
  const pod = (status?: string): PodObject => {
    const conditions = status === undefined ? [] : [{ type: 'example.com/gate', status }];
    return podOf({ readinessGates: [{ conditionType: 'example.com/gate' }] }, { conditions });
  };

  it('withhold a pod whose containers are ready until each has its condition', () => {
    const ready = (status?: string): PodStatus =>
      generate(pod(status), [container('main', 'running')]);
    assert.equal(conditionOf(ready(), 'Ready'), 'False ReadinessGatesNotReady');
    assert.equal(conditionOf(ready(), 'ContainersReady'), 'True');
    const unready = ready('False').conditions?.find(({ type }) => type === 'Ready');
    assert.match(unready?.message ?? '', /"example.com\/gate" is not "True", but False/);
    assert.equal(conditionOf(ready('True'), 'Ready'), 'True');
  });
});

describe('addresses', () => {
  it('stay those of the last sandbox when it has gone', () => {
    const before = generate(podOf({}), [container('main', 'running')]);
    const runtime = { podUid: 'u', sandboxes: [], containers: [] };
    const status = generate(podOf({}, before), [], { runtime });
    assert.deepEqual(status['podIPs'], [{ ip: '10.0.0.1' }]);
    assert.equal(conditionOf(status, 'PodReadyToStartContainers'), 'False');
  });
});
