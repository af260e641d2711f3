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
      assert.match(
        world.record.breach.message,
        /^[23] of 3 updated nodes went bad, 0 of 161 others; E = [\d.]+, halts at 25: /,
      );
      assert.equal(world.count('bbbb') <= 4, true);
    });

    it('halts when three of the first sixteen updated nodes die, with E and the counts', () => {
      const options = {
        maxUnavailable: { kind: 'count', count: 4 },
        order: [],
        soakMs: 0,
      } as const;
      const world = start(options, 164);
      world.hash = 'bbbb';
      world.until(() => world.count('bbbb') >= 16, { stepMs: 5_000 });
      const updated = Object.entries(world.hashes()).filter(([, hash]) => hash === 'bbbb');
      assert.ok(updated.length <= 20, String(updated.length));
      world.policy = { ...world.policy, isPaused: true };
      for (const [name] of updated.slice(0, 3)) {
        world.setNode(nodeName(name), { isReady: false });
        world.tick(90_000);
      }
      const { breach } = world.record ?? {};
      assert.equal(breach?.cause, 'NodesFailed');
      assert.match(
        breach.message,
        // With other strata two are enough.
        /^[23] of (1[6-9]|20) updated nodes went bad, 0 of 14\d others; E = [\d.]+, halts at 25: /,
      );
    });

    it('goes on when nodes die with their zone, updated or not, and ends once they are back', () => {
      const world = new StagedWorld({
        nodes: nodes(164, { zones: 8 }),
        policy: policy({ ...STAGED, maxUnavailable: { kind: 'count', count: 30 }, soakMs: 0 }),
        mode,
      });
      const zone = [...world.nodes.values()].filter(({ labels }) => labels[ZONE] === 'zone-a');
      assert.equal(zone.length, 21);
      // The partition leaves most of the zone as it was: nodes to compare with.
      world.policy = { ...world.policy, partition: { kind: 'count', count: 164 - 6 } };
      world.hash = 'bbbb';
      const updatedHere = (): number =>
        zone.filter(({ name }) => world.hashes()[name] === 'bbbb').length;
      world.until(() => world.count('bbbb') === 6, { stepMs: 5_000 });
      assert.ok(updatedHere() >= 3 && updatedHere() <= 6, String(updatedHere()));
      world.tick(MINUTE_MS);
      for (const { name } of zone) world.setNode(name, { isReady: false });
      const before = world.count('bbbb');
      world.until(() => false, { maxMs: 30 * MINUTE_MS });
      assert.equal(world.record?.breach, undefined);
      assert.equal(world.count('bbbb'), before);
      for (const { name } of zone) world.setNode(name, { isReady: true });
      const { partition: _lifted, ...rest } = world.policy;
      world.policy = rest;
      assert.ok(world.until(() => world.record?.step.kind === 'done', { maxMs: 12 * 3_600_000 }));
      assert.equal(world.count('bbbb'), 164);
    });

    it('goes on in other zones while one is dead that its rollout has not reached', () => {
      const world = new StagedWorld({
        nodes: nodes(164, { zones: 8 }),
        policy: policy({ ...STAGED, soakMs: MINUTE_MS }),
        mode,
      });
      world.hash = 'bbbb';
      world.until(() => world.record?.step.kind === 'canary');
      const zone = [...world.nodes.values()].filter(({ labels }) => labels[ZONE] === 'zone-h');
      for (const { name } of zone) world.setNode(name, { isReady: false });
      world.until(() => false, { maxMs: 2 * 3_600_000 });
      assert.equal(world.record?.breach, undefined);
      assert.ok(world.count('bbbb') >= 164 - 20 - 3, String(world.count('bbbb')));
    });
  });
}
