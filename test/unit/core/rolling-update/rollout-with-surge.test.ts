/** A rolling update with surge: each row of the second table of spec 2.9, then the budget walk. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Plan, PlanContext } from '../../../../src/core/model/plan.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import type { BackoffEntry } from '../../../../src/core/model/state.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import {
  stepWithSurge,
  walkWithSurge,
} from '../../../../src/core/rolling-update/rollout-with-surge.ts';
import type { RolloutPod, Site } from '../../../../src/core/rolling-update/rollout-states.ts';
import {
  CURRENT_HASH,
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
  slot,
  state,
  view,
} from '../../../support/core-fixtures.ts';
import type { PodOptions, ViewOptions } from '../../../support/core-fixtures.ts';

const OLD = { app: 'agent', 'controller-revision-hash': 'old' };
const noSchedule = { taints: [{ key: 'k', effect: 'NoSchedule' as const }] };
const noExecute = { taints: [{ key: 'k', effect: 'NoExecute' as const }] };
const strict = { annotations: { 'rollcall.dev/compat': 'strict' } };

/** An available pod of an older revision, named after its node. */
function old(onNode: string, options: PodOptions = {}): PodProjection {
  return namedPod(onNode, `old-${onNode}`, { labels: OLD, createdAtMs: 50, ...options });
}

/** An available pod of the current revision under its slot name with surge. */
function fresh(onNode: string, options: PodOptions = {}): PodProjection {
  return pod(onNode, { name: slot(onNode, CURRENT_HASH), createdAtMs: 90, ...options });
}

function set(maxSurge: number | string, metadata = {}): DaemonSetObject {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable: 0 } };
  return daemonSet({ spec: { updateStrategy, minReadySeconds: 10 }, metadata });
}

function plan(options: ViewOptions, by: Partial<PlanContext> = {}): Plan {
  return planReconcile(view(options), context(by));
}

/** Effects in short: `+node` for a create, `-pod reason` for a delete. */
function effects({ creates, deletes }: Plan): readonly string[] {
  return [
    ...creates.map((create) => `+${create.node}`),
    ...deletes.map(({ name, reason }) => `-${name} ${reason}`),
  ];
}

/**
 * Puts a node n1 beside candidates z1 and z2 under maxSurge 2: what happens at n1, and how many of the
 * candidates surge. Both do exactly if n1 does not count as surging.
 */
function besideTwo(
  pods: readonly PodProjection[],
  options: {
    readonly node?: Parameters<typeof node>[1];
    readonly by?: Partial<PlanContext>;
    readonly metadata?: object;
  } = {},
): { readonly made: readonly string[]; readonly others: number; readonly counted: number } {
  const planned = plan(
    {
      daemonSet: set(2, options.metadata),
      nodes: [node('n1', options.node), node('z1'), node('z2')],
      pods: [...pods, old('z1'), old('z2')],
    },
    options.by,
  );
  const all = effects(planned);
  return {
    made: all.filter((each) => !/^.z/.test(each)),
    others: all.filter((each) => /^\+z/.test(each)).length,
    counted: planned.rollout?.surgingNodes ?? -1,
  };
}

