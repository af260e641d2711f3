/** The decision per node (spec 2.7), its consequences (a)–(e), and strays. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import { judgeIntents } from '../../../../src/core/intents/intents.ts';
import type { Plan, PlanContext, View } from '../../../../src/core/model/plan.ts';
import type { BackoffEntry, Intent } from '../../../../src/core/model/state.ts';
import { successorName } from '../../../../src/core/pod/naming.ts';
import { planPods, type PodDecisions } from '../../../../src/core/manage-pods/plan-pods.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { findTargets } from '../../../../src/core/manage-pods/targets.ts';
import { preparePlanning } from '../../../../src/core/manage-pods/planning.ts';
import {
  CURRENT_HASH,
  LIFE_MS,
  NOW_MS,
  context,
  daemonSet,
  deleteIntent,
  failedPod,
  namedPod,
  node,
  pod,
  slot,
  state,
  surging,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

const plan = (options: ViewOptions, by: Partial<PlanContext> = {}): Plan =>
  planReconcile(view(options), context(by));

/** Effects in short: `+name` for a create, `-name reason` for a delete. */
function effects(options: ViewOptions, by: Partial<PlanContext> = {}): readonly string[] {
  const { creates, deletes } = plan(options, by);
  return [
    ...creates.map(({ name }) => `+${name}`),
    ...deletes.map(({ name, reason }) => `-${name} ${reason}`),
  ];
}

/** What the nodes need by themselves, without the rolling update. */
function decide(seen: View, by: Partial<PlanContext> = {}): PodDecisions {
  const made = context(by);
  const intents = judgeIntents({
    state: made.state,
    pods: seen.nodes.flatMap(({ pods }) => pods),
    marks: {},
    era: made.state.written.era,
    nowMs: seen.nowMs,
    requestTimeoutMs: made.requestTimeoutMs,
  });
  const targets = findTargets(seen, made.currentHash);
  return planPods(preparePlanning(seen, made, { intents, targets }));
}

const one = [node('n1')];
const noSchedule = [node('n1', { taints: [{ key: 'k', effect: 'NoSchedule' as const }] })];
const noExecute = [node('n1', { taints: [{ key: 'k', effect: 'NoExecute' as const }] })];
const leaving = { isTerminating: true } as const;
const old = { app: 'agent', 'controller-revision-hash': 'old' };

describe('without surge (spec 2.7)', () => {
  const a = namedPod('n1', 'a', { createdAtMs: 1 });
  const b = namedPod('n1', 'b', { createdAtMs: 2 });
  const c = namedPod('n1', 'c', { createdAtMs: 3 });
  const rows: readonly [string, ViewOptions, readonly string[]][] = [
    ['run, no pod: create under the slot name', { nodes: one }, [`+${slot('n1')}`]],
    ['run, one pod: nothing', { nodes: one, pods: [pod('n1')] }, []],
    ['run, unready pod: nothing', { nodes: one, pods: [pod('n1', { isReady: false })] }, []],
    [
      'run, three pods: the first in sort order stays',
      { nodes: one, pods: [c, b, a] },
      ['-b duplicate', '-c duplicate'],
    ],
    [
      'an unbound duplicate goes before a bound one',
      { nodes: one, pods: [namedPod('n1', 'z', { boundNode: null, createdAtMs: 0 }), a] },
      ['-z duplicate'],
    ],
    [
      '(a) a terminating pod blocks its replacement (spec faults 48)',
      { nodes: one, pods: [pod('n1', leaving)] },
      [],
    ],
    [
      'a terminating pod is no duplicate',
      { nodes: one, pods: [a, namedPod('n1', 'b', leaving)] },
      [],
    ],
    [
      '(b) a failed pod is deleted, and replaced only later',
      { nodes: one, pods: [failedPod('n1')] },
      [`-${slot('n1')} failed`],
    ],
    [
      'a failed pod beside a running one goes too',
      { nodes: one, pods: [a, failedPod('n1', { name: 'b' })] },
      ['-b failed'],
    ],
    [
      'a succeeded pod beside a running one goes, the running one stays',
      { nodes: one, pods: [{ ...a, phase: 'Succeeded' }, b] },
      ['-a succeeded'],
    ],
    [
      'a succeeded pod is deleted',
      { nodes: one, pods: [pod('n1', { phase: 'Succeeded' })] },
      [`-${slot('n1')} succeeded`],
    ],
    ['keep, no pod: (d) a lost pod is not made again', { nodes: noSchedule }, []],
    ['keep, one pod: (d) it stays', { nodes: noSchedule, pods: [a] }, []],
    [
      'keep, two pods: (d) duplicates are pruned',
      { nodes: noSchedule, pods: [a, b] },
      ['-b duplicate'],
    ],
    [
      'keep: a failed pod goes',
      { nodes: noSchedule, pods: [failedPod('n1')] },
      [`-${slot('n1')} failed`],
    ],
    ['leave, no pod: nothing', { nodes: noExecute }, []],
    [
      'leave: every pod that is not terminating goes, whatever its phase',
      { nodes: noExecute, pods: [a, failedPod('n1', { name: 'b' }), namedPod('n1', 'c', leaving)] },
      ['-a not-wanted', '-b not-wanted'],
    ],
    [
      'a pod of an unknown phase counts as running',
      { nodes: one, pods: [pod('n1', { phase: 'Unknown' })] },
      [],
    ],
  ];
  for (const [title, options, expected] of rows) {
    it(title, () => assert.deepEqual(effects(options), expected));
  }

  it('uses the versions that were read as preconditions (S4)', () => {
    const [planned] = plan({ nodes: noExecute, pods: [a] }).deletes;
    assert.deepEqual(planned, {
      node: 'n1',
      name: 'a',
      uid: 'pod-a',
      resourceVersion: '60',
      reason: 'not-wanted',
      isAvailable: true,
    });
  });
});

