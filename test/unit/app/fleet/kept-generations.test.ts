// Which generations stay once another one is applied.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GENERATIONS_KEPT, nextHistory } from '../../../../src/app/fleet/apply-fleet.ts';
import type { FleetRelease } from '../../../../src/core/fleet/rollout/fleet-record.ts';

function releaseOf(generation: number): FleetRelease {
  const documentId = `document-${String(generation)}`;
  return { generation, documentId, appliedAtMs: 1, appliedBy: 'somebody', contentHash: 'c' };
}

const generations = (history: readonly FleetRelease[]): readonly number[] =>
  history.map(({ generation }) => generation);

describe('the generations that are kept', () => {
  it('are the newest ones, the newest first, with the next one ten', () => {
    let history: readonly FleetRelease[] = [];
    for (let present = 1; present < 30; present += 1) {
      history = nextHistory(releaseOf(present), history, undefined);
      const kept = Math.min(present, GENERATIONS_KEPT - 1);
      assert.deepEqual(
        generations(history),
        Array.from({ length: kept }, (_, index) => present - index),
      );
    }
  });

  it('are what the record of the rollout names as well, however old', () => {
    const record = {
      release: releaseOf(3),
      good: [2, 1].map((generation) => ({
        ...releaseOf(generation),
        ...{ id: String(generation), goodAtMs: 1, isBaseline: false },
      })),
    };
    let history: readonly FleetRelease[] = [];
    for (let present = 1; present < 30; present += 1) {
      history = nextHistory(releaseOf(present), history, record);
    }
    assert.deepEqual(generations(history), [29, 28, 27, 26, 25, 24, 23, 22, 21, 3, 2, 1]);
    // They go once they are named no more.
    const after = nextHistory(releaseOf(30), history, { release: releaseOf(3), good: [] });
    assert.deepEqual(generations(after).slice(-2), [22, 3]);
  });
});
