/**
 * Whatever a watcher tells, forgets or may not read, whichever key there is, and however often a policy turns content on and
 * off: while no content changes, no pod is restarted (ADR 0061).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ConfigObservation, ObservedConfig } from '../../../../src/core/model/projections.ts';
import type { ConfigSelection } from '../../../../src/core/policy/rollout-policy.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';

const NAMES = ['a', 'b', 'c'] as const;
const KEYS = ['0a0a0a0a', '0b0b0b0b'] as const;
const envFrom = [
  { configMapRef: { name: 'a' } },
  { configMapRef: { name: 'b', optional: true } },
  { configMapRef: { name: 'c' } },
];

/** The same content has the same hash under one key. */
const hashOf = (key: string, name: string): string => `${key}-${name}`;

const observation = (key: string | undefined, name: string): fc.Arbitrary<ConfigObservation> => {
  const of = { kind: 'ConfigMap' as const, name };
  const problem = fc.constantFrom('forbidden' as const, 'unread' as const);
  const known =
    key === undefined ? fc.constant(of) : fc.constant({ ...of, hash: hashOf(key, name) });
  return fc.oneof(
    { weight: 3, arbitrary: known },
    fc.constant(of),
    problem.map((each) => ({ ...of, problem: each })),
    // One that pods do without may come, which is a change; one that they need only goes.
    name === 'b' ? fc.constant(of) : fc.constant({ ...of, problem: 'missing' as const }),
  );
};

const observed: fc.Arbitrary<ObservedConfig | undefined> = fc.option(
  fc
    .constantFrom(undefined, ...KEYS)
    .chain((key) =>
      fc
        .tuple(...NAMES.map((name) => observation(key, name)))
        .map((objects) => ({ ...(key === undefined ? {} : { key }), objects })),
    ),
  { nil: undefined },
);

const selection: fc.Arbitrary<ConfigSelection | undefined> = fc.constantFrom(
  undefined,
  { kind: 'referenced' as const },
  { kind: 'referenced' as const },
  { kind: 'listed' as const, configMaps: ['a', 'c'], secrets: [] },
);

test('nothing that is told of unchanged content restarts a pod', () => {
  const looks = fc.array(fc.record({ observed, selection }), { minLength: 2, maxLength: 25 });
  fc.assert(
    fc.property(looks, (told) => {
      const world = new StagedWorld({
        nodes: ['n-0', 'n-1', 'n-2', 'n-3'].map((name) => node(name)),
        policy: policy(),
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
        podSpec: { containers: [{ name: 'agent', envFrom }] },
      });
      for (const look of told) {
        const config = look.selection;
        world.policy = policy(config === undefined ? {} : { config });
        world.observed = look.observed;
        world.tick(30_000);
        // A node that loses its pod gets one with a label, of whichever scope there is.
        if (world.nowMs % 4 === 0) world.evict([...world.nodes.keys()][0] ?? assert.fail());
        world.tick(30_000);
      }
      for (let tick = 0; tick < 10; tick += 1) world.tick(30_000);
      assert.deepEqual(world.deleted, []);
    }),
    { numRuns: 150 },
  );
});
