// The largest state, and the largest record of a fleet, fit their items: encoded as they are stored.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { encodeBody } from '../../../../src/adapters/dynamodb/item-codec.ts';
import {
  POOL_CLUSTERS_MAX,
  POOL_COUNTED_MAX,
  POOL_NODES_MAX,
} from '../../../../src/core/fleet/attribution/fleet-pool.ts';
import type { FleetRecord } from '../../../../src/core/fleet/rollout/fleet-record.ts';
import {
  FAILURE_MESSAGE_MAX,
  withFailure,
} from '../../../../src/core/fleet/rollout/note-verdict.ts';
import {
  clusterId,
  nodeName,
  resourceVersion,
  uid,
} from '../../../../src/core/model/identifiers.ts';
import type { RolloutRecord } from '../../../../src/core/model/rollout-record.ts';
import { emptyState, type DaemonSetState } from '../../../../src/core/model/state.ts';
import { boundState, burstWithin } from '../../../../src/core/plan/bound-state.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';
import { poolOf } from '../../../support/fleet-pools.ts';
import { clusterRecordOf, fleetRecordOf } from '../../../support/fleet-records.ts';
import { breachOf, recordOf } from '../../../support/rollout-records.ts';

const NODES = 15_000;
const CLUSTERS = 10_000;
/** What a batch of one run adds to the intents that are open. */
const BURST = 250;
const key = { pk: 'test', sk: 'largest' };

/** What a generator makes of ids, times and words that repeat nowhere. */
class Words {
  readonly #random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () =>
      Math.floor(this.#random.next() * 16).toString(16),
    ).join('');
  }

  uid() {
    return uid([8, 4, 4, 4, 12].map((digits) => this.hex(digits)).join('-'));
  }

  node() {
    return nodeName(
      `ip-10-${this.hex(2)}-${this.hex(2)}-${this.hex(2)}.eu-west-1.compute.internal`,
    );
  }

  atMs(): number {
    return NOW_MS + Math.floor(this.#random.next() * 900_000);
  }

  /** So many of something. */
  many<T>(count: number, make: () => T): readonly T[] {
    return Array.from({ length: count }, make);
  }
}

/** Of every node a refusal and a back-off, and as many intents as may be open. */
function largestState(words: Words): DaemonSetState {
  let intents: DaemonSetState['intents'] = [];
  for (let left = BURST; left > 0; left = burstWithin(BURST, { intents })) {
    intents = [
      ...intents,
      ...words.many(left, () => ({
        kind: 'delete' as const,
        node: words.node(),
        name: `agent-${words.hex(10)}`,
        uid: words.uid(),
        resourceVersion: resourceVersion(String(words.atMs())),
        recordedAtMs: words.atMs(),
        startsByMs: words.atMs(),
        isAccepted: true,
      })),
    ];
  }
  return {
    ...emptyState(NOW_MS),
    intents,
    rollout: largestRollout(words),
    backoff: words.many(NODES, () => ({
      node: words.node(),
      generation: 7,
      delayMs: 900_000,
      advancedAtMs: words.atMs(),
    })),
    refusals: words.many(NODES, () => ({
      node: words.node(),
      generation: 7,
      code: 'forbidden',
      message: `admission webhook "policy.example" denied the request: pod agent-${words.hex(8)} is ${words.uid()}`,
      delayMs: 900_000,
      notBeforeMs: words.atMs(),
    })),
  };
}

function largestRollout(words: Words): RolloutRecord {
  const { trial } = recordOf();
  const nodes = (count: number) => words.many(count, () => words.node());
  return recordOf({
    canary: nodes(500),
    groups: 32,
    losses: words.many(64, () => ({ node: words.node(), atMs: words.atMs(), added: words.node() })),
    baselines: words.many(64, () => ({ uid: words.uid(), restarts: 3, exitAtMs: words.atMs() })),
    turns: words.many(64, () => ({
      ...{ uid: words.uid(), node: words.node(), changedAtMs: words.atMs() },
      ...{ isReady: true, turns: 3, turnedAtMs: words.atMs() },
    })),
    awaited: words.many(64, () => ({ uid: words.uid(), sinceMs: words.atMs() })),
    refused: words.many(8, () => ({
      ...{ id: words.hex(32), hash: words.hex(10) },
      ...{ cause: 'OOMKilled' as const, atMs: words.atMs() },
    })),
    good: words.many(4, () => ({
      ...{ id: words.hex(32), hash: words.hex(10), goodAtMs: words.atMs() },
      ...{ isBaseline: false, leftAtMs: words.atMs() },
    })),
    opened: words.many(32, () => words.hex(1000)),
    placeless: nodes(NODES / 20),
    abandoned: words.many(8, () => words.hex(10)),
    breach: breachOf({ nodes: nodes(16) }),
    trial: { ...trial, outside: nodes(500), failed: nodes(500) },
  });
}

