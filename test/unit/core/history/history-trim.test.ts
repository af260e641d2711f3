/** Which old revisions go (spec 2.11, S10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planTrims } from '../../../../src/core/history/history-plan.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { IntentJudgement, PlanContext } from '../../../../src/core/model/plan.ts';
import type { PodProjection, RevisionProjection } from '../../../../src/core/model/projections.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import {
  context,
  createIntent,
  daemonSet,
  deleteIntent,
  node,
  pod,
  revision,
  statusOnly,
  view,
} from '../../../support/core-fixtures.ts';

const NONE: IntentJudgement = { unseen: [], unresolved: [], settled: [] };
const CURRENT = uid('revision-9');

/** Revisions 1 to 9, of hashes h1 to h9; the last is current. */
const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) =>
  revision(number, {
    uid: uid(`revision-${number}`),
    labels: { app: 'agent', 'controller-revision-hash': `h${number}` },
  }),
);

const ofHash = (onNode: string, hash: string): PodProjection =>
  pod(onNode, { labels: { app: 'agent', 'controller-revision-hash': hash } });

interface Case {
  readonly limit?: number | undefined;
  readonly revisions?: readonly RevisionProjection[];
  readonly pods?: readonly PodProjection[];
  readonly context?: Partial<PlanContext>;
  readonly intents?: Partial<IntentJudgement>;
  readonly kept?: readonly string[];
}

function trims(options: Case): readonly number[] {
  const limit = 'limit' in options ? options.limit : 2;
  const spec: JsonObject = limit === undefined ? {} : { revisionHistoryLimit: limit };
  const seen = view({
    daemonSet: daemonSet({ spec }),
    nodes: [node('n1')],
    pods: options.pods ?? [],
    revisions: options.revisions ?? nine,
  });
  const plan = planTrims(seen, {
    ...context({ currentRevision: CURRENT, ...options.context }),
    intents: { ...NONE, ...options.intents },
    kept: new Set(options.kept),
  });
  return plan.map(({ revision: number }) => number);
}

describe('planTrims (upstream never tests: cleanupHistory limits and live protection)', () => {
  it('deletes the surplus, the lowest numbers first, whatever the order', () => {
    assert.deepEqual(trims({}), [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(trims({ revisions: [...nine].reverse() }), [1, 2, 3, 4, 5, 6]);
  });

  it('deletes nothing up to the limit, all but the current at limit 0, and keeps 10 by default', () => {
    assert.deepEqual(trims({ limit: 8 }), []);
    assert.deepEqual(trims({ limit: 7 }), [1]);
    assert.deepEqual(trims({ limit: 0 }), [1, 2, 3, 4, 5, 6, 7, 8]);
    const more = [10, 11, 12].map((number) => revision(number));
    assert.deepEqual(trims({ limit: undefined, revisions: nine }), []);
    assert.deepEqual(trims({ limit: undefined, revisions: [...nine, ...more] }), [1]);
  });

  it('never deletes the current one, however low its number', () => {
    assert.deepEqual(trims({ limit: 7, context: { currentRevision: uid('revision-1') } }), [2]);
  });

  const held = { phase: 'Failed', isTerminating: true } as const;
  const live: readonly [string, PodProjection][] = [
    ['a running pod', ofHash('n1', 'h1')],
    ['a finished pod that a finalizer holds', { ...ofHash('n1', 'h1'), ...held }],
    ['a pod of a node that is gone', ofHash('gone', 'h1')],
    [
      'a pod without a node',
      pod('n1', { ...ofHash('n1', 'h1'), boundNode: null, targetNode: null }),
    ],
    ['an orphan that is about to be adopted', pod('n1', { ...ofHash('n1', 'h1'), ownerUid: null })],
  ];
  for (const [title, one] of live) {
    it(`never deletes one that ${title} needs: the next goes in its place (S10)`, () => {
      assert.deepEqual(trims({ limit: 7, pods: [one] }), [2]);
    });
  }

  it('never deletes one that a staged rollout may give to a node (S10)', () => {
    assert.deepEqual(trims({ limit: 7, kept: ['h1'] }), [2]);
    assert.deepEqual(trims({ limit: 0, kept: ['h8'] }), [1, 2, 3, 4, 5, 6, 7]);
  });

  it('lets live ones push the count above the limit', () => {
    const pods = ['h1', 'h2', 'h3'].map((hash, index) => ofHash(`n${index}`, hash));
    assert.deepEqual(trims({ limit: 0, pods, revisions: nine.slice(0, 3) }), []);
  });

  it('does not protect what a pod of another owner carries', () => {
    const foreign = pod('n1', { ...ofHash('n1', 'h1'), ownerUid: uid('other') });
    assert.deepEqual(trims({ limit: 7, pods: [foreign] }), [1]);
  });

  it('knows a revision without hash by its name', () => {
    const [first, ...rest] = nine;
    assert.ok(first !== undefined);
    const bare = { ...first, name: 'agent-bare', labels: { app: 'agent' } };
    const pods = [ofHash('n1', 'agent-bare')];
    assert.deepEqual(trims({ limit: 7, revisions: [bare, ...rest], pods }), [2]);
  });

  it('neither counts nor touches orphans, others’ and those that are going already', () => {
    const [one, two, three, ...rest] = nine;
    assert.ok(one !== undefined && two !== undefined && three !== undefined);
    const { ownerUid: _none, ...orphan } = one;
    const odd = [orphan, { ...two, ownerUid: uid('other') }, { ...three, isTerminating: true }];
    assert.deepEqual(trims({ limit: 5, revisions: [...odd, ...rest] }), []);
    assert.deepEqual(trims({ limit: 4, revisions: [...odd, ...rest] }), [4]);
  });

  it('waits while history is not settled, a create may still arrive, or the run may not act', () => {
    const { currentRevision: _none, ...unsettled } = context();
    const seen = view({
      daemonSet: daemonSet({ spec: { revisionHistoryLimit: 0 } }),
      revisions: nine,
    });
    assert.deepEqual(planTrims(seen, { ...unsettled, intents: NONE, kept: new Set() }), []);
    assert.deepEqual(trims({ context: { guard: statusOnly('frozen') } }), []);
    assert.deepEqual(trims({ intents: { unresolved: [createIntent('n1')] } }), []);
    assert.deepEqual(trims({ intents: { unseen: [createIntent('n1')] } }), []);
    assert.equal(trims({ intents: { unresolved: [deleteIntent(pod('n1'))] } }).length, 6);
  });

  it('stays within the burst (S9)', () => {
    assert.deepEqual(trims({ context: { burstPodsMax: 2 } }), [1, 2]);
  });

  it('goes by name where numbers are equal', () => {
    const twins = ['b', 'a', 'c'].map((name) => revision(3, { name, uid: uid(name) }));
    const seen = view({
      daemonSet: daemonSet({ spec: { revisionHistoryLimit: 1 } }),
      revisions: twins,
    });
    const plan = planTrims(seen, {
      ...context({ currentRevision: CURRENT }),
      intents: NONE,
      kept: new Set(),
    });
    assert.deepEqual(
      plan.map(({ name }) => name),
      ['a', 'b'],
    );
  });

  it('is part of the plan', () => {
    const spec = { revisionHistoryLimit: 7 };
    const seen = view({ daemonSet: daemonSet({ spec }), revisions: nine });
    const plan = planReconcile(seen, context({ currentRevision: CURRENT }));
    assert.deepEqual(
      plan.trims.map(({ revision: number }) => number),
      [1],
    );
  });
});
