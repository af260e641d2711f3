/** The words for a pod that fits nowhere. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeFailure } from '../../../src/scheduler/describe-failure.ts';

const TAINTED = { reasons: ['node(s) had untolerated taint(s)'], dependsOnOtherPods: false };
const FULL = { reasons: ['Insufficient cpu', 'Too many pods'], dependsOnOtherPods: true };

describe('the message of an unschedulable pod', () => {
  it('counts the reasons in alphabetical order, and says whether preemption could help', () => {
    assert.equal(
      describeFailure({ nodeCount: 3, failures: [TAINTED, FULL, TAINTED] }),
      '0/3 nodes are available: 1 Insufficient cpu, 1 Too many pods, 2 node(s) had untolerated taint(s). ' +
        'no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, ' +
        '2 Preemption is not helpful for scheduling.',
    );
  });

  it('names the nodes that a pinned pod did not even look at', () => {
    assert.equal(
      describeFailure({ nodeCount: 4, failures: [TAINTED] }),
      "0/4 nodes are available: 1 node(s) had untolerated taint(s), 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. " +
        'no new claims to deallocate, preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.',
    );
  });

  it('has words of its own for no nodes, and for an affinity that excludes all names', () => {
    assert.equal(
      describeFailure({ nodeCount: 0, failures: [] }),
      'no nodes available to schedule pods',
    );
    assert.equal(
      describeFailure({ nodeCount: 2, failures: [], hasConflictingNames: true }),
      '0/2 nodes are available: pod affinity terms conflict. ' +
        'no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.',
    );
  });
});
