/**
 * Staged rollouts of 164 nodes of which some die: the case of kubernetes/test-infra#31706, in both directions (issue 17).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

const ZONE = 'topology.kubernetes.io/zone';
const MINUTE_MS = 60_000;
const MODES = ['copilot', 'takeover'] as const;

function nodes(
  count: number,
  options: { readonly zones?: number } = {},
): readonly NodeProjection[] {
  const { zones = 3 } = options;
  return Array.from({ length: count }, (_each, index) =>
    node(`n${String(index).padStart(3, '0')}`, {
      labels: { [ZONE]: `zone-${'abcdefgh'.charAt(index % zones)}` },
    }),
  );
}

function canary(count: number): RolloutPolicy['canary'] {
  return { kind: 'share', share: { kind: 'count', count }, spread: [] };
}

const STAGED: Partial<RolloutPolicy> = {
  maxUnavailable: { kind: 'percent', percent: 20 },
  canary: canary(3),
  soakMs: 10 * MINUTE_MS,
  order: [{ label: ZONE, values: [], isLast: false }],
};

for (const mode of MODES) {
  describe(`a staged rollout of 164 nodes in ${mode}`, () => {
    const start = (options: Partial<RolloutPolicy>, count: number): StagedWorld =>
      new StagedWorld({ nodes: nodes(count), policy: policy({ ...STAGED, ...options }), mode });

    it('goes on with three nodes that were dead before, by an attributed budget', () => {
      const dead = ['n010', 'n020', 'n030'].map(nodeName);
      const world = start(
        { budget: 'attributed', maxUnavailable: { kind: 'count', count: 1 } },
        164,
      );
      for (const name of dead) world.setNode(name, { isReady: false });
      world.tick(1_000);
      world.hash = 'bbbb';
      assert.ok(world.until(() => world.count('bbbb') === 161, { maxMs: 6 * 3_600_000 }));
      assert.equal(world.record?.breach, undefined);
      assert.ok(world.until(() => world.record?.step.kind === 'done'));
    });

    it('halts when the first three updated nodes die, with E and the counts', () => {
      const world = start({ maxUnavailable: { kind: 'count', count: 3 }, order: [] }, 164);
      world.hash = 'bbbb';
      world.until(() => world.count('bbbb') === 3);
      for (const name of world.record?.canary ?? []) {
        world.setNode(name, { isReady: false });
        world.tick(90_000);
      }
      world.until(() => world.record?.breach !== undefined, { maxMs: 5 * MINUTE_MS });
      assert.equal(world.record?.breach?.cause, 'NodesFailed');
      assert.match(world.record.breach.message, /of 3 updated nodes/);
      assert.equal(world.count('bbbb') <= 4, true);
    });
  });
}
