/**
 * Each guard of a plan, as the reason of a node that lacks its pod. How guards come about on a running cluster:
 * test/integration/why; test/unit/docs/reasons.test.ts compares the list of reasons with these tests.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Guard } from '../../../../src/core/model/plan.ts';
import type { GuardCode } from '../../../../src/core/model/verdict.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { groupReasons } from '../../../../src/core/status/reason-groups.ts';
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
