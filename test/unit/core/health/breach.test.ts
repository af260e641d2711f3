/** When what pods show halts a rollout (issue 17, Build 3; rollouts facts 4, default 1). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BREACH_NODES_MAX,
  findBreach,
  findExcusedHold,
  findNodesFailed,
  nodesToHalt,
  EXCUSED_WITHIN_MS,
} from '../../../../src/core/health/breach.ts';
import type { BreachInput } from '../../../../src/core/health/breach.ts';
import type { FailedPod, JudgedPod } from '../../../../src/core/health/pod-signs.ts';
import { GRACE_MS, judgeOnNode } from '../../../../src/core/health/pod-signs.ts';
import { eValueOf } from '../../../../src/core/health/trial.ts';
import type { PodTurns } from '../../../../src/core/model/rollout-record.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { NOW_MS, node, pod } from '../../../support/core-fixtures.ts';
import {
  failOneByOne,
  failed,
  judged,
  nthNode,
  trialNodes,
  withBad,
} from '../../../support/evidence-fixtures.ts';

/** So many updated pods, the first ones failed as said. */
function updated(count: number, failures: readonly Partial<FailedPod>[]): JudgedPod[] {
  return Array.from({ length: count }, (_, index) => {
    const failure = failures[index];
    return failure === undefined ? judged(index) : judged(index, { evidence: failed(failure) });
  });
}

function input(options: Partial<BreachInput>): BreachInput {
  return {
    nowMs: NOW_MS,
    step: 'canary',
    soakMs: 600_000,
    updated: [],
    peers: [],
    turns: [],
    ...options,
  };
}

const CRASH = { class: 'run', sign: 'Crash', word: 'Error 1', restarts: 2 } as const;
const OOM = { class: 'run', sign: 'OOMKilled', word: 'OOMKilled 137' } as const;

describe('in the canary step the first one halts', () => {
  it('a start failure, with cause, node, container and word', () => {
    const breach = findBreach(input({ updated: updated(3, [{}]) }));
    assert.deepEqual(breach, {
      cause: 'StartFailure',
      atMs: NOW_MS,
      message:
        '1 of 3 updated nodes cannot get the image of container agent (ImagePullBackOff): n000',
      nodes: [nthNode(0)],
    });
  });

  it('two restarts, a first OOM, a pod that stays not ready', () => {
    const causes = [CRASH, OOM, { class: 'run', sign: 'NotReady' } as const].map(
      (failure) => findBreach(input({ updated: updated(3, [failure]) }))?.cause,
    );
    assert.deepEqual(causes, ['Restarts', 'OOMKilled', 'NotReady']);
  });

  it("but not what is the node's, nor pods that are well, come up or wait", () => {
    const pods = [
      judged(0, { evidence: failed({ class: 'node', sign: 'NodeLost' }) }),
      judged(1),
      judged(2, { evidence: { kind: 'starting', restarts: 0, failsAtMs: NOW_MS } }),
      judged(3, { evidence: { kind: 'neither', restarts: 0, word: 'ReadinessGatesNotReady' } }),
    ];
    assert.equal(findBreach(input({ updated: pods })), undefined);
  });
});

describe('later', () => {
  it('it takes two nodes, or 2 % rounded up', () => {
    assert.equal(nodesToHalt('canary', 500), 1);
    assert.deepEqual(
      [3, 100, 101, 164, 1000].map((count) => nodesToHalt('group', count)),
      [2, 2, 3, 4, 20],
    );
  });

  it('with the same sign', () => {
    const step = 'group';
    assert.equal(findBreach(input({ step, updated: updated(50, [{}]) })), undefined);
    assert.equal(findBreach(input({ step, updated: updated(50, [{}, CRASH]) })), undefined);
    assert.equal(
      findBreach(input({ step, updated: updated(50, [CRASH, CRASH, {}]) }))?.cause,
      'Restarts',
    );
  });

  it('of several the one on most nodes is named', () => {
    const breach = findBreach(
      input({ step: 'group', updated: updated(50, [{}, {}, OOM, OOM, OOM]) }),
    );
    assert.equal(breach?.cause, 'OOMKilled');
  });
});

describe('a failure is excused', () => {
  const pods = updated(3, [CRASH]);
  const peer = (options: Partial<FailedPod>, stratum = 'a/pool'): JudgedPod =>
    judged(9, { stratum, evidence: failed({ ...CRASH, ...options }) });

  it('by the same sign of an old pod in the stratum within the hour', () => {
    const atMs = NOW_MS - EXCUSED_WITHIN_MS;
    assert.equal(findBreach(input({ updated: pods, peers: [peer({ atMs })] })), undefined);
  });

  it('not by an older one, by another sign, or in another stratum', () => {
    const peers = [
      peer({ atMs: NOW_MS - EXCUSED_WITHIN_MS - 1 }),
      peer({ sign: 'OOMKilled' }),
      peer({}, 'b/pool'),
    ];
    assert.equal(findBreach(input({ updated: pods, peers }))?.cause, 'Restarts');
  });
});

