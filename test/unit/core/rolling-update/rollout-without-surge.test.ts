/** A rolling update without surge: each row of the first table of spec 2.9, then the budget walk. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plan, PlanContext } from '../../../../src/core/model/plan.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import type { RefusalEntry } from '../../../../src/core/model/state.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import type { Site } from '../../../../src/core/rolling-update/rollout-states.ts';
import { stepWithoutSurge } from '../../../../src/core/rolling-update/rollout-without-surge.ts';
import {
  NOW_MS,
  answerOf,
  context,
  createIntent,
  daemonSet,
  deleteIntent,
  failedPod,
  namedPod,
  node,
  pod,
  state,
  view,
} from '../../../support/core-fixtures.ts';
import type { PodOptions, ViewOptions } from '../../../support/core-fixtures.ts';

const OLD = { app: 'agent', 'controller-revision-hash': 'old' };
const noSchedule = { taints: [{ key: 'k', effect: 'NoSchedule' as const }] };
const noExecute = { taints: [{ key: 'k', effect: 'NoExecute' as const }] };

/** An available pod of an older revision, named after its node. */
function old(onNode: string, options: PodOptions = {}): PodProjection {
  return namedPod(onNode, `old-${onNode}`, { labels: OLD, ...options });
}

function set(maxUnavailable: number | string): ViewOptions['daemonSet'] & object {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge: 0 } };
  return daemonSet({ spec: { updateStrategy, minReadySeconds: 10 } });
}

function plan(options: ViewOptions, by: Partial<PlanContext> = {}): Plan {
  return planReconcile(view(options), context(by));
}

const victims = (made: Plan): readonly string[] => made.deletes.map(({ name }) => name);

/**
 * Puts a node n1 beside candidates z1 and z2 under maxUnavailable 2: what goes on n1, and how many of
 * the candidates go. Both go exactly if n1 does not count as unavailable.
 */
function besideTwo(
  pods: readonly PodProjection[],
  options: { readonly node?: Parameters<typeof node>[1]; readonly by?: Partial<PlanContext> } = {},
): { readonly gone: readonly string[]; readonly others: number; readonly counted: number } {
  const made = plan(
    {
      daemonSet: set(2),
      nodes: [node('n1', options.node), node('z1'), node('z2')],
      pods: [...pods, old('z1'), old('z2')],
    },
    options.by,
  );
  const isOther = (name: string): boolean => /^old-z/.test(name);
  return {
    gone: made.deletes
      .filter(({ name }) => !isOther(name))
      .map(({ name, reason, isAvailable }) => `${name} ${reason} ${String(isAvailable)}`),
    others: victims(made).filter(isOther).length,
    counted: made.rollout?.unavailableNodes ?? -1,
  };
}

