/** The view (spec 2.4, 2.5, 2.7): grouping, order, held pods, strays, foreign names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import {
  CURRENT_HASH,
  daemonSet,
  failedPod,
  namedPod,
  node,
  pod,
  revision,
  slot,
  surging,
  view,
} from '../../../support/core-fixtures.ts';

const names = (pods: readonly PodProjection[] | undefined): readonly string[] =>
  (pods ?? []).map(({ name }) => name);

describe('grouping by node (spec 2.4)', () => {
  it('groups by bound node, else by the node that affinity names; others are untargeted', () => {
    const bound = namedPod('n1', 'bound');
    const aimed = namedPod('n1', 'aimed', { boundNode: null });
    const lost = namedPod('n1', 'lost', { boundNode: null, targetNode: null });
    const plain = namedPod('n1', 'plain', { targetNode: null });
    const seen = view({ nodes: [node('n1')], pods: [aimed, lost, plain, bound] });
    assert.deepEqual(names(seen.nodes[0]?.pods), ['bound', 'plain', 'aimed']);
    assert.deepEqual(names(seen.untargeted), ['lost']);
  });

  it('leaves out terminal terminating pods, which hold their name but not the node', () => {
    const failed = failedPod('n1', { name: 'a', isTerminating: true });
    const succeeded = namedPod('n1', 'b', { phase: 'Succeeded', isTerminating: true });
    const leaving = namedPod('n1', 'leaving', { isTerminating: true });
    const seen = view({ nodes: [node('n1')], pods: [failed, leaving, succeeded] });
    assert.deepEqual(names(seen.nodes[0]?.pods), ['leaving']);
    assert.deepEqual(names(seen.nodes[0]?.held), ['a', 'b']);
  });

  it('puts pods of absent nodes among the strays, held ones too, by name', () => {
    const stray = namedPod('gone', 'b', { boundNode: null });
    const held = failedPod('gone', { name: 'a', isTerminating: true });
    const seen = view({ nodes: [node('n1')], pods: [stray, held] });
    assert.deepEqual(names(seen.strays), ['a', 'b']);
    assert.deepEqual(seen.nodes[0]?.pods, []);
  });

  it('counts adopted orphans, and not released pods (spec faults 85)', () => {
    const orphan = namedPod('n1', 'orphan', { ownerUid: null });
    const released = namedPod('n1', 'released', { labels: { app: 'other' } });
    const seen = view({ nodes: [node('n1')], pods: [released, orphan] });
    assert.deepEqual(names(seen.nodes[0]?.pods), ['orphan']);
    assert.deepEqual(names(seen.toAdopt), ['orphan']);
    assert.deepEqual(names(seen.toRelease), ['released']);
  });

  it('ignores pods of another owner', () => {
    const foreign = namedPod('n1', 'foreign', { ownerUid: uid('other') });
    const seen = view({ nodes: [node('n1')], pods: [foreign] });
    assert.deepEqual(seen.nodes[0]?.pods, []);
    assert.equal(seen.hasForeignNames, false);
  });
});

describe('order', () => {
  it('does not depend on the order of nodes, pods or revisions', () => {
    const nodes = [node('b'), node('a'), node('c')];
    const pods = [
      namedPod('a', 'y', { createdAtMs: 5 }),
      namedPod('a', 'x', { createdAtMs: 5 }),
      namedPod('a', 'w', { createdAtMs: 4 }),
    ];
    const revisions = [revision(2), revision(1), revision(1, { name: 'agent-0' })];
    const forward = view({ nodes, pods, revisions });
    const backward = view({
      nodes: nodes.toReversed(),
      pods: pods.toReversed(),
      revisions: revisions.toReversed(),
    });
    assert.deepEqual(forward, backward);
    assert.deepEqual(
      forward.nodes.map(({ node: { name } }) => name),
      ['a', 'b', 'c'],
    );
    assert.deepEqual(names(forward.nodes[0]?.pods), ['w', 'x', 'y']);
    assert.deepEqual(
      forward.revisions.map(({ name }) => name),
      ['agent-0', 'agent-1', 'agent-2'],
    );
  });
});

describe('claims', () => {
  const orphans = [
    namedPod('n1', 'b', { ownerUid: null }),
    namedPod('n1', 'a', { ownerUid: null }),
  ];
  const strangers = [
    namedPod('n1', 'd', { labels: { app: 'other' } }),
    namedPod('n1', 'c', { labels: { app: 'other' } }),
  ];

  it('do not depend on the order of the pods', () => {
    for (const pods of [[...orphans, ...strangers], [...strangers, ...orphans].toReversed()]) {
      const seen = view({ nodes: [node('n1')], pods });
      assert.deepEqual(names(seen.toAdopt), ['a', 'b']);
      assert.deepEqual(names(seen.toRelease), ['c', 'd']);
    }
  });

  it('put an adopted pod where its age puts it among the owned ones', () => {
    const [orphan] = orphans;
    const pods = [namedPod('n1', 'z', { createdAtMs: 5 }), { ...orphan, createdAtMs: 4 }];
    const seen = view({ nodes: [node('n1')], pods: pods as readonly PodProjection[] });
    assert.deepEqual(names(seen.nodes[0]?.pods), ['b', 'z']);
  });

  it('are not made for a DaemonSet that is being deleted (spec 2.4, S5)', () => {
    const set = daemonSet({ metadata: { deletionTimestamp: 'now' } });
    const seen = view({ daemonSet: set, nodes: [node('n1')], pods: [...orphans, ...strangers] });
    assert.deepEqual(seen.toAdopt, []);
    assert.deepEqual(seen.toRelease, []);
  });
});

describe('placement and identity', () => {
  it('names the DaemonSet, also one without a namespace', () => {
    const seen = view({ daemonSet: daemonSet({ metadata: { namespace: undefined } }) });
    assert.equal(seen.namespace, '');
    assert.equal(seen.name, 'agent');
  });
});

describe('foreign names (protocol 9)', () => {
  const rows: readonly [string, PodProjection, boolean][] = [
    ['the slot name', pod('n1'), false],
    ['a generated name', namedPod('n1', 'agent-x7k2p'), true],
    ['the slot name of another node', namedPod('n1', slot('n2')), true],
    ['a held pod under another name', failedPod('n1', { name: 'x', isTerminating: true }), true],
    ['no target at all', pod('n1', { boundNode: null, targetNode: null }), true],
    ['a stray under its slot name', pod('gone', { boundNode: null }), false],
    ['the slot of a revision, without surge', namedPod('n1', slot('n1', CURRENT_HASH)), true],
    ['the plain slot, bound only', pod('n1', { targetNode: null }), false],
  ];
  for (const [title, seen, expected] of rows) {
    it(`${expected}: ${title}`, () => {
      assert.equal(view({ nodes: [node('n1')], pods: [seen] }).hasForeignNames, expected);
    });
  }

  it('with surge each pod is compared with the slot of its own revision (S2)', () => {
    const set = daemonSet({ spec: surging() });
    const labels = { app: 'agent', 'controller-revision-hash': 'old' };
    const current = namedPod('n1', slot('n1', CURRENT_HASH));
    const old = namedPod('n1', slot('n1', 'old'), { labels });
    const look = (pods: readonly PodProjection[]): boolean =>
      view({ daemonSet: set, nodes: [node('n1')], pods }).hasForeignNames;
    assert.equal(look([current, old]), false);
    assert.equal(look([pod('n1')]), true);
    assert.equal(look([pod('n1', { labels: { app: 'agent' } })]), false);
  });

  it('uses the bound node over nothing else when both are known', () => {
    const target = nodeName('n1');
    assert.equal(view({ pods: [pod('n1', { targetNode: target })] }).hasForeignNames, false);
  });
});
