/**
 * The stages of a rolling update: where there are any, what an unreadable policy does, and which revisions are kept.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type {
  IntentJudgement,
  PlanContext,
  StagingContext,
} from '../../../../src/core/model/plan.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { PolicyProblem } from '../../../../src/core/policy/rollout-policy.ts';
import {
  keptRevisions,
  planStages,
  stagingEvents,
} from '../../../../src/core/rolling-update/plan-stages.ts';
import type { Staging } from '../../../../src/core/rolling-update/plan-stages.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  context,
  daemonSet,
  deleteIntent,
  node,
  pod,
  state,
  statusOnly,
  view,
} from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';
import { record } from '../../../support/stage-records.ts';

const NO_INTENTS = { unseen: [], unresolved: [], settled: [] };
const PROBLEM: PolicyProblem = { field: 'soak', message: 'must be a duration' };

function staged(options: Partial<StagingContext> = {}): StagingContext {
  return {
    reading: { kind: 'policy', policy: policy() },
    mode: 'takeover',
    seenView: '1/1000',
    isViewFresh: true,
    unheardMs: 0,
    ...options,
  };
}

function plan(
  strategy: 'OnDelete' | 'RollingUpdate',
  options: Partial<StagingContext> = {},
  rest: Partial<PlanContext> = {},
): Staging {
  const object = daemonSet({ spec: { updateStrategy: { type: strategy } } });
  const seen = view({ daemonSet: object, nodes: [node('n1')], pods: [pod('n1')] });
  return planStages(seen, context({ staging: staged(options), ...rest }), NO_INTENTS);
}

describe('stages', () => {
  it('are none without a policy', () => {
    const seen = view();
    assert.equal(planStages(seen, context(), NO_INTENTS).kind, 'none');
    assert.equal(plan('OnDelete', { reading: { kind: 'none' } }).kind, 'none');
  });

  it('are planned in takeover under either strategy, and in copilot under OnDelete alone', () => {
    assert.equal(plan('RollingUpdate').kind, 'staged');
    assert.equal(plan('OnDelete').kind, 'staged');
    assert.equal(plan('OnDelete', { mode: 'copilot' }).kind, 'staged');
    assert.equal(plan('RollingUpdate', { mode: 'copilot' }).kind, 'none');
  });

  it('are none for a run that may not act, or does not know the revision', () => {
    assert.equal(plan('OnDelete', {}, { guard: statusOnly('cluster-silent') }).kind, 'none');
    assert.equal(plan('OnDelete', {}, { currentHash: undefined }).kind, 'none');
  });

  it('name the rollout by DaemonSet and template, so that each draws its own canary, whatever hash it has', () => {
    const nodes = Array.from({ length: 40 }, (_each, index) => node(`n${String(index)}`));
    const pods = nodes.map(({ name }) =>
      pod(name, { labels: { app: 'agent', 'controller-revision-hash': 'older' } }),
    );
    const canaryOf = (image: string, currentHash = 'bb'): string => {
      const template = {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ image }] },
      };
      const planned = planStages(
        view({ daemonSet: daemonSet({ spec: { template } }), nodes, pods }),
        context({
          staging: staged(),
          currentHash,
          // A canary that was begun keeps its nodes: here none was.
          state: state({ rollout: record({ hash: 'older', canary: [] }) }),
        }),
        NO_INTENTS,
      );
      assert.equal(planned.kind, 'staged');
      return planned.stages.record.canary.join(' ');
    };
    const drawn = new Set(['a:1', 'a:2', 'a:3', 'a:4', 'a:5'].map((image) => canaryOf(image)));
    assert.ok(drawn.size > 1, 'always the same node');
    assert.equal(canaryOf('a:1', 'cc'), canaryOf('a:1', 'dd'));
  });

  it('count a refusal of this generation alone', () => {
    const seen = view({
      daemonSet: daemonSet(),
      nodes: [node('n1'), node('n2')],
      gone: [
        {
          name: 'gone',
          createdAtMs: NOW_MS - 9_000,
          node: node('n1').name,
          uid: uid('gone'),
          goneAtMs: NOW_MS - 1_000,
        },
      ],
      pods: [pod('n2', { labels: { app: 'agent', 'controller-revision-hash': 'older' } })],
    });
    const { generation = 0 } = seen.daemonSet.metadata;
    const breachOf = (of: number): string | undefined => {
      const refusal = {
        node: node('n1').name,
        generation: of,
        code: 'forbidden',
        message: 'exceeded quota',
        delayMs: 60_000,
        notBeforeMs: NOW_MS,
      };
      const rollout = record({ hash: CURRENT_HASH, canary: [node('n1').name] });
      const at = context({
        staging: staged(),
        state: state({ rollout, refusals: [refusal] }),
      });
      const planned = planStages(seen, at, NO_INTENTS);
      assert.equal(planned.kind, 'staged');
      return planned.stages.record.breach?.cause;
    };
    assert.equal(breachOf(generation), 'CreateRefused');
    assert.equal(breachOf(generation - 1), undefined);
  });
});

describe('nodes that are refused their former pods', () => {
  const nodes = ['n1', 'n2', 'n3', 'n4'].map((name) => node(name));
  const older = { labels: { app: 'agent', 'controller-revision-hash': 'older' } };
  const onFirst = pod('n1', older);
  const seen = view({ nodes, pods: [onFirst, pod('n4', older)] });
  const refusal = {
    node: node('n3').name,
    generation: seen.daemonSet.metadata.generation ?? 0,
    code: 'admission',
    message: 'refused',
    delayMs: 60_000,
    notBeforeMs: NOW_MS,
  };
  const canaryBeside = (unresolved: IntentJudgement['unresolved']): string => {
    const two = policy({ maxUnavailable: { kind: 'count', count: 2 } });
    const rollout = record({ hash: CURRENT_HASH, canary: [node('n1').name] });
    const at = context({
      staging: staged({ reading: { kind: 'policy', policy: two } }),
      state: state({ rollout, refusals: [refusal] }),
    });
    const planned = planStages(seen, at, { ...NO_INTENTS, unresolved });
    assert.equal(planned.kind, 'staged');
    return planned.stages.record.canary.join();
  };

  it('take the place of a canary that cannot begin beside them', () => {
    assert.equal(canaryBeside([]), 'n3');
  });

  it('keep a canary of which a delete is on its way', () => {
    assert.equal(canaryBeside([deleteIntent(onFirst)]), 'n1');
  });
});

describe('a policy that cannot be read', () => {
  const told = (...problems: readonly [PolicyProblem, ...PolicyProblem[]]): readonly unknown[] => {
    const staging = plan('OnDelete', { reading: { kind: 'invalid', problems } });
    assert.equal(staging.kind, 'unreadable');
    return stagingEvents(staging);
  };
  const START = 'The annotation rollcall.dev/rollout cannot be used, and the rollout is held: ';

  it('is told by its first field, and by how many more there are', () => {
    const standing = { type: 'Warning', reason: 'InvalidRolloutPolicy', isStanding: true };
    assert.deepEqual(told(PROBLEM), [{ ...standing, message: `${START}soak: must be a duration` }]);
    assert.deepEqual(told(PROBLEM, PROBLEM, PROBLEM), [
      { ...standing, message: `${START}soak: must be a duration (and 2 more)` },
    ]);
    assert.deepEqual(told({ field: '', message: 'is no YAML' }), [
      { ...standing, message: `${START}is no YAML` },
    ]);
  });

  it('tells nothing where there are no stages, and what stages tell where there are', () => {
    assert.deepEqual(stagingEvents({ kind: 'none' }), []);
    const staging = plan('OnDelete');
    assert.equal(staging.kind, 'staged');
    assert.deepEqual(stagingEvents(staging), staging.stages.events);
  });
});

describe('revisions that are kept', () => {
  const proven = { hash: 'p1', provenAtMs: NOW_MS, isBaseline: true };
  const former = { hash: 'f1', provenAtMs: NOW_MS, isBaseline: true };
  const stored = state({ rollout: record({ proven, former }) });

  it('are those that the state and this run know as proven, now or before', () => {
    const at = context({ staging: staged(), state: stored });
    assert.deepEqual([...keptRevisions({ kind: 'none' }, at)].sort(), ['f1', 'p1']);
    const planned = plan('OnDelete');
    assert.equal(planned.kind, 'staged');
    const staging: Staging = {
      ...planned,
      stages: { ...planned.stages, record: record({ proven: { ...proven, hash: 'p2' }, former }) },
    };
    assert.deepEqual([...keptRevisions(staging, at)].sort(), ['f1', 'p1', 'p2']);
    assert.deepEqual([...keptRevisions(staging, context({ staging: staged() }))].sort(), [
      'f1',
      'p2',
    ]);
  });

  it('are none without stages, or where nothing was proven', () => {
    assert.equal(keptRevisions({ kind: 'none' }, context({ state: stored })).size, 0);
    const { proven: _proven, former: _former, ...bare } = record();
    const at = context({ staging: staged(), state: state({ rollout: bare }) });
    assert.equal(keptRevisions({ kind: 'none' }, at).size, 0);
  });
});