describe('the table with surge (spec 2.9)', () => {
  const young = { readyChangedAtMs: NOW_MS - 9999 };
  const rows: readonly [string, Parameters<typeof besideTwo>, ReturnType<typeof besideTwo>][] = [
    [
      'not ok (two old): surging; the rest of the run prunes it',
      [[old('n1'), old('n1', { name: 'x', createdAtMs: NOW_MS })]],
      { made: ['-x duplicate'], others: 2, counted: 0 },
    ],
    [
      'no pod at all: nothing; the rest of the run makes one',
      [[]],
      { made: ['+n1'], others: 2, counted: 0 },
    ],
    [
      'only a terminating pod: nothing; the rest of the run makes one',
      [[old('n1', { isTerminating: true })]],
      { made: ['+n1'], others: 2, counted: 0 },
    ],
    ['only new, available: nothing', [[fresh('n1')]], { made: [], others: 2, counted: 0 }],
    [
      'only new, not available: nothing',
      [[fresh('n1', { isReady: false })]],
      { made: [], others: 2, counted: 0 },
    ],
    [
      'only old, not ready: a new pod regardless of maxSurge',
      [[old('n1', { isReady: false })]],
      { made: ['+n1'], others: 2, counted: 0 },
    ],
    [
      'only old, ready for less than minReadySeconds: a new pod regardless of maxSurge',
      [[old('n1', young)]],
      { made: ['+n1'], others: 2, counted: 0 },
    ],
    [
      'only old, not available, on a node that should not run one: it goes',
      [[old('n1', { isReady: false })], { node: noSchedule }],
      { made: ['-old-n1 vacated'], others: 2, counted: 0 },
    ],
    [
      'only old, available, on a node that should not run one: it waits to be vacated',
      [[old('n1')], { node: noSchedule }],
      { made: ['-old-n1 vacated'], others: 2, counted: 0 },
    ],
    [
      'only old, available: a candidate',
      [[old('n1', { createdAtMs: 1 })]],
      { made: ['+n1'], others: 1, counted: 0 },
    ],
    [
      'both, new not ready: surging',
      [[old('n1'), fresh('n1', { isReady: false })]],
      { made: [], others: 1, counted: 1 },
    ],
    [
      'both, new ready for less than minReadySeconds: surging',
      [[old('n1'), fresh('n1', young)]],
      { made: [], others: 1, counted: 1 },
    ],
    [
      'both, new available: the old one goes, and makes room in the same run',
      [[old('n1'), fresh('n1')]],
      { made: ['-old-n1 replaced'], others: 2, counted: 0 },
    ],
    [
      'both, old not ready: it goes',
      [[old('n1', { isReady: false }), fresh('n1', { isReady: false })]],
      { made: ['-old-n1 replaced'], others: 2, counted: 0 },
    ],
    [
      'a pod on a node that must not run it: it goes, and counts nowhere',
      [[old('n1')], { node: noExecute }],
      { made: ['-old-n1 not-wanted'], others: 2, counted: 0 },
    ],
    [
      'an orphan that is being adopted: left alone in this run',
      [[old('n1', { ownerUid: null, createdAtMs: 1 })]],
      { made: [], others: 2, counted: 0 },
    ],
  ];
  for (const [title, [pods, options], expected] of rows) {
    it(title, () => assert.deepEqual(besideTwo(pods, options), expected));
  }
});

describe('rows that the rest of the run leaves nothing of (spec 2.9)', () => {
  const each = (isAvailable: boolean): RolloutPod => ({
    pod: fresh('n1'),
    isAvailable,
    isDoomed: false,
  });
  const site = (state: Site['state'], isTouched = false): Site => ({
    node: node('n1').name,
    placement: 'run',
    state,
    isTouched,
    hasOpenCreate: false,
  });
  it('not ok: surging', () => assert.equal(stepWithSurge(site({ kind: 'crowded' })), 'surging'));
  it('both, new available: the old one goes, unless this run sees to it already', () => {
    const both = { kind: 'both', old: each(true), new: each(true) } as const;
    assert.equal(stepWithSurge(site(both)), 'delete');
    assert.equal(stepWithSurge(site(both, true)), 'none');
    const waiting = { ...both, new: each(false) };
    assert.equal(stepWithSurge(site(waiting)), 'surging');
    assert.equal(stepWithSurge(site(waiting, true)), 'surging');
    const doomed = { ...both, new: { ...each(true), isDoomed: true } };
    assert.equal(stepWithSurge(site(doomed)), 'surging');
  });
  it('both count as one supplied node while either is available', () => {
    const leaving = { ...site({ kind: 'only-old', old: each(true) }), placement: 'keep' as const };
    const walk = (isOld: boolean, isNew: boolean): number => {
      const state = { kind: 'both', old: each(isOld), new: each(isNew) } as const;
      const rules = { maxSurge: 1, desiredNodes: 1, compat: 'mended' } as const;
      return walkWithSurge([site(state), leaving], rules).vacated.length;
    };
    assert.deepEqual([walk(true, true), walk(true, false), walk(false, true)], [1, 1, 1]);
    assert.equal(walk(false, false), 0);
  });
});

