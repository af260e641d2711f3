/**
 * What keeps runs from acting, as the reason of a node: brought about as a guard of the plan; how each guard comes about is told where
 * it is decided. The other reasons have their tests by test/unit/docs/reasons.test.ts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Guard } from '../../../../src/core/model/plan.ts';
import type { GuardCode } from '../../../../src/core/model/verdict.ts';
import { decideCreate } from '../../../../src/core/pods/plan-create.ts';
import { preparePlanning } from '../../../../src/core/pods/planning.ts';
import type { Targets } from '../../../../src/core/pods/targets.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { groupReasons } from '../../../../src/core/status/reason-groups.ts';
import { REASONS } from '../../../../src/core/status/reasons.ts';
import { context, node, view } from '../../../support/core-fixtures.ts';

const GUARDS: Readonly<Record<GuardCode, RegExp | undefined>> = {
  stopped: /stack resume/,
  frozen: /thaw/,
  'cluster-silent': /cluster doctor/,
  'watcher-stands-by': /cluster doctor/,
  'functions-behind': /stack check/,
  'cluster-unavailable': /cluster doctor/,
  'no-access': /cluster doctor/,
  'conflicting-controller': /cluster doctor/,
  'conflict-suspected': /cluster doctor/,
  'sentinel-missing': /cluster doctor/,
  'observe-mode': undefined,
  'not-opted-in': /rollcall\.dev\/rollout/,
  'rolling-update': /OnDelete/,
  'view-incomplete': /cluster doctor/,
  'cut-open': undefined,
  'own-writes-unseen': undefined,
};

describe('a node that is to run the last good revision', () => {
  it('WaitingForRevision: waits while that cannot be read', () => {
    const targets: Targets = {
      hashOf: () => 'good',
      isOnTarget: () => false,
      isFormer: () => true,
      areNamed: false,
    };
    const seen = view({ nodes: [node('n1')] });
    const intents = { unseen: [], unresolved: [], settled: [] };
    const planning = preparePlanning(seen, context(), { intents, targets });
    const [nodeView] = seen.nodes;
    assert.ok(nodeView !== undefined);
    const decided = decideCreate(planning, nodeView);
    assert.ok(decided.kind === 'wait' && decided.wait.code === 'WaitingForRevision');
    assert.match(
      decided.wait.message,
      /the last good revision \(good\), which is not readable now/,
    );
    assert.match(REASONS[decided.wait.code].remedy ?? '', /rollout resume/);
  });
});

describe('what keeps runs from acting', () => {
  for (const [code, remedy] of Object.entries(GUARDS)) {
    it(`is the reason of a node that lacks its pod, with what to do: ${code}`, () => {
      const guard = { kind: 'status-only', code, message: `It is so: ${code}.` } as Guard;
      const plan = planReconcile(view({ nodes: [node('n1')] }), context({ guard }));
      const [group] = groupReasons(plan.verdicts());
      assert.equal(group?.code, code);
      assert.match(group.message, new RegExp(`which waits: It is so: ${code}`));
      assert.match(group.remedy ?? '', remedy ?? /^$/);
    });
  }
});
