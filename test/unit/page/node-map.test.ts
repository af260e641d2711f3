/** What a cell of the map shows: its kind, whether its release is another than most, and what the search left. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { REASONS } from '../../../src/core/status/reasons.ts';
import { cellCodes, cellRules, lookOf, usualReleases } from '../../../src/page/model/cells.ts';
import type { MapCluster } from '../../../src/page/model/documents.ts';
import {
  LOOK_WORDS,
  countKinds,
  countsText,
  kindsOf,
  reasonOf,
  releaseLooks,
  sumKinds,
  withoutKnowledge,
} from '../../../src/page/model/looks.ts';
import { countFound, parseSearch, searchMap } from '../../../src/page/model/search-map.ts';
import { SMALL_MAP } from './small-map.ts';

const KINDS = kindsOf(SMALL_MAP);

function clusterAt(place: number): MapCluster {
  const cluster = SMALL_MAP.clusters[place];
  assert.ok(cluster);
  return cluster;
}

function found(text: string): readonly string[] {
  return searchMap(SMALL_MAP, parseSearch(text)).flatMap(({ cluster, places }) =>
    cluster.names.filter((_, place) => places === 'all' || places.includes(place)),
  );
}

describe('the kinds of a map', () => {
  it('has a word for the kind of every reason', () => {
    for (const { kind } of Object.values(REASONS)) assert.notEqual(LOOK_WORDS[kind], undefined);
  });

  it('counts a cluster that is not known as unknown, whatever its columns say', () => {
    const counts = SMALL_MAP.clusters.map((cluster) => countKinds(cluster, KINDS));
    assert.deepEqual(sumKinds(counts), {
      ...{ failing: 1, held: 0, coming: 0, unknown: 1, serving: 3, 'not-wanted': 1 },
    });
    assert.equal(
      countsText(sumKinds(counts)),
      '1 failing, 1 not known now, 3 serving, 1 no pod needed',
    );
  });

  it('shows no node as serving once nothing is known any more', () => {
    const { clusters } = withoutKnowledge(SMALL_MAP);
    const counts = sumKinds(clusters.map((cluster) => countKinds(cluster, KINDS)));
    assert.equal(counts.serving, 0);
    assert.equal(counts.unknown, 6);
  });

  it('keeps why a cluster was unknown before', () => {
    const reasons = withoutKnowledge(SMALL_MAP).clusters.map(({ unknown }) => unknown);
    assert.equal(reasons[2], clusterAt(2).unknown);
  });

  it('takes the code of a newer release for unknown', () => {
    assert.deepEqual(kindsOf({ reasons: ['OfAnotherRelease', 'toString'] }), [
      'unknown',
      'unknown',
    ]);
    assert.equal(reasonOf('toString'), undefined);
  });

  it('ranks releases by how many nodes have them', () => {
    assert.deepEqual(releaseLooks(SMALL_MAP), [0, 1]);
  });
});

describe('the cells of a cluster', () => {
  const rules = cellRules(SMALL_MAP, KINDS, 'reason');

  it('tells which release most nodes of each DaemonSet have', () => {
    assert.deepEqual(usualReleases(SMALL_MAP), [0, 1]);
  });

  it('marks a pod with another release than most of its DaemonSet', () => {
    const looks = [...cellCodes(clusterAt(0), rules, 'all')].map(lookOf);
    assert.deepEqual(looks, [
      { kind: 'serving', variant: 0, isDim: false },
      { kind: 'serving', variant: 1, isDim: false },
      { kind: 'not-wanted', variant: 0, isDim: false },
    ]);
  });

  it('shows the rank of the release instead where that is asked for', () => {
    const byRelease = cellRules(SMALL_MAP, KINDS, 'release');
    const variants = [...cellCodes(clusterAt(0), byRelease, 'all')].map(lookOf);
    assert.deepEqual(
      variants.map(({ variant }) => variant),
      [0, 1, -1],
    );
  });

  it('dims what the search did not find', () => {
    const looks = [...cellCodes(clusterAt(0), rules, [1])].map(lookOf);
    assert.deepEqual(
      looks.map(({ isDim }) => isDim),
      [true, false, true],
    );
  });
});

describe('the search of the map', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['', ['eu-1', 'eu-2', 'eu-3', 'us-1', 'us-2', 'ap-1']],
    ['us-', ['us-1', 'us-2']],
    ['node:us-1', ['us-1']],
    ['cluster:prod-eu', ['eu-1', 'eu-2', 'eu-3']],
    ['label:stage=test', ['ap-1']],
    ['region=eu-west-1 7bb4', ['eu-2']],
    ['state:silent', ['ap-1']],
    ['daemonset:cilium', ['eu-3', 'us-1']],
    ['release:5d8f', ['eu-1', 'us-2', 'ap-1']],
    ['reason:imagepull', ['us-1']],
    ['cannot pulled', ['us-1']],
    ['reason:failing', ['us-1']],
    ['reason:unknown', ['ap-1']],
    // What it ran when it was heard last is not what it runs.
    ['reason:running', ['eu-1', 'eu-2', 'us-2']],
    ['cluster:prod reason:nothing', []],
  ];
  for (const [text, nodes] of cases) {
    it(`finds ${String(nodes.length)} nodes by "${text}"`, () => {
      assert.deepEqual(found(text), nodes);
      assert.equal(countFound(searchMap(SMALL_MAP, parseSearch(text))), nodes.length);
    });
  }
});
