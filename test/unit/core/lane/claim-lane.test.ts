/** S15: claims of the node lane as values for one compare-and-set (ADR 0058). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claimLane, releaseLane, withWaiter } from '../../../../src/core/lane/claim-lane.ts';
import { EMPTY_LANE, LANE_ENTRIES_MAX, LANE_WAITERS_MAX } from '../../../../src/core/lane/lane.ts';
import type { Lane, LaneEntry } from '../../../../src/core/lane/lane.ts';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';

function entry(node: string, owner: string, pod = 'old'): LaneEntry {
  return {
    node: nodeName(node),
    owner: uid(owner),
    namespace: 'ns',
    name: owner,
    pod: uid(`${owner}-${node}-${pod}`),
    claimedAtMs: 1,
    deadAtMs: 2,
  };
}

const laneOf = (...entries: readonly LaneEntry[]): Lane => ({ ...EMPTY_LANE, version: 3, entries });

describe('S15: a claim', () => {
  it('is granted on a node that nobody has, and refused on one that another has', () => {
    const taken = entry('n1', 'cni');
    const { lane, granted, busy } = claimLane(
      laneOf(taken),
      [entry('n1', 'agent'), entry('n2', 'agent')],
      [],
    );
    assert.deepEqual([...granted], ['n2']);
    assert.deepEqual(busy, [taken]);
    assert.deepEqual(
      lane.entries.map(({ node, owner }) => `${node} ${owner}`),
      ['n1 cni', 'n2 agent'],
    );
    assert.deepEqual(lane.waiters, [{ namespace: 'ns', name: 'agent' }]);
    assert.equal(lane.version, 3);
  });

  it('renews the own entry, also for another pod', () => {
    const { lane, granted } = claimLane(
      laneOf(entry('n1', 'agent')),
      [entry('n1', 'agent', 'x')],
      [],
    );
    assert.deepEqual([...granted], ['n1']);
    const down = { ...entry('n1', 'agent', 'x'), isDown: true } as const;
    assert.deepEqual(lane.entries, [down], 'the pod before it is gone');
    const again = claimLane(lane, [entry('n1', 'agent', 'x')], []).lane;
    assert.deepEqual(again.entries, [down]);
    const same = claimLane(laneOf(entry('n1', 'agent')), [entry('n1', 'agent')], []).lane;
    assert.deepEqual(same.entries, [entry('n1', 'agent')], 'nothing is known to be down');
  });

  it('takes over an entry that was judged free, unless it is another claim by now', () => {
    const judged = entry('n1', 'cni');
    const over = claimLane(laneOf(judged), [entry('n1', 'agent')], [judged]);
    assert.deepEqual([...over.granted], ['n1']);
    const renewed = laneOf(entry('n1', 'cni', 'newer'));
    assert.deepEqual([...claimLane(renewed, [entry('n1', 'agent')], [judged]).granted], []);
  });

  it('changes nothing where it is refused a second time: there is nothing to write', () => {
    const first = claimLane(laneOf(entry('n1', 'cni')), [entry('n1', 'agent')], []).lane;
    assert.equal(claimLane(first, [entry('n1', 'agent')], []).lane, first);
  });

  it('is refused by a lane that is full, and waiters are bounded', () => {
    const full = Array.from({ length: LANE_ENTRIES_MAX }, (_, index) => entry(`x${index}`, 'cni'));
    assert.deepEqual([...claimLane(laneOf(...full), [entry('n1', 'agent')], []).granted], []);
    const many = Array.from({ length: LANE_WAITERS_MAX }, (_, index) => ({
      namespace: 'ns',
      name: `w${index}`,
    }));
    assert.equal(withWaiter(many, { namespace: 'ns', name: 'agent' }), many);
  });

  it('leaves no waiter where all of it was granted', () => {
    const { lane } = claimLane(laneOf(), [entry('n1', 'agent')], []);
    assert.deepEqual(lane.waiters, []);
  });

  it('of nothing is nothing to write, but for entries that were judged free', () => {
    const taken = laneOf(entry('n1', 'cni'));
    assert.equal(claimLane(taken, [], []).lane, taken);
    assert.deepEqual(claimLane(taken, [], [entry('n1', 'cni')]).lane.entries, []);
  });

  it('is noted as waiting beside others of the same name, or the same namespace', () => {
    const others = [
      { namespace: 'other', name: 'agent' },
      { namespace: 'ns', name: 'proxy' },
    ];
    const own = { namespace: 'ns', name: 'agent' };
    assert.deepEqual(withWaiter(others, own), [...others, own]);
    const full = { ...laneOf(entry('n1', 'cni')), waiters: others };
    assert.deepEqual(claimLane(full, [entry('n1', 'agent')], []).lane.waiters, [...others, own]);
  });
});

describe('giving back', () => {
  it('wakes keys of the own name elsewhere, and of others here; the own key by its own entry alone', () => {
    const waiters = [
      { namespace: 'other', name: 'agent' },
      { namespace: 'ns', name: 'agent' },
      { namespace: 'ns', name: 'cni' },
    ];
    const lane = { ...laneOf(entry('n1', 'cni'), entry('n2', 'agent')), waiters };
    const woken = releaseLane(lane, uid('agent'), [entry('n2', 'agent')])?.woken;
    assert.deepEqual(woken, [waiters[0], waiters[2]]);
    assert.deepEqual(releaseLane(lane, uid('nobody'), [entry('n2', 'agent')])?.woken, waiters);
  });

  it('takes just those entries, and wakes everybody who waits but the own key', () => {
    const waiters = ['agent', 'proxy', 'cni'].map((name) => ({ namespace: 'ns', name }));
    const lane = { ...laneOf(entry('n1', 'agent'), entry('n2', 'agent')), waiters };
    const release = releaseLane(lane, uid('agent'), [entry('n1', 'agent')]);
    assert.deepEqual(release?.lane, { ...lane, entries: [entry('n2', 'agent')], waiters: [] });
    assert.deepEqual(
      release.woken.map(({ name }) => name),
      ['proxy', 'cni'],
    );
  });

  it('is nothing where none of them stands there any more', () => {
    assert.equal(releaseLane(laneOf(entry('n1', 'agent', 'x')), uid('agent'), []), undefined);
    const gone = [entry('n1', 'agent')];
    assert.equal(releaseLane(laneOf(entry('n1', 'agent', 'x')), uid('agent'), gone), undefined);
  });
});
