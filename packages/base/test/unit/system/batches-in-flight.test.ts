/** What is asked for in one moment leaves together, and few requests are under way at once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchesInFlight } from '@rollcall/base/system/batches-in-flight.ts';

/** Flights of two items, of which each lasts until it is let go. */
function departures(inFlightMax: number): {
  readonly flights: BatchesInFlight<string>;
  readonly left: readonly (readonly string[])[];
  readonly land: () => void;
} {
  const left: (readonly string[])[] = [];
  const landing: (() => void)[] = [];
  const flights = new BatchesInFlight<string>({
    inFlightMax,
    board: (pending) => ({ batch: pending.slice(0, 2), rest: pending.slice(2) }),
    send: (batch) => {
      left.push(batch);
      return new Promise((resolve) => landing.push(resolve));
    },
  });
  return { flights, left, land: () => landing.shift()?.() };
}

async function turns(count: number): Promise<void> {
  for (let each = 0; each < count; each += 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe('flights', () => {
  it('leave with all of one moment, as many as a request takes, in the order of asking', async () => {
    const { flights, left } = departures(9);
    for (const item of ['a', 'b', 'c']) flights.add(item);
    assert.deepEqual(left, [], 'others of this moment may come');
    await turns(1);
    assert.deepEqual(left, [['a', 'b'], ['c']]);
  });

  it('wait for a place, and take along what came meanwhile', async () => {
    const { flights, left, land } = departures(1);
    for (const item of ['a', 'b', 'c']) flights.add(item);
    await turns(1);
    flights.add('d');
    await turns(3);
    assert.deepEqual(left, [['a', 'b']]);
    land();
    await turns(2);
    assert.deepEqual(left, [
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('take what is late at once, where there is a place', () => {
    const { flights, left } = departures(1);
    flights.addLate(['a', 'b', 'c']);
    assert.deepEqual(left, [['a', 'b']]);
  });
});