describe('a pod that is bound and names no target', () => {
  it('is deleted all the same', () => {
    const pods = [namedPod('n1', 'a', { targetNode: null })];
    assert.deepEqual(effects({ nodes: noExecute, pods }), ['-a not-wanted']);
    assert.equal('node' in (plan({ nodes: noExecute, pods }).deletes[0] ?? {}), false);
  });
});

describe('a node that is as it should be', () => {
  it('needs nothing at all', () => {
    const seen = view({ nodes: one, pods: [pod('n1')] });
    assert.deepEqual(decide(seen).nodes, [{ nodeView: seen.nodes[0], deletes: [] }]);
  });
});

describe('failed pods and back-off (spec 2.7, faults 44–46)', () => {
  const failed = { nodes: one, pods: [failedPod('n1', { reason: 'OutOfcpu' })] };
  const entry = (options: Partial<BackoffEntry> = {}): BackoffEntry => ({
    node: nodeName('n1'),
    generation: 0,
    delayMs: 2000,
    advancedAtMs: NOW_MS - 1000,
    ...options,
  });

  it('the first failure starts at a second, with the event of spec 2.8', () => {
    const first = plan(failed);
    assert.deepEqual(first.backoff, [entry({ delayMs: 1000, advancedAtMs: NOW_MS })]);
    assert.deepEqual(first.events, [
      {
        type: 'Warning',
        reason: 'FailedDaemonPod',
        message: `Found failed daemon pod ns/${slot('n1')} on node n1, will try to kill it`,
      },
    ]);
    assert.equal(first.dueAtMs, NOW_MS + 1000);
  });

  it('inside the back-off it is left alone, and looked at when that ends', () => {
    const waiting = plan(failed, { state: state({ backoff: [entry()] }) });
    assert.deepEqual(waiting.deletes, []);
    assert.deepEqual(waiting.events, []);
    assert.deepEqual(waiting.backoff, [entry()]);
    assert.equal(waiting.dueAtMs, NOW_MS + 1000);
    assert.equal(waiting.verdicts()[0]?.code, 'FailedBackoff');
  });

  it('after it the delay doubles', () => {
    const over = plan(failed, {
      state: state({ backoff: [entry({ advancedAtMs: NOW_MS - 2000 })] }),
    });
    assert.deepEqual(over.backoff, [entry({ delayMs: 4000, advancedAtMs: NOW_MS })]);
    assert.equal(over.deletes.length, 1);
  });

  it('a new generation starts afresh', () => {
    const set = daemonSet({ status: { observedGeneration: 3 } });
    const fresh = plan({ ...failed, daemonSet: set }, { state: state({ backoff: [entry()] }) });
    assert.deepEqual(fresh.backoff, [
      entry({ generation: 3, delayMs: 1000, advancedAtMs: NOW_MS }),
    ]);
  });

  it('of two failed pods of a node one goes, the other waits', () => {
    const two = {
      nodes: one,
      pods: [failedPod('n1', { name: 'a' }), failedPod('n1', { name: 'b' })],
    };
    assert.deepEqual(effects(two), ['-a failed']);
  });

  it('does not make a running pod wait', () => {
    const running = plan(
      { nodes: one, pods: [pod('n1')] },
      { state: state({ backoff: [entry()] }) },
    );
    assert.equal(running.verdicts()[0]?.code, 'Running');
  });

  it('delays its own node only (kruise #744)', () => {
    const options = { nodes: [node('n1'), node('n2')], pods: failed.pods };
    const by = { state: state({ backoff: [entry()] }) };
    assert.deepEqual(effects(options, by), [`+${slot('n2')}`]);
  });

  it('a succeeded pod goes at once, with its event and without back-off', () => {
    // Nor does it wait for the end of a back-off that a failed pod began.
    for (const backoff of [[], [entry()]]) {
      const succeeded = { nodes: one, pods: [pod('n1', { phase: 'Succeeded', isReady: false })] };
      const done = plan(succeeded, { state: state({ backoff }) });
      assert.equal(done.deletes[0]?.reason, 'succeeded');
      assert.equal(done.events[0]?.reason, 'SucceededDaemonPod');
      assert.deepEqual(done.backoff, backoff);
    }
  });
});

