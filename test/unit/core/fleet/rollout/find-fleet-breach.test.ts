// What halts a fleet, and what does not.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_EVIDENCE, withDraw, type LogRatios } from '../../../../../src/core/health/trial.ts';
import { findFleetBreach } from '../../../../../src/core/fleet/rollout/find-fleet-breach.ts';
import type { BreachFacts } from '../../../../../src/core/fleet/rollout/find-fleet-breach.ts';
import type { GivenCluster } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import { tallyStage } from '../../../../../src/core/fleet/rollout/tally-stage.ts';
import { poolSeenOf } from '../../../../support/fleet-pools.ts';
import { NOW_MS } from '../../../../support/fleet-samples.ts';
import {
  BEGAN_MS,
  failedOf,
  givenOf,
  ROLLING,
  seenOf,
  WELL,
} from '../../../../support/fleet-records.ts';

type Breach = ReturnType<typeof findFleetBreach>;

function find(given: readonly GivenCluster[], changes: Partial<BreachFacts> = {}): Breach {
  const { overruledAtMs = 0 } = changes;
  return findFleetBreach({
    stage: 'early',
    tally: tallyStage(seenOf(given), overruledAtMs),
    given,
    isOpen: true,
    failedClustersMax: 0,
    refusedClustersMax: 0,
    isAlone: false,
    shownBy: [],
    onHalt: 'halt',
    overruledAtMs,
    nowMs: NOW_MS,
    ...changes,
  });
}

const named = (count: number, make: (id: string, index: number) => GivenCluster): GivenCluster[] =>
  Array.from({ length: count }, (_, index) => make(`c${String(index)}`, index));

describe('findFleetBreach: clusters that failed', () => {
  it('halts at one more than is forgiven, with its cause', () => {
    const given = [failedOf('a'), givenOf('b', WELL)];
    assert.equal(find(given, { failedClustersMax: 1 }), undefined);
    const breach = find(given);
    assert.equal(breach?.cause, 'ClustersFailed');
    assert.match(breach?.message ?? '', /1 of 2 clusters of stage early failed, 0 may; a: Halted/);
    assert.deepEqual(breach?.clusters, ['a']);
  });

  it('names sixteen clusters at most', () => {
    assert.equal(find(named(40, (id) => failedOf(id)))?.clusters.length, 16);
  });

  it('stays silent about what an operator overruled, and not about what comes later', () => {
    assert.equal(find([failedOf('a', NOW_MS - 1)], { overruledAtMs: NOW_MS }), undefined);
    assert.ok(find([failedOf('a', NOW_MS + 1)], { overruledAtMs: NOW_MS }));
  });
});

describe('findFleetBreach: clusters that fell silent', () => {
  const silent = (id: string): GivenCluster => givenOf(id, { kind: 'offline' });

  it('halts where it is most of a stage, and more than one', () => {
    assert.equal(find([silent('a')]), undefined);
    assert.equal(find([silent('a'), silent('b'), givenOf('c', WELL)])?.cause, 'ClustersSilent');
    const half = [silent('a'), silent('b'), givenOf('c', WELL), givenOf('d', ROLLING)];
    assert.equal(find(half), undefined);
  });

  it('does not for those that were silent when an operator overruled it', () => {
    const overruledAtMs = BEGAN_MS + 1;
    assert.equal(find([silent('a'), silent('b')], { overruledAtMs }), undefined);
    const later = named(3, (id) => givenOf(id, { kind: 'offline' }, { openedAtMs: NOW_MS }));
    assert.equal(find([silent('x'), ...later], { overruledAtMs })?.cause, 'ClustersSilent');
  });
});

describe('findFleetBreach: nodes that went bad', () => {
  const draw = { isUpdated: true, updatedAtRisk: 1, othersAtRisk: 1 };
  const ratios: LogRatios = withDraw(NO_EVIDENCE, draw);

  it('sees no cause where old and new nodes fail alike', () => {
    const other = withDraw(ratios, { ...draw, isUpdated: false });
    assert.equal(find(named(50, (id) => givenOf(id, ROLLING, { ratios: other }))), undefined);
  });

  it('is of one cluster, however much that shows, until the others halt it without that one', () => {
    const lie: LogRatios = [200, 200, 200, 200];
    const liar = givenOf('liar', ROLLING, { ratios: lie });
    const grounds = (others: number): unknown =>
      find([liar, ...named(others, (id) => givenOf(id, ROLLING, { ratios }))])?.grounds;
    assert.equal(grounds(0), 'one-cluster');
    assert.equal(grounds(3), 'one-cluster', 'a node that died here and there is no second witness');
    assert.equal(grounds(9), undefined);
  });

  it('counts what clusters show that were given it after an operator overruled it', () => {
    const many = named(9, (id) => givenOf(id, ROLLING, { ratios }));
    assert.equal(find(many, { overruledAtMs: BEGAN_MS }), undefined);
    const later = many.map((one) => ({ ...one, record: { ...one.record, openedAtMs: NOW_MS } }));
    assert.equal(find(later, { overruledAtMs: BEGAN_MS })?.cause, 'NodesFailed');
  });
});

describe('findFleetBreach: small clusters compared with each other', () => {
  const draw = { isUpdated: true, updatedAtRisk: 1, othersAtRisk: 1 };
  const ratios: LogRatios = withDraw(NO_EVIDENCE, draw);
  const given = named(12, (id) => givenOf(id, ROLLING));

  it('halts by their e-value, with its numbers, and names those that lost a node', () => {
    const breach = find(given, { pool: poolSeenOf(['c0', 'c1', 'c2']) });
    assert.equal(breach?.cause, 'NodesFailed');
    assert.match(
      breach?.message ?? '',
      /E = 28\.\d over 2 clusters, 20 halts; 2 of 2 nodes of clusters/,
    );
    assert.deepEqual(breach?.clusters, ['c0', 'c1']);
  });

  it('counts nobody twice: the own trial of one that takes part is left out', () => {
    const own = named(9, (id) => givenOf(id, ROLLING, { ratios }));
    const nothing = { logRatios: NO_EVIDENCE, failed: [] };
    const all = own.map(({ record }) => record.cluster);
    assert.equal(find(own, { pool: poolSeenOf(all, nothing) }), undefined);
    assert.equal(find(own, { pool: poolSeenOf(all.slice(0, 4), nothing) }), undefined);
    assert.equal(find(own, { pool: poolSeenOf([], nothing) })?.cause, 'NodesFailed');
  });
});

describe('findFleetBreach: a fleet that gets no further', () => {
  it('halts at the deadline, and names who is not well', () => {
    const given = [givenOf('a', WELL), givenOf('b', ROLLING)];
    const progressDeadlineMs = 3_600_000;
    const stuckSinceMs = NOW_MS - progressDeadlineMs;
    const breach = find(given, { stuckSinceMs, progressDeadlineMs });
    assert.equal(breach?.cause, 'ProgressDeadlineExceeded');
    assert.match(breach?.message ?? '', /60 minutes/);
    assert.deepEqual(breach?.clusters, ['b']);
    assert.equal(find(given, { stuckSinceMs: stuckSinceMs + 1, progressDeadlineMs }), undefined);
    assert.equal(find(given, { stuckSinceMs }), undefined);
  });
});