/** 33 stages, as many in the pool as it remembers, and every cluster that is told of failed with the longest message. */
function largestFleet(words: Words): FleetRecord {
  const id = () => clusterId(`cluster-${words.hex(40)}`);
  const failure = { cause: 'Conflict', atMs: NOW_MS, nodes: [] } as const;
  const { message = '' } =
    withFailure(clusterRecordOf('c'), { ...failure, message: words.hex(100_000) }).failure ?? {};
  assert.equal(message.length, FAILURE_MESSAGE_MAX);
  const breach = {
    cause: 'ClustersFailed',
    atMs: NOW_MS,
    message,
    clusters: words.many(16, id),
  } as const;
  const note = { by: words.hex(200), atMs: NOW_MS };
  return fleetRecordOf({
    stages: words.many(33, () => ({
      name: words.hex(63),
      members: { id: `12-${words.hex(26)}`, count: CLUSTERS },
      namesNobody: false,
    })),
    drifted: { count: CLUSTERS, clusters: words.many(16, id) },
    pool: poolOf({
      places: words.many(POOL_CLUSTERS_MAX, () => CLUSTERS),
      outside: words.many(POOL_NODES_MAX, () => nodeName(words.hex(16))),
      counted: words.many(POOL_COUNTED_MAX, id),
      failed: words.many(16, id),
    }),
    breach,
    refused: words.many(8, () => ({ contentHash: words.hex(64), cause: 'KnownBad', atMs: NOW_MS })),
    orders: {
      paused: note,
      resumed: { ...note, breach, why: words.hex(1000) },
    },
    untold: words.many(16, () => ({
      id: words.hex(200),
      kind: 'cluster-failed',
      atMs: NOW_MS,
      message: `${id()}: Conflict: ${message}`,
      cluster: id(),
    })),
    gate: { kind: 'refused', cluster: id(), message, sinceMs: NOW_MS, askAtMs: NOW_MS },
  });
}

describe('the largest items', () => {
  for (const seed of [1, 2, 3]) {
    it(`hold the state of a DaemonSet on ${String(NODES)} nodes, of which each waits: seed ${String(seed)}`, () => {
      const whole = largestState(new Words(seed));
      const { state, leftOut } = boundState(whole);
      // encodeBody throws beyond the bound of an item.
      assert.ok(encodeBody(key, state).byteLength > 0);
      assert.equal(leftOut, 2 * NODES - (state.refusals?.length ?? 0) - state.backoff.length);
      assert.equal(state.intents, whole.intents, 'nothing that was sent is forgotten');
    });

    it(`hold the record of a fleet of ${String(CLUSTERS)} clusters: seed ${String(seed)}`, () => {
      assert.ok(encodeBody(key, largestFleet(new Words(seed))).byteLength > 0);
    });

    it(`hold what steps found at ${String(CLUSTERS)} clusters, on 32 pages: seed ${String(seed)}`, () => {
      const words = new Words(seed);
      const page = words.many(Math.ceil(CLUSTERS / 32), () => ({
        cluster: clusterId(`cluster-${words.hex(40)}`),
        atMs: words.atMs(),
        kind: 'reverted',
        phase: 'returning',
        ratios: words.many(4, () => words.atMs() / 7),
      }));
      assert.ok(encodeBody(key, page).byteLength > 0);
    });
  }

  it('keep the waits that end soonest, in the order of their nodes', () => {
    const whole = largestState(new Words(4));
    const { state } = boundState(whole, 10);
    const ends = (whole.refusals ?? []).map(({ notBeforeMs }) => notBeforeMs).sort((a, b) => a - b);
    const kept = state.refusals ?? [];
    assert.deepEqual(
      kept.map(({ notBeforeMs }) => notBeforeMs).sort((a, b) => a - b),
      ends.slice(0, 10),
    );
    const nodes = kept.map(({ node }) => node);
    assert.deepEqual(nodes, nodes.toSorted());
    assert.equal(state.backoff.length, 10);
  });

  it('leave a state as it is that is small', () => {
    const small = emptyState(NOW_MS);
    assert.equal(boundState(small).state, small);
  });
});