describe('with surge (spec 2.7)', () => {
  const set = daemonSet({ spec: { ...surging(), minReadySeconds: 30 } });
  const fresh = { labels: { app: 'agent', 'controller-revision-hash': CURRENT_HASH } };
  const current = namedPod('n1', 'current', { createdAtMs: 9, ...fresh });
  const previous = namedPod('n1', 'previous', { createdAtMs: 1, labels: old });
  const name = slot('n1', CURRENT_HASH);
  const after = (pred: string): string =>
    successorName({
      daemonSetName: 'agent',
      predecessorUid: uid(`pod-${pred}`),
      revision: CURRENT_HASH,
    });
  const rows: readonly [string, ViewOptions, readonly string[]][] = [
    ['no pod: create under the slot of the revision (S2)', { nodes: one }, [`+${name}`]],
    [
      '(a) a terminating pod does not block its replacement',
      { nodes: one, pods: [namedPod('n1', 'x', leaving)] },
      [`+${after('x')}`],
    ],
    [
      'not on a node that may only keep',
      { nodes: noSchedule, pods: [namedPod('n1', 'x', leaving)] },
      [],
    ],
    ['one running: nothing', { nodes: one, pods: [current] }, []],
    [
      'old and new, new available: the old goes',
      { nodes: one, pods: [previous, current] },
      ['-previous replaced'],
    ],
    [
      'old and new, new ready but not available: both stay',
      { nodes: one, pods: [previous, { ...current, readyChangedAtMs: NOW_MS - 29_000 }] },
      [],
    ],
    [
      'old ready, but not available: it stays while the new one is not available',
      {
        nodes: one,
        pods: [previous, current].map((each) => ({ ...each, readyChangedAtMs: NOW_MS })),
      },
      [],
    ],
    [
      'old not ready: it goes whatever the new one is',
      {
        nodes: one,
        pods: [
          { ...previous, isReady: false },
          { ...current, isReady: false },
        ],
      },
      ['-previous replaced'],
    ],
    [
      'of each kind the first in sort order stays',
      {
        nodes: one,
        pods: [
          { ...current, readyChangedAtMs: NOW_MS },
          namedPod('n1', 'current2', { createdAtMs: 10, ...fresh }),
          previous,
          namedPod('n1', 'previous2', { createdAtMs: 2, labels: old }),
        ],
      },
      ['-previous2 duplicate', '-current2 duplicate'],
    ],
    [
      'two of one kind: the later goes',
      {
        nodes: one,
        pods: [previous, namedPod('n1', 'previous2', { createdAtMs: 2, labels: old })],
      },
      ['-previous2 duplicate'],
    ],
    [
      '(e) current is told by the hash label only, not by template generation',
      {
        nodes: one,
        pods: [
          previous,
          namedPod('n1', 'b', {
            createdAtMs: 2,
            labels: { app: 'agent', 'pod-template-generation': '1' },
          }),
        ],
      },
      ['-b duplicate'],
    ],
  ];
  for (const [title, options, expected] of rows) {
    it(title, () => assert.deepEqual(effects({ daemonSet: set, ...options }), expected));
  }

  it('(2.7) the old pod goes for the new one by itself, whatever a rolling update would say', () => {
    const seen = view({ daemonSet: set, nodes: one, pods: [previous, current] });
    const victims = (intents: readonly Intent[]): readonly string[] =>
      decide(seen, { state: state({ intents }) }).nodes.flatMap(({ deletes }) =>
        deletes.map(({ planned }) => `${planned.name} ${planned.reason}`),
      );
    assert.deepEqual(victims([]), ['previous replaced']);
    // S3: the new one may still go by an unanswered delete, so it replaces nobody.
    assert.deepEqual(victims([deleteIntent(current)]), []);
  });

  it('strict: only failed pods in back-off do not hold back the next one (#124388)', () => {
    const strict = daemonSet({
      spec: surging(),
      metadata: { annotations: { 'rollcall.dev/compat': 'strict' } },
    });
    const backoff = [{ node: nodeName('n1'), generation: 0, delayMs: 9000, advancedAtMs: NOW_MS }];
    const by = { state: state({ backoff }) };
    const failed = failedPod('n1', { name: 'f' });
    const terminating = namedPod('n1', 'x', leaving);
    const at = (...pods: readonly ReturnType<typeof pod>[]): readonly string[] =>
      effects({ daemonSet: strict, nodes: one, pods }, by);
    assert.deepEqual(at(failed), [`+${after('f')}`]);
    assert.deepEqual(at(failed, terminating), [`+${after('f')}`], 'of one second, by UID');
    assert.deepEqual(at({ ...failed, phase: 'Succeeded' }), ['-f succeeded']);
    assert.deepEqual(at({ ...failed, phase: 'Succeeded' }, terminating), ['-f succeeded']);
  });

  it('prunes nothing while the current revision is not known', () => {
    const options = { daemonSet: set, nodes: one, pods: [previous, current] };
    assert.deepEqual(effects(options, { currentHash: undefined }), []);
    assert.deepEqual(effects({ daemonSet: set, nodes: one }, { currentHash: undefined }), [
      `+${slot('n1')}`,
    ]);
  });

  it('(c) differs from upstream: a failed pod in back-off holds back the next one (#124388)', () => {
    const backoff = [{ node: nodeName('n1'), generation: 0, delayMs: 9000, advancedAtMs: NOW_MS }];
    const options = { daemonSet: set, nodes: one, pods: [failedPod('n1', { name })] };
    assert.deepEqual(effects(options, { state: state({ backoff }) }), []);
    assert.deepEqual(effects(options), [`-${name} failed`]);
  });
});

