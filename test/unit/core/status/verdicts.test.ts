/** Verdicts that a person can read. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlanContext } from '../../../../src/core/model/plan.ts';
import type { PlacementReason, Verdict } from '../../../../src/core/model/verdict.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { explainPlacement } from '../../../../src/core/status/placement-words.ts';
import {
  LIFE_MS,
  NOW_MS,
  context,
  daemonSet,
  deleteIntent,
  failedPod,
  namedPod,
  node,
  pod,
  state,
  statusOnly,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

function verdictOf(options: ViewOptions, by: Partial<PlanContext> = {}): Verdict {
  const [verdict] = planReconcile(
    view({ nodes: [node('n1')], ...options }),
    context(by),
  ).verdicts();
  assert.ok(verdict !== undefined);
  return verdict;
}

const gpu = { key: 'nvidia.com/gpu', value: 'true', effect: 'NoSchedule' } as const;
const tainted = [node('gpu-3', { taints: [gpu] })];
const evicted = [node('n1', { taints: [{ key: 'old', effect: 'NoExecute' as const }] })];
const name = 'p';

describe('codes and sentences', () => {
  const rows: readonly [string, ViewOptions, string, RegExp][] = [
    [
      'a taint that is not tolerated',
      { nodes: tainted },
      'NotWanted',
      /^Node gpu-3 has taint nvidia\.com\/gpu=true:NoSchedule which the template does not tolerate; no pod belongs there\.$/,
    ],
    [
      'a pod that may stay',
      { nodes: tainted, pods: [namedPod('gpu-3', name)] },
      'KeptDespiteTaint',
      /pod p may stay, a lost one is not made again/,
    ],
    ['a pod being created', {}, 'Creating', /pod agent-\w{10} is being created/],
    [
      'a pod being deleted',
      { nodes: evicted, pods: [namedPod('n1', name)] },
      'Deleting',
      /has taint old:NoExecute .*; deleting p\.$/,
    ],
    [
      'a duplicate being deleted',
      { pods: [namedPod('n1', name), namedPod('n1', 'q', { createdAtMs: NOW_MS })] },
      'Deleting',
      /has pods to be replaced \(duplicate\); deleting q/,
    ],
    [
      'a terminating pod that is replaced',
      { pods: [namedPod('n1', name, { isTerminating: true })] },
      'WaitingForTermination',
      /pod p has to be gone first, then it is replaced/,
    ],
    [
      'a terminating pod that is not',
      { nodes: evicted, pods: [namedPod('n1', name, { isTerminating: true })] },
      'WaitingForTermination',
      /none follows/,
    ],
    ['a ready pod', { pods: [namedPod('n1', name)] }, 'Running', /^Node n1 has ready pod p\.$/],
    [
      'a pod that waits for the scheduler',
      { pods: [namedPod('n1', name, { phase: 'Pending', isReady: false, boundNode: null })] },
      'Pending',
      /waits for the scheduler/,
    ],
    [
      'a pod that is starting',
      { pods: [namedPod('n1', name, { phase: 'Pending', isReady: false, createdAtMs: NOW_MS })] },
      'Pending',
      /is starting/,
    ],
    [
      'a pod that is not ready',
      { pods: [namedPod('n1', name, { isReady: false })] },
      'NotReady',
      /has pod p, whose container runs and is not ready since .*: its readiness probe fails/,
    ],
    [
      'a pod on a node that is not ready',
      { nodes: [node('n1', { isReady: false })], pods: [namedPod('n1', name, { isReady: false })] },
      'NodeNotReady',
      /the node is not ready/,
    ],
    [
      'a failed pod that waits',
      { pods: [failedPod('n1', { name: 'a' }), failedPod('n1', { name, reason: 'Evicted' })] },
      'Deleting',
      /deleting a/,
    ],
  ];
  for (const [title, options, code, message] of rows) {
    it(title, () => {
      const verdict = verdictOf(options);
      assert.equal(verdict.code, code);
      assert.match(verdict.message, message);
    });
  }

  it('a failed pod in back-off, with its cause and its end', () => {
    const backoff = [{ node: node('n1').name, generation: 0, delayMs: 5000, advancedAtMs: NOW_MS }];
    const by = { state: state({ backoff }) };
    const verdict = verdictOf({ pods: [failedPod('n1', { name, reason: 'Evicted' })] }, by);
    assert.equal(
      verdict.message,
      'Node n1 waits: pod p failed (Evicted); it is replaced when its back-off ends, at 2026-11-21T12:00:05Z.',
    );
    assert.equal(verdict.untilMs, NOW_MS + 5000);
    const plain = verdictOf({ pods: [failedPod('n1', { name })] }, by);
    assert.match(plain.message, /pod p failed; it is replaced/);
  });

  it('a ready pod within minReadySeconds says until when', () => {
    const set = daemonSet({ spec: { minReadySeconds: 30 } });
    const young = { daemonSet: set, pods: [pod('n1', { readyChangedAtMs: NOW_MS })] };
    assert.equal(verdictOf(young).untilMs, NOW_MS + 30_000);
    assert.match(
      verdictOf(young).message,
      /has ready pod agent-\w+, which counts as available after minReadySeconds\.$/,
    );
    const old = { daemonSet: set, pods: [pod('n1')] };
    assert.equal(verdictOf(old).untilMs, undefined);
    const justNow = { daemonSet: set, pods: [pod('n1', { readyChangedAtMs: NOW_MS - 30_000 })] };
    assert.equal(verdictOf(justNow).untilMs, undefined);
  });

  it('without minReadySeconds ready is available, even if the node clock is ahead (#77203)', () => {
    const ahead = verdictOf({ pods: [pod('n1', { readyChangedAtMs: NOW_MS + 60_000 })] });
    assert.equal(ahead.untilMs, undefined);
  });

  it('a delete that was accepted and is not seen yet', () => {
    const victim = namedPod('n1', name);
    const by = { state: state({ intents: [deleteIntent(victim, { isAccepted: true })] }) };
    const verdict = verdictOf({ nodes: evicted, pods: [victim] }, by);
    assert.equal(verdict.code, 'Deleting');
    assert.match(verdict.message, /; deleting p\.$/);
  });

  it('what the burst cap leaves for later, as a create and as a delete', () => {
    const created = verdictOf({}, { burstPodsMax: 0 });
    assert.equal(created.code, 'WaitingForBurst');
    assert.match(created.message, /tolerate; its pod is created after the present batch\.$/);
    const deleted = verdictOf(
      { nodes: evicted, pods: [namedPod('n1', name)] },
      { burstPodsMax: 0 },
    );
    assert.equal(deleted.code, 'WaitingForBurst');
    assert.match(deleted.message, /; deletes follow the present batch\.$/);
  });

  it('several pods that go, each with its reason', () => {
    const pods = [
      namedPod('n1', name),
      namedPod('n1', 'q', { createdAtMs: NOW_MS }),
      failedPod('n1', { name: 'r' }),
    ];
    assert.equal(
      verdictOf({ pods }).message,
      'Node n1 has pods to be replaced (failed, duplicate); deleting r, q.',
    );
  });

  it('an available pod that a new state keeps from going, and until when (protocol 6)', () => {
    const by = { state: state({ createdAtMs: NOW_MS - 5000 }) };
    const verdict = verdictOf({ nodes: evicted, pods: [namedPod('n1', name)] }, by);
    assert.equal(verdict.code, 'WaitingForCluster');
    assert.equal(
      verdict.message,
      'Node n1 has available pods that should go; they stay until requests that may have been ' +
        'forgotten are certainly dead.',
    );
    assert.equal(verdict.untilMs, NOW_MS - 5000 + LIFE_MS);
  });

  it('a change that the guard holds back, a create as well as a delete', () => {
    const guard = statusOnly('frozen');
    for (const options of [{}, { nodes: evicted, pods: [namedPod('n1', name)] }]) {
      const verdict = verdictOf(options, { guard });
      assert.equal(verdict.code, 'WaitingForCluster');
      assert.match(verdict.message, /needs a change, which waits: for the test\.$/);
    }
    assert.equal(verdictOf({ pods: [namedPod('n1', name)] }, { guard }).code, 'Running');
  });

  it('speaks of the pod that stays, not of a terminating one before it', () => {
    const leaving = namedPod('n1', 'a', { isTerminating: true, createdAtMs: 1 });
    const staying = namedPod('n1', 'b', { createdAtMs: 2 });
    assert.equal(verdictOf({ pods: [leaving, staying] }).message, 'Node n1 has ready pod b.');
  });
});

describe('explainPlacement', () => {
  const rows: readonly [PlacementReason, RegExp][] = [
    [{ code: 'Eligible' }, /matches the template/],
    [{ code: 'OtherNodeName', wanted: 'n2' }, /is not node n2/],
    [{ code: 'NodeSelectorMismatch', label: 'a=b' }, /lacks the label a=b/],
    [
      { code: 'NodeAffinityMismatch', labels: ['zone'], detail: 'zone In [a]' },
      /required node affinity \(zone In \[a\]\)/,
    ],
    [{ code: 'NodeAffinityInvalid', detail: 'odd' }, /is invalid \(odd\)/],
    [{ code: 'TaintNotTolerated', taint: 'a:NoExecute' }, /has taint a:NoExecute/],
  ];
  for (const [reason, expected] of rows) {
    it(reason.code, () => assert.match(explainPlacement(reason), expected));
  }
});
