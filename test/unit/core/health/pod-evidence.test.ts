/** What one pod is evidence of: the table of rollouts facts 1, row by row. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  GRACE_MS,
  RETRIED_AFTER_MS,
  judgePod,
  baselineOf,
} from '../../../../src/core/health/pod-signs.ts';
import type { PodEvidence, PodJudging } from '../../../../src/core/health/pod-signs.ts';
import type {
  PodPhase,
  PodProjection,
  PodTrouble,
} from '../../../../src/core/model/projections.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';

const AT: PodJudging = { nowMs: NOW_MS, graceMs: GRACE_MS, isNodeReady: true, demand: 'unknown' };
const CRASHED = { reason: 'Error', exitCode: 1, finishedAtMs: NOW_MS - 1000 };

interface Row {
  readonly phase?: PodPhase;
  readonly trouble?: PodTrouble;
  readonly reason?: string;
  readonly ageMs?: number;
  readonly isReady?: boolean;
  readonly isTerminating?: boolean;
}

/** A pod that is not ready since its creation, a minute ago. */
function podOf({ ageMs = 60_000, ...row }: Row): PodProjection {
  const createdAtMs = NOW_MS - ageMs;
  return pod('n1', {
    phase: 'Pending',
    isReady: false,
    createdAtMs,
    readyChangedAtMs: createdAtMs,
    ...row,
  });
}

function judge(row: Row, at: Partial<PodJudging> = {}): PodEvidence {
  return judgePod(podOf(row), { ...AT, ...at });
}

/** `start ImagePull`, or the kind of what did not fail. */
function told(evidence: PodEvidence): string {
  return evidence.kind === 'failed' ? `${evidence.class} ${evidence.sign}` : evidence.kind;
}

function waits(waiting: string): Row {
  return { trouble: { waiting, container: 'agent' } };
}

describe('cannot start', () => {
  for (const word of ['InvalidImageName', 'ErrImageNeverPull', 'CreateContainerConfigError']) {
    it(`${word} is certain: at once`, () => {
      assert.match(told(judge({ ...waits(word), ageMs: 1000 })), /^start /);
    });
  }

  const retried = [
    'ErrImagePull',
    'ImagePullBackOff',
    'RegistryUnavailable',
    'SignatureValidationFailed',
  ];
  for (const word of [...retried, 'ImageInspectError']) {
    it(`${word} is one set, and a failure after it was tried again`, () => {
      assert.equal(told(judge({ ...waits(word), ageMs: RETRIED_AFTER_MS - 1 })), 'starting');
      assert.equal(told(judge({ ...waits(word), ageMs: RETRIED_AFTER_MS })), 'start ImagePull');
    });
  }

  const refused = [
    'CreateContainerError',
    'RunContainerError',
    'PreCreateHookError',
    'PreStartHookError',
  ];
  for (const word of [...refused, 'PostStartHookError']) {
    it(`${word}: the runtime refuses`, () => {
      assert.equal(told(judge(waits(word))), 'start RuntimeRefused');
    });
  }

  it('a missing binary: StartError, exit 128', () => {
    const lastExit = { reason: 'StartError', exitCode: 128, finishedAtMs: NOW_MS };
    const trouble = { waiting: 'CrashLoopBackOff', lastExit, restarts: 1 };
    assert.equal(told(judge({ phase: 'Running', trouble })), 'start RuntimeRefused');
  });

  it('an init container that crashes again and again', () => {
    const trouble = { waiting: 'CrashLoopBackOff', lastExit: CRASHED, restarts: 1 };
    assert.equal(told(judge({ trouble })), 'start InitFailed');
  });

  it('silence (a missing volume) is a failure by deadline, and names nothing', () => {
    assert.equal(told(judge({ ageMs: GRACE_MS - 1 })), 'starting');
    assert.equal(told(judge({ ageMs: GRACE_MS })), 'start NeverStarted');
  });

  it('a word that nobody knows is told, and fails by deadline', () => {
    const young = judge(waits('constructor'));
    assert.equal(young.kind === 'starting' && young.word, 'constructor');
    assert.equal(told(judge({ ...waits('constructor'), ageMs: GRACE_MS })), 'start NeverStarted');
  });

  it("no room is the release's unless its requests are the same", () => {
    const row = { trouble: { unscheduled: 'Unschedulable' }, ageMs: GRACE_MS };
    assert.equal(told(judge(row, { demand: 'grew' })), 'start Unschedulable');
    assert.equal(told(judge(row, { demand: 'same' })), 'node Unschedulable');
    assert.equal(told(judge({ ...row, ageMs: 1000 })), 'starting');
  });
});

