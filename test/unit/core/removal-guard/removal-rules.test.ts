/** How much of a shrink goes without confirmation, by policy and by default (ADR 0057). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DEFAULT_REMOVAL_RULES,
  isOverShare,
  isStillOver,
  shareOf,
  removalRulesOf,
} from '../../../../src/core/removal-guard/removal-rules.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';

const policy = { removalPercent: 35 } as RolloutPolicy;

describe('rules of a shrink', () => {
  it('come from the policy; one that cannot be read protects as the default share does', () => {
    assert.deepEqual(removalRulesOf({ kind: 'none' }), DEFAULT_REMOVAL_RULES);
    assert.deepEqual(removalRulesOf({ kind: 'policy', policy }), { scope: 'policy', percent: 35 });
    const problems = [{ field: 'removalGuard', message: 'is no percentage' }] as const;
    assert.deepEqual(removalRulesOf({ kind: 'invalid', problems }), {
      scope: 'policy',
      percent: 20,
    });
  });

  it('say of each count whether it is over the share', () => {
    const rows: readonly (readonly ['policy' | 'default', number, number, boolean])[] = [
      ['policy', 0, 0, false],
      ['policy', 0, 3, false],
      ['policy', 1, 1, true],
      ['policy', 3, 4, false],
      ['policy', 4, 4, true],
      ['policy', 1, 5, false],
      ['policy', 2, 5, true],
      ['default', 9, 9, false],
      ['default', 2, 10, false],
      ['default', 3, 10, true],
      ['default', 1001, 5000, true],
      ['default', 1000, 5000, false],
    ];
    for (const [scope, pods, basePods, isOver] of rows) {
      const text = `${scope}: ${pods} of ${basePods}`;
      assert.equal(isOverShare({ scope, percent: 20 }, { pods, basePods }), isOver, text);
    }
  });

  it('let a hold go on where none would begin, for nodes that went meanwhile', () => {
    assert.ok(isStillOver(DEFAULT_REMOVAL_RULES, { pods: 9, basePods: 9 }));
    assert.ok(!isStillOver(DEFAULT_REMOVAL_RULES, { pods: 1, basePods: 9 }));
    assert.equal(shareOf(DEFAULT_REMOVAL_RULES, { pods: 0, basePods: 14 }), 2);
  });
});