describe('the budget with surge (spec 2.9, S2)', () => {
  const names = ['n1', 'n2', 'n3', 'n4'];
  const nodes = names.map((name) => node(name));

  it('lets exactly maxSurge nodes have two pods, under the slot name of the revision', () => {
    for (const max of [1, 2, 4, 9]) {
      const made = plan({ daemonSet: set(max), nodes, pods: names.map((name) => old(name)) });
      assert.equal(made.creates.length, Math.min(max, 4), `maxSurge ${max}`);
      assert.equal(made.creates[0]?.name, slot('n1', CURRENT_HASH));
      assert.equal(made.deletes.length, 0);
    }
  });

  it('counts nodes that surge already, never below zero', () => {
    const pods = [
      ...[old('n1'), fresh('n1', { isReady: false })],
      ...[old('n2'), fresh('n2', { isReady: false })],
      ...[old('n3'), old('n4')],
    ];
    assert.deepEqual(effects(plan({ daemonSet: set(1), nodes, pods })), []);
    const made = plan({ daemonSet: set(3), nodes, pods });
    assert.deepEqual(effects(made), ['+n3']);
    assert.equal(made.rollout?.surgingNodes, 2);
    assert.equal(made.rollout.waitingNodes, 1);
  });

  it('takes the longest not updated first, then by name; unavailable ones before all (issue 5)', () => {
    const pods = [
      old('n1', { createdAtMs: 30 }),
      old('n2', { createdAtMs: 10 }),
      old('n3', { createdAtMs: 10 }),
      old('n4', { createdAtMs: 99, isReady: false }),
    ];
    const order = ['+n4', '+n2', '+n3', '+n1'];
    for (const max of [1, 2, 3]) {
      const made = plan({ daemonSet: set(max), nodes, pods: pods.toReversed() });
      assert.deepEqual(effects(made), order.slice(0, max + 1), `maxSurge ${max}`);
    }
  });

  it('a node whose pod was refused takes no part of the budget from the others', () => {
    const refusal = { node: node('n1').name, generation: 1, code: 'admission', message: 'no' };
    const refusals = [{ ...refusal, delayMs: 5000, notBeforeMs: NOW_MS + 5000 }];
    const pods = names.map((name) => old(name));
    const made = plan({ daemonSet: set(1), nodes, pods }, { state: state({ refusals }) });
    assert.deepEqual(effects(made), ['+n2']);
    assert.equal(made.verdicts()[0]?.code, 'Refused');
    assert.equal(made.dueAtMs, NOW_MS + 5000);
  });
});