describe('a pod that comes up says when it is to be looked at again', () => {
  const rows: readonly (readonly [string, Row, number])[] = [
    ['silence', {}, GRACE_MS],
    ['a failed pull', waits('ImagePullBackOff'), RETRIED_AFTER_MS],
    ['a word that nobody knows', waits('Hm'), GRACE_MS],
    ['no room', { trouble: { unscheduled: 'Unschedulable' } }, GRACE_MS],
    ['not ready', { phase: 'Running' }, GRACE_MS],
  ];
  for (const [name, row, afterMs] of rows) {
    it(`${name}: and fails then, if nothing changes`, () => {
      const young = judge({ ...row, ageMs: 1000 });
      assert.ok(young.kind === 'starting');
      assert.equal(young.failsAtMs, NOW_MS - 1000 + afterMs);
      const later = judge({ ...row, ageMs: 1000 }, { nowMs: young.failsAtMs });
      assert.equal(later.kind, 'failed');
      const before = judge({ ...row, ageMs: 1000 }, { nowMs: young.failsAtMs - 1 });
      assert.equal(before.kind, 'starting');
    });
  }
});

describe('runs badly', () => {
  const running = { phase: 'Running', isReady: true } as const;

  it('one exit is none, two restarts are', () => {
    const once = judge({ ...running, trouble: { restarts: 1, lastExit: CRASHED } });
    assert.deepEqual(once, { kind: 'well', restarts: 1 });
    assert.equal(
      told(judge({ ...running, trouble: { restarts: 2, lastExit: CRASHED } })),
      'run Crash',
    );
  });

  it('CrashLoopBackOff is the second exit', () => {
    const trouble = { restarts: 1, waiting: 'CrashLoopBackOff', lastExit: CRASHED };
    assert.equal(told(judge({ phase: 'Running', trouble })), 'run Crash');
  });

  it('a first OOM halts, though it runs again and is ready', () => {
    const lastExit = { reason: 'OOMKilled', exitCode: 137, finishedAtMs: NOW_MS - 5000 };
    const evidence = judge({ ...running, trouble: { restarts: 1, lastExit } });
    assert.equal(told(evidence), 'run OOMKilled');
    assert.equal(evidence.kind === 'failed' && evidence.atMs, NOW_MS - 5000);
  });

  it('not ready for longer than the grace', () => {
    assert.equal(told(judge({ phase: 'Running', ageMs: GRACE_MS - 1 })), 'starting');
    assert.equal(told(judge({ phase: 'Running', ageMs: GRACE_MS })), 'run NotReady');
  });

  it('counts the grace from when it turned not ready', () => {
    const turned = pod('n1', { isReady: false, readyChangedAtMs: NOW_MS - 1000 });
    assert.equal(told(judgePod(turned, AT)), 'starting');
  });
});

describe("the node's", () => {
  it('lost: Ready withheld while containers are, and the node is not Ready', () => {
    const row = { phase: 'Running', trouble: { isReadyWithheld: true } } as const;
    assert.equal(told(judge(row, { isNodeReady: false })), 'node NodeLost');
    assert.equal(
      told(judge({ phase: 'Running', isReady: true }, { isNodeReady: false })),
      'node NodeLost',
    );
    assert.equal(told(judge({ phase: 'Unknown' })), 'node NodeLost');
  });

  const refusals = [
    'OutOfcpu',
    'OutOfpods',
    'NodeAffinity',
    'NodePorts',
    'UnexpectedAdmissionError',
    'TopologyAffinityError',
  ];
  for (const reason of refusals) {
    it(`refused by the kubelet: ${reason}`, () => {
      assert.equal(told(judge({ phase: 'Failed', reason })), 'node NodeRefused');
    });
  }

  it("OutOf* after a bigger request is the release's", () => {
    assert.equal(
      told(judge({ phase: 'Failed', reason: 'OutOfmemory' }, { demand: 'grew' })),
      'start NodeRefused',
    );
  });

  it("a sysctl or profile that no kubelet allows is the release's", () => {
    assert.equal(told(judge({ phase: 'Failed', reason: 'SysctlForbidden' })), 'start PodRefused');
  });

  for (const reason of ['Evicted', 'Terminated', 'Preempting', 'NodeShutdown']) {
    it(`evicted or shut down: ${reason}`, () => {
      assert.equal(told(judge({ phase: 'Failed', reason })), 'node Evicted');
    });
  }

  it('ended by the kubelet, as its disruption says', () => {
    const trouble = { disruption: 'TerminationByKubelet' };
    assert.equal(told(judge({ phase: 'Failed', trouble })), 'node Evicted');
  });

  for (const lost of [
    { reason: 'Unknown', exitCode: 255 },
    { reason: 'ContainerStatusUnknown', exitCode: 137 },
  ]) {
    const trouble = { restarts: 3, lastExit: { ...lost, finishedAtMs: NOW_MS } };

    it(`a reboot: ${lost.reason}, however many containers it restarted`, () => {
      assert.equal(told(judge({ phase: 'Running', trouble })), 'node Rebooted');
      assert.equal(told(judge({ phase: 'Running', isReady: true, trouble })), 'well');
    });

    it(`${lost.reason} without a reboot is the release's`, () => {
      assert.equal(told(judge({ phase: 'Running', trouble }, { boot: 'same' })), 'run Crash');
    });
  }

  it('an orderly shutdown before a reboot', () => {
    const trouble = {
      restarts: 2,
      lastExit: { reason: 'Error', exitCode: 143, finishedAtMs: NOW_MS },
    };
    assert.equal(told(judge({ phase: 'Running', trouble }, { boot: 'changed' })), 'node Rebooted');
    const looping = { ...trouble, waiting: 'CrashLoopBackOff' };
    assert.equal(
      told(judge({ phase: 'Running', trouble: looping }, { boot: 'changed' })),
      'run Crash',
    );
  });
});

