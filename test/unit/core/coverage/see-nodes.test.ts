/** What counts as covered, and who is seen to join. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isApproved, seeCoverage } from '../../../../src/core/coverage/see-nodes.ts';
import { countCoverage } from '../../../../src/core/coverage/count-coverage.ts';
import type { Uid } from '../../../../src/core/model/identifiers.ts';
import type { NodeView } from '../../../../src/core/model/plan.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import type { CoverageRecord } from '../../../../src/core/model/state.ts';

const NOW_MS = 1_000_000_000_000;

interface Pod {
  readonly isReady?: boolean;
  readonly isTerminating?: boolean;
  readonly ownerUid?: string;
  readonly readyChangedAtMs?: number;
}

function node(name: string, pods: readonly Pod[], more: object = {}): NodeView {
  const { placement = 'run', createdAtMs = NOW_MS - 86_400_000 } = more as {
    readonly placement?: NodeView['placement'];
    readonly createdAtMs?: number;
  };
  return {
    node: { name, uid: `uid-of-node-${name}`, createdAtMs },
    placement,
    pods: pods.map((pod) => ({
      isReady: true,
      isTerminating: false,
      ownerUid: 'u',
      labels: {},
      ...pod,
    })),
  } as unknown as NodeView; // as much of it as is looked at
}

function look(nodes: readonly NodeView[], before?: CoverageRecord) {
  return seeCoverage({ nodes, uid: 'u' as Uid, nowMs: NOW_MS }, undefined, before);
}

function countedOn(nodes: readonly NodeView[]): CoverageRecord {
  const moment = {
    nowMs: NOW_MS,
    untilMs: NOW_MS,
    lastSentAtMs: NOW_MS,
    unheardMs: 0,
    broken: 0,
    stops: [],
  };
  return countCoverage(undefined, look(nodes), moment).record;
}

describe('nodes as coverage sees them', () => {
  it('counts an eligible node as covered by a Ready pod that stays', () => {
    const seen = look([
      node('a', [{}]),
      node('b', [{ isReady: false }]),
      node('c', [{ isTerminating: true }]),
      node('d', []),
      node('e', [{}], { placement: 'keep' }),
      node('f', [{ isTerminating: true }, {}]),
      node('g', [{ ownerUid: 'of-another' }]),
    ]);
    assert.deepEqual([seen.eligible, seen.covered], [6, 2]);
  });

  it('measures a node that joined once, from its creation to its Ready pod', () => {
    const old = countedOn([node('a', [{}])]);
    const createdAtMs = NOW_MS - 60_000;
    const waiting = look([node('a', [{}]), node('b', [], { createdAtMs })], old);
    assert.deepEqual([waiting.joined, waiting.joining?.length], [[], 1]);
    const ready = node('b', [{ readyChangedAtMs: createdAtMs + 9_000 }], { createdAtMs });
    const arrived = look([node('a', [{}]), ready], { ...old, ...waiting });
    assert.deepEqual([arrived.joined, arrived.joining], [[2], undefined]);
    assert.deepEqual(look([node('a', [{}]), ready], { ...old, ...arrived }).joined, []);
  });

  it('measures a node that was made in the second of another one, and none that was there', () => {
    const createdAtMs = NOW_MS - 60_000;
    const ready = { readyChangedAtMs: createdAtMs + 1_000 };
    const first = node('a', [ready], { createdAtMs });
    const old = countedOn([first]);
    assert.deepEqual(look([first, node('b', [ready], { createdAtMs })], old).joined, [0]);
    assert.deepEqual(look([first], old).joined, []);
  });

  it('waits for the taints of a new node to go, and not for ever', () => {
    const old = countedOn([node('a', [{}])]);
    const young = { placement: 'leave', createdAtMs: NOW_MS - 600_000 };
    assert.equal(look([node('b', [], young)], old).joining?.length, 1);
    const late = { placement: 'leave', createdAtMs: NOW_MS - 1_000_000 };
    assert.equal(look([node('b', [], late)], old).joining, undefined);
  });
});

describe('an approved release', () => {
  const pod = (hash: string) => ({ labels: { 'controller-revision-hash': hash } });
  const record = (more: Partial<RolloutRecord>) =>
    ({ hash: 'new', good: [{ hash: 'old' }], isReturn: false, ...more }) as RolloutRecord; // as much as is looked at
  const proven = (hash: string) => ({ proven: { hash, provenAtMs: 0, isBaseline: false } });

  for (const { text, more, isNew } of [
    { text: 'not before its canary passed', more: proven('old'), isNew: false },
    { text: 'once its canary passed', more: proven('new'), isNew: true },
    { text: 'on the way back to it', more: { isReturn: true }, isNew: true },
    { text: 'not while it is halted', more: { ...proven('new'), breach: {} }, isNew: false },
  ] as const) {
    it(`is a revision ${text}`, () => {
      assert.equal(isApproved(pod('new'), record(more as Partial<RolloutRecord>)), isNew);
      assert.equal(isApproved(pod('old'), record(more as Partial<RolloutRecord>)), true);
    });
  }

  it('is no revision that never passed, and every one without a policy', () => {
    assert.equal(isApproved(pod('other'), record({})), false);
    assert.equal(isApproved({ labels: {} }, record({})), false);
    assert.equal(isApproved(pod('other'), undefined), true);
  });
});