describe('a failure is excused by rate', () => {
  const old = (count: number, first: Partial<JudgedPod> = {}): JudgedPod[] =>
    Array.from({ length: count }, (_, index) => judged(500 + index, index === 0 ? first : {}));
  const pulls = (createdAtMs = NOW_MS - 60_000): Partial<JudgedPod> => ({
    evidence: failed(),
    createdAtMs,
  });
  const fiftyMinutesAgo = NOW_MS - 50 * 60_000;

  it('not by one old failure of 800, whether three of three canaries fail or a hundred of a hundred later', () => {
    for (const failure of [OOM, CRASH, { class: 'run', sign: 'NotReady' } as const]) {
      const one = { evidence: failed({ ...failure, atMs: fiftyMinutesAgo }) };
      const peers = old(800, one);
      const canaries = updated(3, [failure, failure, failure]);
      assert.notEqual(findBreach(input({ updated: canaries, peers })), undefined, failure.sign);
      assert.notEqual(findBreach(input({ updated: updated(1, [failure]), peers })), undefined);
      const all = updated(
        100,
        Array.from({ length: 100 }, () => failure),
      );
      assert.equal(findBreach(input({ step: 'group', updated: all, peers }))?.nodes.length, 16);
    }
  });

  it('by a registry that is down: of old pods those count that were started within the hour', () => {
    const canaries = updated(3, [{}, {}, {}]);
    const peers = [...old(800), judged(400, pulls()), judged(401, pulls())];
    assert.equal(findBreach(input({ updated: canaries, peers })), undefined);
    const fine = Array.from({ length: 20 }, (_, index) =>
      judged(600 + index, { createdAtMs: NOW_MS - 1000 }),
    );
    const breach = findBreach(input({ updated: canaries, peers: [...peers, ...fine] }));
    assert.equal(breach?.cause, 'StartFailure', 'twenty others got the image meanwhile');
  });

  it('not by an old pod that turned, where hundreds did not and every canary flaps', () => {
    const turns = [0, 1, 2].map((index): PodTurns => ({
      ...{ uid: uid(`pod-${String(index)}`), node: nthNode(index), isReady: false },
      ...{ changedAtMs: NOW_MS, turns: 3, turnedAtMs: NOW_MS },
    }));
    const peers = old(800, { turnedAtMs: NOW_MS - 60_000 });
    assert.equal(findBreach(input({ updated: updated(3, []), turns, peers }))?.cause, 'Flapping');
  });

  it('and holds the step for an hour after the last one, if so many would halt', () => {
    const peers = old(3, { evidence: failed({ ...OOM, atMs: fiftyMinutesAgo }) });
    const one = input({ updated: updated(1, [{ ...OOM, atMs: fiftyMinutesAgo }]), peers });
    const untilMs = fiftyMinutesAgo + EXCUSED_WITHIN_MS;
    assert.equal(findBreach(one), undefined);
    assert.deepEqual(findExcusedHold(one), { nodes: 1, untilMs });
    assert.equal(findExcusedHold({ ...one, nowMs: untilMs }), undefined);
    assert.equal(findExcusedHold({ ...one, step: 'group' }), undefined, 'one would not halt there');
  });
});

describe('overruled', () => {
  const overruled = { atMs: NOW_MS - 1, cause: 'StartFailure', nodes: [nthNode(0)] } as const;

  it('nor does anything that happened before', () => {
    const before = { ...OOM, atMs: NOW_MS - 1 };
    assert.equal(findBreach(input({ overruled, updated: updated(3, [before]) })), undefined);
    assert.equal(findBreach(input({ overruled, updated: updated(3, [OOM]) }))?.cause, 'OOMKilled');
  });
});

describe('a message', () => {
  it('names three nodes, and the breach sixteen', () => {
    const breach = findBreach(
      input({
        step: 'group',
        updated: updated(
          40,
          Array.from({ length: 20 }, () => ({})),
        ),
      }),
    );
    assert.match(
      breach?.message ?? '',
      /^20 of 40 updated nodes .*: n000, n001, n002 and 17 more$/,
    );
    assert.equal(breach?.nodes.length, BREACH_NODES_MAX);
  });

  it('repeats no word that is none of a kubelet', () => {
    const failure = { word: 'password=hunter2 at https://user:secret@host', container: 'a b' };
    const breach = findBreach(input({ updated: updated(3, [failure]) }));
    assert.equal(
      breach?.message,
      '1 of 3 updated nodes cannot get the image of a container (ImagePull): n000',
    );
  });
});

