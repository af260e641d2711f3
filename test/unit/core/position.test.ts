/** Stamps order as positions do (ADR 0076, S8). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { epoch, incarnation } from '../../../src/core/model/identifiers.ts';
import {
  ZERO_STAMP,
  compareStamps,
  eraOfStamp,
  laterStamp,
  stampOf,
} from '../../../src/core/model/position.ts';
import type { Position } from '../../../src/core/model/position.ts';

const positions: fc.Arbitrary<Position> = fc.record({
  era: fc.integer({ min: 0, max: 999_999 }),
  epoch: fc.bigInt({ min: 1n, max: 10n ** 39n - 1n }).map((value) => epoch(String(value))),
  incarnation: fc.constant(incarnation('same')),
  seq: fc.integer({ min: 0, max: 999_999_999_999 }),
});

function comparePositions(left: Position, right: Position): number {
  if (left.era !== right.era) return left.era - right.era;
  const epochs = BigInt(left.epoch) - BigInt(right.epoch);
  if (epochs !== 0n) return epochs < 0n ? -1 : 1;
  return left.seq - right.seq;
}

describe('stamps', () => {
  it('order as their positions: era, then epoch as a number, then seq (protocol 14)', () => {
    fc.assert(
      fc.property(positions, positions, (left, right) => {
        const byStamp = Math.sign(compareStamps(stampOf(left), stampOf(right)));
        assert.equal(byStamp, Math.sign(comparePositions(left, right)));
      }),
    );
  });

  it('say their era', () => {
    assert.equal(eraOfStamp(ZERO_STAMP), 0);
    fc.assert(
      fc.property(positions, (position) => {
        assert.equal(eraOfStamp(stampOf(position)), position.era);
      }),
    );
  });

  it('never compare a shorter epoch as text', () => {
    const at = (value: string): Position => ({
      era: 1,
      epoch: epoch(value),
      incarnation: incarnation('a'),
      seq: 1,
    });
    assert.ok(compareStamps(stampOf(at('999')), stampOf(at('1000'))) < 0);
  });

  it('never compare a shorter seq or era as text, and are equal for one position', () => {
    const at = (era: number, seq: number): Position => ({
      era,
      epoch: epoch('1'),
      incarnation: incarnation('a'),
      seq,
    });
    assert.ok(compareStamps(stampOf(at(1, 9)), stampOf(at(1, 10))) < 0);
    assert.ok(compareStamps(stampOf(at(10, 1)), stampOf(at(9, 1))) > 0);
    assert.equal(compareStamps(stampOf(at(1, 9)), stampOf(at(1, 9))), 0);
  });

  it('are as wide as stored stamps are: another release compares them as text', () => {
    const position = { era: 7, epoch: epoch('42'), incarnation: incarnation('x'), seq: 3 };
    assert.equal(stampOf(position), `000007.${'0'.repeat(37)}42.000000000003.x`);
  });

  it('are all later than the zero stamp', () => {
    fc.assert(
      fc.property(positions, (position) => {
        assert.equal(laterStamp(ZERO_STAMP, stampOf(position)), stampOf(position));
        assert.equal(laterStamp(stampOf(position), ZERO_STAMP), stampOf(position));
      }),
    );
  });
});
