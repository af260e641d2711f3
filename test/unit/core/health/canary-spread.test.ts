/** Which nodes try a revision first: spread over kinds, controls left, the same every time. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chooseCanary, type CanaryChoice } from '../../../../src/core/health/canary-spread.ts';
import { SPREAD_DEFAULT } from '../../../../src/core/policy/rollout-policy.ts';
import type { NodeProjection } from '../../../../src/core/model/projections.ts';
import { node } from '../../../support/core-fixtures.ts';

interface Kind {
  readonly zone: string;
  readonly arch?: string;
  readonly kernel?: string;
}

function nodeOf(name: string, { zone, arch = 'amd64', kernel = '6.1' }: Kind): NodeProjection {
  const labels = { 'topology.kubernetes.io/zone': zone, 'kubernetes.io/arch': arch };
  const system = {
    kernelVersion: kernel,
    osImage: 'os',
    containerRuntimeVersion: 'containerd://2',
    kubeletVersion: 'v1.36.0',
    bootId: name,
  };
  return { ...node(name, { labels }), system };
}

/** So many nodes of one kind. */
function many(prefix: string, count: number, kind: Kind): NodeProjection[] {
  return Array.from({ length: count }, (_, index) => nodeOf(`${prefix}${String(index)}`, kind));
}

function choose(
  nodes: readonly NodeProjection[],
  options: Partial<CanaryChoice> = {},
): readonly string[] {
  return chooseCanary({
    nodes,
    count: 3,
    spread: SPREAD_DEFAULT,
    seed: 'r',
    cordoned: 'alike',
    ...options,
  });
}

const zones = ['a', 'b', 'c'].flatMap((zone) => many(zone, 10, { zone }));

describe('chooseCanary', () => {
  it('takes each zone once before any twice', () => {
    assert.deepEqual(
      choose(zones).map((name) => name[0]),
      ['a', 'b', 'c'],
    );
    assert.equal(
      choose(zones, { count: 7 }).filter((name) => name.startsWith('a')).length >= 2,
      true,
    );
  });

  it('covers a rare kernel and a rare architecture with a few nodes', () => {
    const rare = [
      ...many('k', 3, { zone: 'a', kernel: '6.6' }),
      ...many('m', 3, { zone: 'b', arch: 'arm64' }),
    ];
    for (const seed of ['r', 's', 't', 'u']) {
      const spread = ['kernel', ...SPREAD_DEFAULT];
      const first = choose([...zones, ...rare], { count: 4, seed, spread }).map((name) => name[0]);
      assert.ok(first.includes('k') && first.includes('m') && first.includes('c'), first.join());
    }
  });

  it('leaves a control in each stratum while it can', () => {
    const small = [...many('a', 2, { zone: 'a' }), ...many('b', 8, { zone: 'b' })];
    const chosen = choose(small, { count: 8 });
    assert.equal(chosen.filter((name) => name.startsWith('a')).length, 1);
    assert.equal(choose(small, { count: 10 }).length, 10);
  });

  it('prefers a node that leaves a control to one that leaves none, if both show as much that is new', () => {
    const nodes = [nodeOf('lonely', { zone: 'z' }), ...many('a', 3, { zone: 'a' })];
    assert.match(choose(nodes, { count: 1 })[0] ?? '', /^a/);
    assert.ok(choose(nodes, { count: 2 }).includes('lonely'));
  });

  it('never takes a node that is not Ready or goes, and takes fewer if there are fewer', () => {
    const nodes = [
      { ...nodeOf('down', { zone: 'a' }), isReady: false },
      { ...nodeOf('going', { zone: 'b' }), isTerminating: true },
      nodeOf('good', { zone: 'c' }),
    ];
    assert.deepEqual(choose(nodes), ['good']);
    assert.deepEqual(choose([]), []);
  });

  it('takes cordoned nodes last, if asked to', () => {
    const cordoned = many('a', 3, { zone: 'a' }).map((one) => ({ ...one, unschedulable: true }));
    const nodes = [...cordoned, ...many('b', 3, { zone: 'b' })];
    assert.ok(choose(nodes, { count: 2 }).some((name) => name.startsWith('a')));
    assert.ok(choose(nodes, { count: 3, cordoned: 'last' }).every((name) => name.startsWith('b')));
  });

  it('is the same for the same seed in any order, and another one for another seed', () => {
    const chosen = choose(zones);
    assert.deepEqual(choose(zones.toReversed()), chosen);
    const others = ['s', 't', 'u', 'v'].map((seed) => choose(zones, { seed }).join());
    assert.ok(new Set(others).size > 1);
  });
});