describe('strays (spec 2.7, last paragraph)', () => {
  const rows: readonly [string, ViewOptions, readonly string[]][] = [
    [
      'an unbound pod whose node is gone is deleted',
      { pods: [namedPod('gone', 'x', { boundNode: null, isReady: false })] },
      ['-x node-gone'],
    ],
    ['a bound one is left to pod garbage collection', { pods: [namedPod('gone', 'x')] }, []],
    [
      'a terminating one is left alone',
      { pods: [namedPod('gone', 'x', { boundNode: null, ...leaving })] },
      [],
    ],
    [
      'one without a target is ignored',
      { pods: [namedPod('n1', 'x', { boundNode: null, targetNode: null })] },
      [],
    ],
  ];
  for (const [title, options, expected] of rows) {
    it(title, () => assert.deepEqual(effects(options), expected));
  }
});

describe('open delete intents (protocol 4, faults 78)', () => {
  const a = namedPod('n1', 'a', { createdAtMs: 1 });
  const b = namedPod('n1', 'b', { createdAtMs: 2 });
  const open = (...intents: readonly ReturnType<typeof deleteIntent>[]): Partial<PlanContext> => ({
    state: state({ intents }),
  });

  it('are repeated under the version they were recorded with, if still wanted', () => {
    const intent = deleteIntent(a, { resourceVersion: resourceVersion('65') });
    const [planned] = plan({ nodes: noExecute, pods: [a] }, open(intent)).deletes;
    assert.equal(planned?.reason, 'repeat');
    assert.equal(planned?.repeats, 'not-wanted');
    assert.equal(planned?.resourceVersion, '65');
  });

  it('are not repeated where the pod is wanted again', () => {
    assert.deepEqual(effects({ nodes: one, pods: [a] }, open(deleteIntent(a))), []);
  });

  it('count their pod as unavailable: the other duplicate stays', () => {
    assert.deepEqual(effects({ nodes: one, pods: [a, b] }, open(deleteIntent(a))), ['-a repeat']);
  });

  it('repeat failed and succeeded pods without a second event or a longer back-off', () => {
    const failed = failedPod('n1');
    const backoff = [{ node: nodeName('n1'), generation: 0, delayMs: 9000, advancedAtMs: NOW_MS }];
    const by = { state: state({ intents: [deleteIntent(failed)], backoff }) };
    const repeated = plan({ nodes: one, pods: [failed] }, by);
    assert.equal(repeated.deletes[0]?.repeats, 'failed');
    assert.deepEqual(repeated.events, []);
    assert.deepEqual(repeated.backoff, backoff);
    const done = pod('n1', { phase: 'Succeeded' });
    const again = plan({ nodes: one, pods: [done] }, open(deleteIntent(done)));
    assert.equal(again.deletes[0]?.repeats, 'succeeded');
    assert.deepEqual(again.events, []);
  });

  it('that were accepted make their pod as good as terminating', () => {
    const accepted = open(deleteIntent(a, { isAccepted: true }));
    assert.deepEqual(effects({ nodes: noExecute, pods: [a] }, accepted), []);
    assert.deepEqual(effects({ nodes: one, pods: [a] }, accepted), []);
    const failed = failedPod('n1');
    const gone = open(deleteIntent(failed, { isAccepted: true }));
    assert.deepEqual(effects({ nodes: one, pods: [failed] }, gone), []);
    const stray = namedPod('gone', 'x', { boundNode: null });
    assert.deepEqual(
      effects({ pods: [stray] }, open(deleteIntent(stray, { isAccepted: true }))),
      [],
    );
  });
});

