/** What a pod's status says of trouble, row by row of rollouts facts 1: raw words of kubelet, runtime and scheduler (issue 17). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PodTrouble } from '../../../../src/core/model/projections.ts';
import { projectLivePod } from '../../../../src/core/projections/project.ts';

const CREATED = '2026-01-01T00:00:00Z';

const at = (second: string): string => `2026-01-01T00:00:${second}Z`;
const ms = (second: string): number => Date.parse(at(second));

const troubleOf = (status: object, metadata: object = {}): PodTrouble | undefined =>
  projectLivePod({
    metadata: {
      name: 'p',
      namespace: 'ns',
      uid: 'u',
      resourceVersion: '5',
      creationTimestamp: CREATED,
      ...metadata,
    },
    status,
  }).trouble;

const waiting = (reason: string, more: object = {}): object => ({
  name: 'agent',
  restartCount: 0,
  ready: false,
  state: { waiting: { reason } },
  ...more,
});
const running = (more: object = {}): object => ({
  name: 'agent',
  restartCount: 0,
  state: { running: { startedAt: CREATED } },
  ...more,
});
const terminated = (reason: string, exitCode: number, second = '07'): object => ({
  terminated: { reason, exitCode, finishedAt: at(second) },
});
const condition = (type: string, status: string, reason?: string): object => ({
  type,
  status,
  ...(reason === undefined ? {} : { reason }),
});

describe('a pod without trouble', () => {
  it('has none, whether it comes up, runs, or waits for volumes, sandbox or init containers', () => {
    const done = { name: 'init', restartCount: 0, state: terminated('Completed', 0) };
    for (const status of [
      {},
      { containerStatuses: null, initContainerStatuses: [] },
      { phase: 'Running', containerStatuses: [running()], initContainerStatuses: [done] },
      { containerStatuses: [waiting('ContainerCreating')] },
      { containerStatuses: [waiting('PodInitializing')] },
      { containerStatuses: [waiting('')] },
      { containerStatuses: [{ name: 'agent', state: { waiting: null } }] },
      { conditions: [condition('PodScheduled', 'True'), condition('DisruptionTarget', 'False')] },
      // A probe that fails, or has not succeeded yet: both conditions say so.
      { conditions: [condition('Ready', 'False'), condition('ContainersReady', 'False')] },
      { conditions: [condition('Ready', 'True'), condition('ContainersReady', 'True')] },
    ]) {
      assert.equal(troubleOf(status), undefined, JSON.stringify(status));
    }
  });

  it('is each that is going: its kubelet ends its containers as it likes', () => {
    const status = { containerStatuses: [running({ state: terminated('Error', 137) })] };
    assert.notEqual(troubleOf(status), undefined);
    assert.equal(troubleOf(status, { deletionTimestamp: at('09') }), undefined);
  });
});

describe('a container that cannot start', () => {
  it('of a failed pull always the same, though the words take turns', () => {
    for (const word of [
      'ErrImagePull',
      'ImagePullBackOff',
      'RegistryUnavailable',
      'SignatureValidationFailed',
    ]) {
      const status = { containerStatuses: [waiting(word)] };
      assert.deepEqual(troubleOf(status), { waiting: 'ImagePullBackOff', container: 'agent' });
    }
  });
});

describe('a container that ends', () => {
  const lastExit = { reason: 'Error', exitCode: 1, finishedAtMs: ms('07') };

  it('tells of the same exit before and after its kubelet moves it to lastState', () => {
    const exited = { containerStatuses: [running({ state: terminated('Error', 1) })] };
    assert.deepEqual(troubleOf(exited), { lastExit, container: 'agent' });
    const lastState = terminated('Error', 1);
    const restarted = { containerStatuses: [running({ restartCount: 1, lastState })] };
    assert.deepEqual(troubleOf(restarted), { restarts: 1, lastExit, container: 'agent' });
    const backingOff = waiting('CrashLoopBackOff', { restartCount: 1, lastState });
    assert.deepEqual(troubleOf({ containerStatuses: [backingOff] }), {
      restarts: 1,
      waiting: 'CrashLoopBackOff',
      lastExit,
      container: 'agent',
    });
  });

  it('without CrashLoopBackOff, as a slow leak does, tells of its kill and its restarts', () => {
    const status = {
      phase: 'Running',
      containerStatuses: [running({ restartCount: 3, lastState: terminated('OOMKilled', 137) })],
    };
    assert.deepEqual(troubleOf(status), {
      restarts: 3,
      lastExit: { reason: 'OOMKilled', exitCode: 137, finishedAtMs: ms('07') },
      container: 'agent',
    });
  });

  it('with code 0 has ended all the same, unless it is an init container', () => {
    const state = terminated('Completed', 0);
    assert.equal(troubleOf({ initContainerStatuses: [running({ state })] }), undefined);
    assert.equal(
      troubleOf({ containerStatuses: [running({ state })] })?.lastExit?.reason,
      'Completed',
    );
  });

  it('is told of where it ended last; restarts are added up over all', () => {
    const status = {
      initContainerStatuses: [
        running({ name: 'sidecar', restartCount: 2, lastState: terminated('Error', 3, '30') }),
      ],
      containerStatuses: [
        running({ name: 'a', restartCount: 1, lastState: terminated('Error', 4, '10') }),
        running({ name: 'b', restartCount: 4, lastState: terminated('Error', 5, '20') }),
      ],
    };
    assert.deepEqual(troubleOf(status), {
      restarts: 7,
      lastExit: { reason: 'Error', exitCode: 3, finishedAtMs: ms('30') },
      container: 'sidecar',
    });
  });

  it('at a time that the runtime does not know, ended before any other', () => {
    const lost = {
      terminated: { reason: 'ContainerStatusUnknown', exitCode: 137, finishedAt: null },
    };
    const known = running({ name: 'known', lastState: terminated('Error', 1, '00') });
    const unknown = running({ name: 'unknown', lastState: lost });
    for (const containerStatuses of [
      [known, unknown],
      [unknown, known],
    ]) {
      assert.equal(troubleOf({ containerStatuses })?.container, 'known');
    }
    assert.deepEqual(troubleOf({ containerStatuses: [unknown] }), {
      lastExit: { reason: 'ContainerStatusUnknown', exitCode: 137 },
      container: 'unknown',
    });
  });
});

describe('what is said of the pod as a whole', () => {
  it('is why it has no node', () => {
    const conditions = [condition('PodScheduled', 'False', 'Unschedulable')];
    assert.deepEqual(troubleOf({ conditions }), { unscheduled: 'Unschedulable' });
  });

  it('is who disrupts it, also once it has failed', () => {
    const conditions = [condition('DisruptionTarget', 'True', 'TerminationByKubelet')];
    assert.deepEqual(troubleOf({ phase: 'Failed', reason: 'Evicted', conditions }), {
      disruption: 'TerminationByKubelet',
    });
  });

  it('is that its containers are ready and it is not: its node is lost, or a gate holds', () => {
    for (const status of ['False', 'Unknown']) {
      const conditions = [condition('ContainersReady', 'True'), condition('Ready', status)];
      assert.deepEqual(troubleOf({ conditions }), { isReadyWithheld: true });
    }
    assert.equal(troubleOf({ conditions: [condition('ContainersReady', 'True')] }), undefined);
  });
});

describe('words that somebody made up', () => {
  it('are cut and made printable, and numbers stay within bounds', () => {
    const odd = {
      name: `a\n${'é'.repeat(300)}`,
      restartCount: Number.MAX_SAFE_INTEGER,
      state: { waiting: { reason: `b\u0000${'x'.repeat(300)}` } },
      lastState: { terminated: { reason: '\r\n', exitCode: Number.MIN_SAFE_INTEGER } },
    };
    const negative = { name: 'n', restartCount: -5, lastState: {} };
    assert.deepEqual(troubleOf({ containerStatuses: [odd, odd, negative] }), {
      restarts: 1_000_000_000,
      waiting: `b?${'x'.repeat(254)}`,
      lastExit: { reason: '??', exitCode: -(2 ** 31) },
      container: `a?${'?'.repeat(254)}`,
    });
  });
});

describe('the cause that a message names (ADR 0079)', () => {
  const unscheduled = (message: string): string | undefined => {
    const scheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
    return troubleOf({ conditions: [scheduled] })?.cause;
  };
  const ofScheduler: readonly (readonly [string, string | undefined])[] = [
    [
      "0/5 nodes are available: 1 Insufficient memory, 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: 0/5 nodes are available: 1 No preemption victims found.",
      'Insufficient cpu, Insufficient memory',
    ],
    [
      "0/9 nodes are available: 1 Too many pods, 8 node(s) didn't match Pod's node affinity/selector.",
      'Too many pods',
    ],
    ['0/2 nodes are available: 1 node(s) were unschedulable.', 'the node is cordoned'],
    [
      '0/1 nodes are available: 1 node(s) had untolerated taint {gpu.example/x: s3cret}.',
      'taint gpu.example/x',
    ],
    ["1 node(s) didn't have free ports for the requested pod ports", 'no free host port'],
    ['persistentvolumeclaim "data" not found', 'PersistentVolumeClaim data'],
    ['a scheduler of our own says: token=abc', undefined],
  ];
  for (const [message, cause] of ofScheduler) {
    it(`of a scheduler: ${cause ?? 'nothing that is known'}`, () => {
      assert.equal(unscheduled(message), cause);
    });
  }

  const configured = (message: string, word = 'CreateContainerConfigError'): string | undefined =>
    troubleOf({
      containerStatuses: [waiting(word, { state: { waiting: { reason: word, message } } })],
    })?.cause;

  it('of a kubelet: the ConfigMap, the Secret or the key that is missing', () => {
    assert.equal(configured('configmap "agent" not found'), 'ConfigMap agent is missing');
    assert.equal(configured('secret "token" not found'), 'Secret token is missing');
    const key = "couldn't find key cert.pem in Secret ops/token";
    assert.equal(configured(key), 'key cert.pem of Secret token is missing');
    assert.equal(configured('open /var/secret: abc'), undefined);
  });

  it('of nothing whose message changes by itself', () => {
    const said = 'secret "token" not found';
    assert.equal(configured(said, 'ImagePullBackOff'), undefined);
    assert.equal(configured(said, 'CrashLoopBackOff'), undefined);
  });
});
