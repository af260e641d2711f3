/** Of which moment a view is that several watches tell. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { doubtfulSince, momentOfView } from '../../../../src/core/coverage/view-moment.ts';

const AT_MS = 1_000_000_000_000;
const BOUND_MS = 120_000;

function heard(
  nodesAgoMs: number,
  podsAgoMs = 0,
  setsAgoMs = 0,
): Pick<Parameters<typeof doubtfulSince>[0], 'heardAtMs'> {
  return {
    heardAtMs: {
      Node: AT_MS - nodesAgoMs,
      Pod: AT_MS - podsAgoMs,
      DaemonSet: AT_MS - setsAgoMs,
    },
  };
}

describe('the moment of a view (S20)', () => {
  it('is that of the newest that it shows, while no watch is quiet for longer than bookmarks let it', () => {
    assert.equal(momentOfView({ ...heard(60_000, 0, BOUND_MS), isCutOpen: false }), AT_MS);
    assert.equal(momentOfView({ ...heard(0, 60_000), isCutOpen: false }), AT_MS);
  });

  it('is none where nodes, pods or the DaemonSet stand still beside the others', () => {
    for (const old of [
      heard(BOUND_MS + 1),
      heard(0, BOUND_MS + 1),
      heard(0, 0, BOUND_MS + 1),
    ] as const) {
      assert.equal(momentOfView({ ...old, isCutOpen: false }), undefined);
      assert.equal(doubtfulSince({ ...old, isCutOpen: false }, AT_MS), AT_MS - BOUND_MS - 1);
    }
    assert.equal(
      momentOfView({ heardAtMs: { Node: AT_MS, Pod: AT_MS }, isCutOpen: false }),
      undefined,
    );
  });

  it('is none while a flush is half told', () => {
    assert.equal(momentOfView({ ...heard(0), isCutOpen: true }), undefined);
  });
});