describe('neither', () => {
  it('a readiness gate', () => {
    const row = { phase: 'Running', trouble: { isReadyWithheld: true }, ageMs: GRACE_MS } as const;
    assert.equal(told(judge(row)), 'neither');
  });

  const called = [
    'PreemptionByScheduler',
    'DeletionByTaintManager',
    'EvictionByEvictionAPI',
    'DeletionByPodGC',
  ];
  for (const disruption of called) {
    it(disruption, () => {
      assert.equal(told(judge({ phase: 'Failed', trouble: { disruption } })), 'neither');
    });
  }

  it('a scheduling gate', () => {
    assert.equal(
      told(judge({ trouble: { unscheduled: 'SchedulingGated' }, ageMs: GRACE_MS })),
      'neither',
    );
  });

  it('a terminating pod, whatever it shows', () => {
    const trouble = { restarts: 9, waiting: 'CrashLoopBackOff', lastExit: CRASHED };
    assert.equal(told(judge({ phase: 'Failed', isTerminating: true, trouble })), 'neither');
  });
});

describe('a pod that was there before', () => {
  const old = { restarts: 40, lastExit: { ...CRASHED, finishedAtMs: NOW_MS - 86_400_000 } };
  const stray = pod('n1', { trouble: old });

  it('in a back-off that began before, is no new crash until it crashes again', () => {
    const looping = pod('n1', {
      isReady: false,
      readyChangedAtMs: NOW_MS,
      trouble: { ...old, waiting: 'CrashLoopBackOff' },
    });
    const baseline = baselineOf(looping);
    assert.equal(told(judgePod(looping, { ...AT, baseline })), 'starting');
    const again = { ...looping, trouble: { ...looping.trouble, restarts: 41, lastExit: CRASHED } };
    assert.equal(told(judgePod(again, { ...AT, baseline })), 'run Crash');
  });

  it('whose restartCount fell after a reboot has not restarted', () => {
    const fallen = pod('n1', { trouble: { restarts: 1, lastExit: old.lastExit } });
    assert.deepEqual(judgePod(fallen, { ...AT, baseline: baselineOf(stray) }), {
      kind: 'well',
      restarts: 0,
    });
  });

  it('beyond the bound of baselines is judged by the time of its exit', () => {
    const sinceMs = NOW_MS - 60_000;
    assert.deepEqual(judgePod(stray, { ...AT, sinceMs }), { kind: 'well', restarts: 0 });
    const oom = { ...CRASHED, reason: 'OOMKilled', exitCode: 137 };
    const killed = pod('n1', { trouble: { restarts: 41, lastExit: oom } });
    assert.equal(told(judgePod(killed, { ...AT, sinceMs })), 'run OOMKilled');
    const restarted = pod('n1', { trouble: { restarts: 42, lastExit: CRASHED } });
    assert.deepEqual(judgePod(restarted, { ...AT, sinceMs }), { kind: 'well', restarts: 1 });
  });
});
