// What counts as growth: margins are wide enough for an ordinary day, and not for a leak or a timer chain.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mediansOf, memoryGrowth, rateGrowth, ratesOf, type Moment } from './growth.ts';

const MINUTE_MS = 60_000;
const SPAN = { fromMs: 0, toMs: 60 * MINUTE_MS };
const MIB = 1024 * 1024;

function minutely(valueAt: (minute: number) => number): readonly Moment[] {
  return Array.from({ length: 60 }, (_, minute) => {
    return { atMs: minute * MINUTE_MS, value: valueAt(minute) };
  });
}

describe('growth', () => {
  it('of requests is none while each third has as many', () => {
    const rates = ratesOf(
      minutely((minute) => 100 + 10 * (minute % 3)),
      SPAN,
    );
    assert.deepEqual(rates, [109.5, 110, 110.5]);
    assert.equal(rateGrowth('requests', rates), undefined);
  });

  it('L5: of requests is told when looks at one key never merge', () => {
    const rates = ratesOf(
      minutely((minute) => 100 + 20 * minute),
      SPAN,
    );
    assert.match(rateGrowth('requests', rates) ?? '', /requests grew from 290 to 1090 a minute/);
  });

  it('of memory is none for a heap that is collected now and then', () => {
    const medians = mediansOf(
      minutely((minute) => (100 + (minute % 5) * 10) * MIB),
      SPAN,
    );
    assert.equal(memoryGrowth('the watcher', medians), undefined);
  });

  it('of memory is told when two mebibytes a minute stay', () => {
    const medians = mediansOf(
      minutely((minute) => (100 + 2 * minute) * MIB),
      SPAN,
    );
    assert.match(
      memoryGrowth('the watcher', medians) ?? '',
      /the watcher grew from 160 MiB to 200/,
    );
  });

  it('is not judged where nothing was measured', () => {
    assert.throws(() => mediansOf([], SPAN), /without a measurement/);
  });
});