describe('the table without surge (spec 2.9)', () => {
  const updated = pod('n1');
  const young = { readyChangedAtMs: NOW_MS - 9999 };
  const rows: readonly [string, Parameters<typeof besideTwo>, ReturnType<typeof besideTwo>][] = [
    [
      'not ok (two new): unavailable; the rest of the run prunes it',
      [[updated, namedPod('n1', 'x', { createdAtMs: NOW_MS })]],
      { gone: ['x duplicate true'], others: 1, counted: 1 },
    ],
    [
      'not ok (two old): unavailable; the rest of the run prunes it',
      [[old('n1'), old('n1', { name: 'x', createdAtMs: NOW_MS })]],
      { gone: ['x duplicate true'], others: 1, counted: 1 },
    ],
    ['neither, no pod at all: unavailable', [[]], { gone: [], others: 1, counted: 1 }],
    [
      'neither, only a terminating pod: unavailable',
      [[old('n1', { isTerminating: true })]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'both old and new: unavailable',
      [[old('n1'), { ...updated, createdAtMs: NOW_MS }]],
      { gone: [`${updated.name} duplicate true`], others: 1, counted: 1 },
    ],
    ['only new, available: nothing', [[updated]], { gone: [], others: 2, counted: 0 }],
    [
      'only new, not ready: unavailable',
      [[{ ...updated, isReady: false }]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'only new, ready for less than minReadySeconds: unavailable',
      [[{ ...updated, ...young }]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'a template generation that the DaemonSet does not have: as old',
      [[old('n1', { labels: { app: 'agent', 'pod-template-generation': '4' } })]],
      { gone: ['old-n1 outdated true'], others: 1, counted: 0 },
    ],
    [
      'only old, not ready: it goes, and counts (#123232)',
      [[old('n1', { isReady: false })]],
      { gone: ['old-n1 outdated false'], others: 1, counted: 1 },
    ],
    [
      'only old, ready for less than minReadySeconds: it goes, and counts (kruise #1323)',
      [[old('n1', young)]],
      { gone: ['old-n1 outdated false'], others: 1, counted: 1 },
    ],
    [
      'only old, available: a candidate',
      [[old('n1', { createdAtMs: 1 })]],
      { gone: ['old-n1 outdated true'], others: 1, counted: 0 },
    ],
    [
      'no pod on a node that should not run one: not in the map',
      [[], { node: noSchedule }],
      { gone: [], others: 2, counted: 0 },
    ],
    [
      'only old on a node that may only keep it: a candidate like any other',
      [[old('n1', { createdAtMs: 1 })], { node: noSchedule }],
      { gone: ['old-n1 outdated true'], others: 1, counted: 0 },
    ],
    [
      'a pod that leaves a node that must not run it: unavailable',
      [[old('n1')], { node: noExecute }],
      { gone: ['old-n1 not-wanted true'], others: 1, counted: 1 },
    ],
    [
      'a pod that is leaving such a node: unavailable',
      [[old('n1', { isTerminating: true })], { node: noExecute }],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'an old pod on a vanished node: a candidate, as upstream',
      [[old('gone', { createdAtMs: 1 }), updated]],
      { gone: ['old-gone outdated true'], others: 1, counted: 0 },
    ],
    [
      'two old pods on a vanished node: not ok, and nobody prunes them: unavailable',
      [[old('gone'), old('gone', { name: 'x' }), updated]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'an orphan on a vanished node that is being adopted: left alone in this run',
      [[old('gone', { ownerUid: null, createdAtMs: 1 }), updated]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'an old pod beside an unbound one that goes, on a vanished node: left alone in this run',
      [[old('gone', { createdAtMs: 1 }), old('gone', { name: 'x', boundNode: null }), updated]],
      { gone: ['x node-gone true'], others: 1, counted: 1 },
    ],
    [
      'two new pods on a vanished node: not ok: unavailable',
      [[pod('gone'), pod('gone', { name: 'x' }), updated]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'a terminating pod on a vanished node: unavailable, as upstream',
      [[old('gone', { isTerminating: true }), updated]],
      { gone: [], others: 1, counted: 1 },
    ],
    [
      'a finished pod of a vanished node that a finalizer holds: not in the map',
      [[failedPod('gone', { isTerminating: true }), updated]],
      { gone: [], others: 2, counted: 0 },
    ],
    [
      'an unbound pod of a vanished node goes anyway: unavailable',
      [[old('gone', { boundNode: null, isReady: false }), updated]],
      { gone: ['old-gone node-gone false'], others: 1, counted: 1 },
    ],
    [
      'a failed pod, which the rest of the run deletes: unavailable',
      [[failedPod('n1', { labels: OLD })]],
      { gone: [`${updated.name} failed false`], others: 1, counted: 1 },
    ],
    [
      'an orphan that is being adopted: left alone in this run',
      [[old('n1', { ownerUid: null })]],
      { gone: [], others: 1, counted: 1 },
    ],
  ];
  for (const [title, [pods, options], expected] of rows) {
    it(title, () => assert.deepEqual(besideTwo(pods, options), expected));
  }

  it('a pod of the current template generation is updated, whatever its hash (spec 2.9)', () => {
    const annotations = { 'deprecated.daemonset.template.generation': '4' };
    const labels = { app: 'agent', 'pod-template-generation': '4' };
    const pods = [old('n1', { labels })];
    const options = { daemonSet: daemonSet({ metadata: { annotations } }), nodes: [node('n1')] };
    assert.deepEqual(victims(plan({ ...options, pods })), []);
    assert.deepEqual(victims(plan({ ...options, pods: [old('n1')] })), ['old-n1']);
  });

  it('a failed pod inside its back-off is left alone, and counts', () => {
    const backoff = [{ node: node('n1').name, generation: 0, delayMs: 9000, advancedAtMs: NOW_MS }];
    const made = besideTwo([failedPod('n1', { labels: OLD })], {
      by: { state: state({ backoff }) },
    });
    assert.deepEqual(made, { gone: [], others: 1, counted: 1 });
  });
});

describe('rows that the rest of the run leaves nothing of (spec 2.9)', () => {
  const each = { pod: pod('n1'), isAvailable: true, isDoomed: false };
  const site = (state: Site['state']): Site => ({
    node: node('n1').name,
    placement: 'run',
    state,
    isTouched: false,
    hasOpenCreate: false,
  });
  it('not ok: unavailable', () => {
    assert.equal(stepWithoutSurge(site({ kind: 'crowded' })), 'unavailable');
  });
  it('both old and new, whatever they are: unavailable', () => {
    const both = site({ kind: 'both', old: each, new: each });
    assert.equal(stepWithoutSurge(both), 'unavailable');
  });
});

describe('the budget without surge (spec 2.9, S3)', () => {
  const names = ['n1', 'n2', 'n3', 'n4', 'n5'];
  const nodes = names.map((name) => node(name));

  it('lets exactly maxUnavailable of the available pods go', () => {
    for (const max of [1, 2, 4, 5, 9]) {
      const made = plan({ daemonSet: set(max), nodes, pods: names.map((name) => old(name)) });
      assert.equal(made.deletes.length, Math.min(max, 5), `maxUnavailable ${max}`);
      assert.equal(made.creates.length, 0);
    }
  });

  it('lets none go once the budget is used up, and never counts below zero', () => {
    const broken = names.slice(0, 3).map((name) => pod(name, { isReady: false }));
    const made = plan({ daemonSet: set(2), nodes, pods: [...broken, old('n4'), old('n5')] });
    assert.deepEqual(victims(made), []);
    assert.equal(made.rollout?.unavailableNodes, 3);
    assert.equal(made.rollout.waitingNodes, 2);
  });

  it('lets all unavailable old pods go beyond the budget, and no other (#63465, #127903)', () => {
    const broken = names.slice(1, 4).map((name) => old(name, { isReady: false }));
    const made = plan({ daemonSet: set(1), nodes, pods: [...broken, old('n1'), old('n5')] });
    assert.deepEqual(victims(made), ['old-n2', 'old-n3', 'old-n4']);
  });

  it('upstream never tests: stuck-terminating node consuming maxUnavailable', () => {
    const stuck = old('n1', { isTerminating: true });
    const pods = [stuck, ...names.slice(1).map((name) => old(name))];
    const frozen = plan({ daemonSet: set(1), nodes, pods });
    assert.deepEqual(victims(frozen), []);
    assert.equal(frozen.rollout?.unavailableNodes, 1);
    assert.equal(frozen.verdicts()[0]?.code, 'WaitingForTermination');
    assert.equal(frozen.verdicts()[1]?.code, 'WaitingForRollout');
    assert.equal(victims(plan({ daemonSet: set(2), nodes, pods })).length, 1);
  });

  it('takes the longest not updated first, then by name; unavailable ones before all (issue 5)', () => {
    const pods = [
      old('n1', { createdAtMs: 30 }),
      old('n2', { createdAtMs: 10 }),
      old('n3', { createdAtMs: 20 }),
      old('n4', { createdAtMs: 10 }),
      old('n5', { createdAtMs: 99, isReady: false }),
    ];
    const order = ['old-n5', 'old-n2', 'old-n4', 'old-n3', 'old-n1'];
    for (const max of [1, 2, 3, 4, 5]) {
      const made = plan({ daemonSet: set(max), nodes, pods: pods.toReversed() });
      assert.deepEqual(victims(made), order.slice(0, max), `maxUnavailable ${max}`);
    }
  });
});

describe('a pod whose delete was refused lately', () => {
  const nodes = ['n1', 'n2'].map((name) => node(name));
  const first = old('n1', { createdAtMs: 1 });
  const refusal = (options: Partial<RefusalEntry> = {}): Partial<PlanContext> => {
    const entry = { node: node('n1').name, generation: 1, code: 'admission', message: 'no' };
    const times = { delayMs: 5000, notBeforeMs: NOW_MS + 5000 };
    return { state: state({ refusals: [{ ...entry, victim: first.uid, ...times, ...options }] }) };
  };
  const go = (by: Partial<PlanContext>, pods = [first, old('n2')]): Plan =>
    plan({ daemonSet: set(1), nodes, pods }, by);

  it('lets others go first, says so, and is looked at when its time has come', () => {
    const made = go(refusal());
    assert.deepEqual(victims(made), ['old-n2']);
    assert.equal(made.dueAtMs, NOW_MS + 5000);
    assert.equal(made.rollout?.waitingNodes, 1);
    const [verdict] = made.verdicts();
    assert.equal(verdict?.code, 'Refused');
    assert.equal(verdict.untilMs, NOW_MS + 5000);
    assert.match(verdict.message, /pod old-n1 .* its delete was refused \(admission: no\)/);
  });

  it('goes all the same once it is unavailable', () => {
    assert.deepEqual(victims(go(refusal(), [{ ...first, isReady: false }, old('n2')])), ['old-n1']);
  });
});

describe('what this run does elsewhere is in the budget (S3)', () => {
  const nodes = ['n1', 'n2', 'n3'].map((name) => node(name));
  it('a node that gets its pod, one whose duplicate goes, one whose failed pod goes', () => {
    const rows: readonly (readonly PodProjection[])[] = [
      [],
      [pod('n1'), namedPod('n1', 'x', { createdAtMs: NOW_MS })],
      [failedPod('n1')],
    ];
    for (const pods of rows) {
      const made = plan({ daemonSet: set(1), nodes, pods: [...pods, old('n2'), old('n3')] });
      assert.ok(victims(made).every((name) => !name.startsWith('old-')));
      const more = plan({ daemonSet: set(2), nodes, pods: [...pods, old('n2'), old('n3')] });
      assert.equal(victims(more).filter((name) => name.startsWith('old-')).length, 1);
    }
  });
});

describe('open intents and the budget (protocol 4)', () => {
  const nodes = ['n1', 'n2', 'n3'].map((name) => node(name));
  const [one, two, three] = [
    old('n1', { createdAtMs: 1 }),
    old('n2', { createdAtMs: 2 }),
    old('n3', { createdAtMs: 3 }),
  ];
  const open = (...intents: readonly ReturnType<typeof deleteIntent>[]): Partial<PlanContext> => ({
    state: state({ intents }),
  });
  const effects = (made: Plan): readonly string[] =>
    made.deletes.map(({ name, reason, repeats }) => `${name} ${reason} ${repeats ?? '-'}`);

  it('an unanswered delete counts, and is repeated before anything new', () => {
    const pods = [one, two, three];
    const made = plan({ daemonSet: set(1), nodes, pods }, open(deleteIntent(three)));
    assert.deepEqual(effects(made), ['old-n3 repeat outdated']);
    assert.equal(made.rollout?.unavailableNodes, 1);
    assert.equal(made.rollout.waitingNodes, 2, 'the repeated one does not wait');
    assert.equal(made.verdicts()[2]?.code, 'Updating');
    const more = plan({ daemonSet: set(2), nodes, pods }, open(deleteIntent(three)));
    assert.deepEqual(effects(more), ['old-n3 repeat outdated', 'old-n1 outdated -']);
  });

  it('one that the budget does not want any more is not repeated, and counts', () => {
    const pods = [one, two, pod('n3', { isReady: false })];
    const made = plan({ daemonSet: set(1), nodes, pods }, open(deleteIntent(one)));
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.unavailableNodes, 2);
  });

  it('one against a pod that is current again (a rollback) is not repeated, and counts', () => {
    const current = pod('n1');
    const pods = [current, two, three];
    const made = plan({ daemonSet: set(1), nodes, pods }, open(deleteIntent(current)));
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.unavailableNodes, 1);
  });

  it('one against an unavailable old pod is repeated whatever the budget', () => {
    const broken = { ...one, isReady: false };
    const pods = [broken, two, pod('n3', { isReady: false })];
    const made = plan({ daemonSet: set(1), nodes, pods }, open(deleteIntent(broken)));
    assert.deepEqual(effects(made), ['old-n1 repeat outdated']);
    assert.equal(made.rollout?.unavailableNodes, 2);
  });

  it('an accepted delete makes its pod as good as terminating', () => {
    const by = open(deleteIntent(one, { isAccepted: true }));
    const made = plan({ daemonSet: set(1), nodes, pods: [one, two, three] }, by);
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.unavailableNodes, 1);
  });

  it('an old pod beside a create that may still arrive stays, and counts', () => {
    const onItsWay = createIntent('n1', { name: 'agent-successor' });
    const intents = [
      onItsWay,
      { ...onItsWay, answer: answerOf('agent-successor', '900') },
    ] as const;
    for (const intent of intents) {
      const by = { state: state({ intents: [intent] }) };
      const made = plan({ daemonSet: set(1), nodes, pods: [one, two, three] }, by);
      assert.deepEqual(effects(made), []);
      assert.equal(made.rollout?.unavailableNodes, 1);
    }
  });

  it('a create under the name that the old pod has adds nothing any more', () => {
    const by = { state: state({ intents: [createIntent('n1', { name: one.name })] }) };
    const made = plan({ daemonSet: set(1), nodes, pods: [one, two, three] }, by);
    assert.deepEqual(effects(made), ['old-n1 outdated -']);
  });
});