describe('vacating nodes (spec 2.9)', () => {
  const leaving = [node('v1', noSchedule), node('v2', noSchedule)];
  const vacating = [old('v1', { createdAtMs: 2 }), old('v2', { createdAtMs: 1 })];
  const run = (pods: readonly PodProjection[], by: Partial<PlanContext> = {}): Plan => {
    const nodes = [node('n1'), node('n2'), ...leaving];
    return plan({ daemonSet: set(1), nodes, pods: [...pods, ...vacating] }, by);
  };
  const vacated = (made: Plan): readonly string[] =>
    made.deletes.filter(({ reason }) => reason === 'vacated').map(({ name }) => name);

  it('goes only as far as more pods are available than nodes are desired, oldest first', () => {
    const pending = { isReady: false } as const;
    assert.deepEqual(vacated(run([fresh('n1', pending), fresh('n2', pending)])), []);
    assert.deepEqual(vacated(run([fresh('n1'), fresh('n2', pending)])), ['old-v2']);
    assert.deepEqual(vacated(run([fresh('n1'), fresh('n2')])), ['old-v2', 'old-v1']);
  });

  it('counts a node once, by its old pod or else its new one', () => {
    const made = run([old('n1'), fresh('n1', { isReady: false }), fresh('n2', { isReady: false })]);
    assert.deepEqual(vacated(made), ['old-v2']);
    const both = run([old('n1'), fresh('n1'), fresh('n2', { isReady: false })]);
    assert.deepEqual(vacated(both), ['old-v2']);
  });

  it('counts no node whose only pod is terminating', () => {
    const pods = [fresh('n1', { isTerminating: true }), old('v1')];
    const made = plan({ daemonSet: set(1), nodes: [node('n1'), node('v1', noSchedule)], pods });
    assert.deepEqual(made.deletes, []);
    assert.equal(made.rollout?.waitingNodes, 1);
    const walk = walkWithSurge([], { maxSurge: 1, desiredNodes: 0, compat: 'mended' });
    assert.equal('stray' in walk, false);
  });

  it('says what the others wait for', () => {
    const made = run([fresh('n1'), fresh('n2', { isReady: false })]);
    assert.equal(made.rollout?.waitingNodes, 1);
    const [waiting, going] = made.verdicts().slice(2);
    assert.equal(waiting?.code, 'WaitingForRollout');
    assert.match(
      waiting.message,
      /pod old-v1 .* goes when enough pods of other nodes are available/,
    );
    assert.equal(going?.code, 'Updating');
    assert.match(going.message, /old-v2 .* deleted because no pod belongs there any more/);
  });

  it('leaves a pod of the current revision where it is', () => {
    const nodes = [node('n1'), node('v1', noSchedule)];
    const made = plan({ daemonSet: set(1), nodes, pods: [fresh('n1'), fresh('v1')] });
    assert.deepEqual(effects(made), []);
  });

  it('lets others go first where a delete was refused lately', () => {
    const entry = { node: node('v2').name, generation: 1, code: 'admission', message: 'no' };
    const refusal = { ...entry, victim: old('v2').uid, delayMs: 5000, notBeforeMs: NOW_MS + 5000 };
    const by = { state: state({ refusals: [refusal] }) };
    const made = run([fresh('n1'), fresh('n2', { isReady: false })], by);
    assert.deepEqual(vacated(made), ['old-v1']);
    assert.equal(made.rollout?.waitingNodes, 1);
    assert.equal(made.verdicts()[3]?.code, 'Refused');
  });

  it('repeats an unanswered delete without needing another spare pod (protocol 4)', () => {
    const by = { state: state({ intents: [deleteIntent(old('v1'))] }) };
    const pending = fresh('n2', { isReady: false });
    assert.deepEqual(effects(run([fresh('n1'), fresh('n2')], by)), [
      '-old-v1 repeat',
      '-old-v2 vacated',
    ]);
    assert.deepEqual(effects(run([fresh('n1'), pending], by)), ['-old-v1 repeat']);
    assert.deepEqual(effects(run([fresh('n1', { isReady: false }), pending], by)), []);
  });
});

describe('creates that may still arrive (protocol 4, S2)', () => {
  const nodes = ['n1', 'n2', 'n3'].map((name) => node(name));
  const pods = nodes.map(({ name }) => old(name));
  const name = slot('n3', CURRENT_HASH);
  const open = (...intents: readonly ReturnType<typeof createIntent>[]): Partial<PlanContext> => ({
    state: state({ intents }),
  });

  it('count as surging, and are repeated before anything new', () => {
    const by = open(createIntent('n3', { name }));
    const made = plan({ daemonSet: set(1), nodes, pods }, by);
    assert.deepEqual(effects(made), ['+n3']);
    assert.equal(made.creates[0]?.name, name);
    assert.equal(made.rollout?.surgingNodes, 1);
    assert.deepEqual(effects(plan({ daemonSet: set(2), nodes, pods }, by)), ['+n3', '+n1']);
  });

  it('come after unavailable nodes when the burst is cut', () => {
    const broken = [old('n1'), old('n2', { isReady: false }), old('n3')];
    const by = { ...open(createIntent('n3', { name })), burstPodsMax: 1 };
    assert.deepEqual(effects(plan({ daemonSet: set(1), nodes, pods: broken }, by)), ['+n2']);
  });

  it('are not repeated beyond a budget that became smaller, and count', () => {
    const by = open(
      createIntent('n2', { name: slot('n2', CURRENT_HASH) }),
      createIntent('n3', { name }),
    );
    const made = plan({ daemonSet: set(1), nodes, pods }, by);
    assert.deepEqual(effects(made), ['+n2']);
    assert.equal(made.rollout?.surgingNodes, 2);
    assert.equal(made.rollout.waitingNodes, 2);
  });

  it('count as surging when they were answered and are not seen yet', () => {
    const by = open(createIntent('n3', { name, answer: answerOf(name, '900') }));
    const made = plan({ daemonSet: set(1), nodes, pods }, by);
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.surgingNodes, 1);
    assert.equal(made.verdicts()[2]?.code, 'Creating');
  });

  it('count beside an old pod that is not available, too', () => {
    const broken = [pods[0], pods[1], old('n3', { isReady: false })].filter(
      (each) => each !== undefined,
    );
    const made = plan(
      { daemonSet: set(1), nodes, pods: broken },
      open(createIntent('n3', { name })),
    );
    assert.deepEqual(effects(made), ['+n3']);
    assert.equal(made.rollout?.surgingNodes, 1);
  });
});