describe('a lost state (protocol 6)', () => {
  const young = { state: state({ version: 0, createdAtMs: NOW_MS - 5000 }) };
  it('forbids deletes of available pods until no forgotten request is alive, and looks again then', () => {
    const options = { nodes: noExecute, pods: [pod('n1')] };
    const withheld = plan(options, young);
    assert.deepEqual(withheld.deletes, []);
    assert.equal(withheld.dueAtMs, NOW_MS - 5000 + LIFE_MS);
    assert.equal(withheld.verdicts()[0]?.code, 'WaitingForCluster');
    assert.equal(withheld.verdicts()[0]?.untilMs, NOW_MS - 5000 + LIFE_MS);
    const later = { state: state({ createdAtMs: NOW_MS - LIFE_MS }) };
    assert.equal(plan(options, later).deletes.length, 1);
  });
  it('forbids no deletes of unavailable pods', () => {
    const unready = namedPod('n1', 'a', { isReady: false });
    assert.deepEqual(effects({ nodes: noExecute, pods: [unready] }, young), ['-a not-wanted']);
  });
  it('forbids creates: a successor may be on its way whose predecessor is gone (rows 34, 86)', () => {
    const options = { nodes: [node('n2')], pods: [pod('gone')] };
    assert.deepEqual(effects(options, young), [`+${slot('n2')}`], 'it was never acted on');
    const actedOn = { ...options, daemonSet: daemonSet({ status: { observedGeneration: 1 } }) };
    const waiting = plan(actedOn, young);
    assert.deepEqual(waiting.creates, []);
    assert.equal(waiting.dueAtMs, NOW_MS - 5000 + LIFE_MS);
    const verdict = waiting.verdicts().find(({ node: on }) => on === 'n2');
    assert.equal(verdict?.code, 'WaitingForCluster');
    assert.match(
      verdict.message,
      /waits: earlier requests may have been forgotten; its pod is created once they are certainly dead\.$/,
    );
    const later = { state: state({ createdAtMs: NOW_MS - LIFE_MS }) };
    assert.deepEqual(effects(actedOn, later), [`+${slot('n2')}`]);
  });
  it('does not concern a DaemonSet without pods', () => {
    assert.equal(plan({ nodes: one }, young).dueAtMs, undefined);
  });
});
