/** Pods that turn not ready again and again, seen from projections alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  TURNS_MAX,
  advanceTurns,
  lastTurnMs,
  turnsOf,
} from '../../../../src/core/health/flapping.ts';
import type { PodTurns } from '../../../../src/core/model/rollout-record.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';

const MINUTE_MS = 60_000;
const SOAK_MS = 10 * MINUTE_MS;

/** The pod of n1, ready or not since so many minutes after its creation. */
function seen(isReady: boolean, changedAt: number): PodProjection {
  return pod('n1', {
    isReady,
    createdAtMs: NOW_MS,
    readyChangedAtMs: NOW_MS + changedAt * MINUTE_MS,
  });
}

/** Looks one after the other: readiness and when it changed, in minutes, each at once. */
function look(
  looks: readonly (readonly [boolean, number])[],
  isNodeReady = true,
): readonly PodTurns[] {
  return looks.reduce<readonly PodTurns[]>((known, [isReady, changedAt]) => {
    const at = { nowMs: NOW_MS + changedAt * MINUTE_MS, soakMs: SOAK_MS };
    return advanceTurns(known, [{ pod: seen(isReady, changedAt), isNodeReady }], at);
  }, []);
}

function countOf(looks: readonly (readonly [boolean, number])[]): number | undefined {
  return look(looks)[0]?.turns;
}

describe('turns', () => {
  it('count what happened between two looks', () => {
    assert.equal(
      countOf([
        [true, 1],
        [true, 3],
        [true, 5],
      ]),
      2,
    );
  });

  it('do not count a pod that comes up, nor a look at which nothing changed', () => {
    assert.deepEqual(look([[false, 0]]), []);
    assert.equal(
      countOf([
        [false, 0],
        [true, 1],
      ]),
      0,
    );
    const known = look([[true, 1]]);
    const pods = [{ pod: seen(true, 1), isNodeReady: true }];
    assert.equal(advanceTurns(known, pods, { nowMs: NOW_MS + MINUTE_MS, soakMs: SOAK_MS }), known);
  });

  it('count a pod that nobody watched when it is not ready long after its creation', () => {
    assert.equal(countOf([[false, 8]]), 1);
    assert.deepEqual(look([[false, 7]]), [], 'a kubelet may be five minutes ahead');
  });

  it('are of one chain while less than an hour, or a soak, lies between them', () => {
    assert.equal(
      countOf([
        [true, 1],
        [false, 2],
        [true, 3],
        [false, 62],
      ]),
      2,
    );
    assert.equal(
      countOf([
        [true, 1],
        [false, 2],
        [true, 3],
        [false, 63],
      ]),
      1,
    );
    const [entry] = look([
      [true, 1],
      [false, 2],
    ]);
    assert.ok(entry);
    assert.equal(turnsOf(entry, { nowMs: NOW_MS + 62 * MINUTE_MS, soakMs: SOAK_MS }), 1);
    assert.equal(turnsOf(entry, { nowMs: NOW_MS + 63 * MINUTE_MS, soakMs: SOAK_MS }), 0);
    assert.equal(turnsOf(entry, { nowMs: NOW_MS + 63 * MINUTE_MS, soakMs: 90 * MINUTE_MS }), 1);
  });

  it('of a pod that is gone are forgotten', () => {
    assert.deepEqual(advanceTurns(look([[true, 1]]), [], { nowMs: NOW_MS, soakMs: SOAK_MS }), []);
  });

  it('are kept of a bounded number of pods, those that turned first', () => {
    const pods = Array.from({ length: TURNS_MAX + 5 }, (_, index) => {
      const name = `n${String(index)}`;
      const isLast = index === TURNS_MAX + 4;
      const readyChangedAtMs = NOW_MS + 8 * MINUTE_MS;
      const options = {
        uid: uid(`u${String(index)}`),
        isReady: !isLast,
        createdAtMs: NOW_MS,
        readyChangedAtMs,
      };
      return { pod: pod(name, options), isNodeReady: true };
    });
    const turns = advanceTurns([], pods, { nowMs: NOW_MS, soakMs: SOAK_MS });
    assert.equal(turns.length, TURNS_MAX);
    assert.equal(turns[0]?.turns, 1);
  });
});

describe('lastTurnMs', () => {
  it('tells of a running pod whose readiness changed long after it came up', () => {
    assert.equal(lastTurnMs(seen(true, 90)), NOW_MS + 90 * MINUTE_MS);
    assert.equal(lastTurnMs(seen(true, 5)), undefined);
    assert.equal(lastTurnMs({ ...seen(false, 90), phase: 'Pending' }), undefined);
  });
});