describe('surge x failed back-off (#124388)', () => {
  const entry: BackoffEntry = {
    node: node('n1').name,
    generation: 0,
    delayMs: 9000,
    advancedAtMs: NOW_MS,
  };
  const by = { state: state({ backoff: [entry] }) };
  const failed = failedPod('n1', { labels: OLD, name: 'old-n1' });

  it('upstream never tests: surge × failed backoff; a failed pod in back-off is left alone', () => {
    assert.deepEqual(besideTwo([failed], { by }), { made: [], others: 2, counted: 0 });
  });

  it('strict: it does not hold back a new pod', () => {
    const made = besideTwo([failed], { by, metadata: strict });
    assert.deepEqual(made, { made: ['+n1'], others: 1, counted: 1 });
  });

  it('strict: outside its back-off it is deleted first, as ever', () => {
    assert.deepEqual(besideTwo([failed], { metadata: strict }).made, ['-old-n1 failed']);
  });
});

describe('vanished nodes with surge', () => {
  const nodes = [node('n1'), node('n2')];
  const stray = old('gone');

  it('upstream never tests: surge with vanished node error; here its pods are left to pod GC', () => {
    const pods = [old('n1'), old('n2'), stray];
    const made = plan({ daemonSet: set(1), nodes, pods });
    assert.deepEqual(effects(made), ['+n1']);
    assert.equal(made.rollout?.surgingNodes, 0);
  });

  it('strict: an outdated pod there stops the step, which says so and looks again', () => {
    const pods = [old('n1'), old('n2'), stray];
    const made = plan({ daemonSet: set(1, strict), nodes, pods });
    assert.deepEqual(effects(made), []);
    assert.equal(made.rollout?.waitingNodes, 2);
    assert.equal(made.dueAtMs, NOW_MS + 15_000);
    assert.equal(made.verdicts()[0]?.code, 'WaitingForRollout');
    assert.match(
      made.verdicts()[0]?.message ?? '',
      /pod old-gone of a node that is gone has been collected/,
    );
  });

  it('strict: too many pods there count as surging, as upstream', () => {
    const crowd = [old('gone'), old('gone', { name: 'x' })];
    const pods = [old('n1'), old('n2'), ...crowd];
    assert.deepEqual(effects(plan({ daemonSet: set(1, strict), nodes, pods })), []);
    assert.deepEqual(effects(plan({ daemonSet: set(1), nodes, pods })), ['+n1']);
  });

  it('strict: both revisions there count, and the old one goes, as upstream', () => {
    const pods = [old('n1'), old('n2'), old('gone'), fresh('gone', { isReady: false })];
    assert.deepEqual(effects(plan({ daemonSet: set(1, strict), nodes, pods })), []);
    const ready = [old('n1'), old('n2'), old('gone'), fresh('gone')];
    assert.deepEqual(effects(plan({ daemonSet: set(1, strict), nodes, pods: ready })), [
      '+n1',
      '-old-gone replaced',
    ]);
  });
});