describe('flapping', () => {
  const turned = (index: number, turns: number): PodTurns => ({
    uid: uid(`pod-${String(index)}`),
    node: nthNode(index),
    changedAtMs: NOW_MS,
    isReady: false,
    turns,
    turnedAtMs: NOW_MS,
  });

  it('a canary pod that turned three times halts; later it takes two', () => {
    const at = { updated: updated(50, []), turns: [turned(0, 3), turned(1, 2)] };
    const breach = findBreach(input(at));
    assert.equal(breach?.cause, 'Flapping');
    assert.deepEqual(breach.nodes, [nthNode(0)]);
    assert.equal(
      breach.message,
      'pods turned not ready 3 times on 1 of 50 updated nodes, so a soak of 600 s cannot pass: n000',
    );
    assert.equal(findBreach(input({ ...at, step: 'group' })), undefined);
    const both = { ...at, turns: [turned(0, 3), turned(1, 3)] };
    assert.equal(findBreach(input({ ...both, step: 'group' }))?.cause, 'Flapping');
  });

  it('pods that take turns, so that no soak can pass, halt together', () => {
    const turns = Array.from({ length: 12 }, (_, index) => turned(index, 1));
    assert.equal(findBreach(input({ updated: updated(50, []), turns }))?.cause, 'Flapping');
    assert.equal(findBreach(input({ updated: updated(50, []), turns: turns.slice(1) })), undefined);
    assert.equal(findBreach(input({ updated: updated(50, []), turns, soakMs: 60_000 })), undefined);
    assert.equal(findBreach(input({ updated: updated(50, []), turns, soakMs: 0 })), undefined);
  });

  it('is excused by old pods of the stratum that turned, and overruled like the rest', () => {
    const at = { updated: updated(3, []), turns: [turned(0, 3)] };
    assert.equal(
      findBreach(input({ ...at, peers: [judged(9, { turnedAtMs: NOW_MS - 60_000 })] })),
      undefined,
    );
    const overruled = { atMs: NOW_MS - 1, cause: 'Flapping', nodes: [nthNode(0)] } as const;
    assert.equal(findBreach(input({ ...at, overruled })), undefined);
  });
});

describe('nodes that fail', () => {
  it('name E, the counts and the nodes', () => {
    const nodes = trialNodes(164, 16);
    const trial = failOneByOne(nodes, [4, 9, 15]);
    const breach = findNodesFailed(trial, withBad(nodes, [4, 9, 15]), NOW_MS);
    assert.equal(breach?.cause, 'NodesFailed');
    assert.deepEqual(breach.nodes, [nthNode(4), nthNode(9), nthNode(15)]);
    assert.match(
      breach.message,
      /^3 of 16 updated nodes went bad, 0 of 148 others; E = \d{3}, halts at 25: n004/,
    );
  });

  it('are two at least: the first one halts nothing, however few nodes are updated', () => {
    const nodes = trialNodes(1000, 3);
    const one = failOneByOne(nodes, [0]);
    assert.ok(eValueOf(one) > 20, String(eValueOf(one)));
    assert.equal(findNodesFailed(one, nodes, NOW_MS), undefined);
    const two = failOneByOne(nodes, [0, 1]);
    assert.deepEqual(findNodesFailed(two, nodes, NOW_MS)?.nodes, [nthNode(0), nthNode(1)]);
  });

  it('below it nothing is halted', () => {
    const nodes = trialNodes(164, 16);
    assert.equal(findNodesFailed(failOneByOne(nodes, [4]), nodes, NOW_MS), undefined);
  });
});

describe('judgeOnNode', () => {
  it('takes stratum and readiness from the node, and turns from a pod that has been up for long', () => {
    const zone = { 'topology.kubernetes.io/zone': 'a', 'karpenter.sh/nodepool': 'p' };
    const at = { nowMs: NOW_MS, graceMs: GRACE_MS, demand: 'unknown' } as const;
    const lost = judgeOnNode(pod('n1'), node('n1', { labels: zone, isReady: false }), at);
    assert.equal(lost.stratum, 'a/p');
    assert.equal(lost.evidence.kind, 'failed');
    assert.equal(lost.turnedAtMs, undefined);
    const turned = pod('n1', { createdAtMs: NOW_MS - 86_400_000, readyChangedAtMs: NOW_MS - 1000 });
    assert.equal(judgeOnNode(turned, node('n1'), at).turnedAtMs, NOW_MS - 1000);
  });
});
