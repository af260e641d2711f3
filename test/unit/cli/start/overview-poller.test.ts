/** When the table of `npm start` is read again, and when what was read stands (issue 16). */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { OverviewPoller } from '../../../../src/cli/start/overview-poller.ts';

describe('the overview that is drawn', () => {
  let reads = 0;
  let whileReading: () => void = () => undefined;
  let counts = { started: 0, running: 0, zombies: 0 };
  let clock = new VirtualClock();
  let poller: OverviewPoller;

  beforeEach(() => {
    reads = 0;
    whileReading = () => undefined;
    counts = { started: 3, running: 0, zombies: 0 };
    clock = new VirtualClock();
    const overview = (): Promise<readonly []> => {
      reads += 1;
      whileReading();
      return Promise.resolve([]);
    };
    poller = new OverviewPoller({ overview, aws: { counts } }, clock);
  });

  async function readsOf(looks: number): Promise<number> {
    const before = reads;
    for (let look = 0; look < looks; look += 1) {
      await poller.latest();
      await clock.advance(500);
    }
    return reads - before;
  }

  it('stands while no function runs, and is read again after a minute', async () => {
    assert.equal(await readsOf(120), 1);
    assert.equal(await readsOf(120), 1);
  });

  it('is read at each look while a function runs, or is a zombie that may write yet', async () => {
    for (const one of ['running', 'zombies'] as const) {
      counts[one] = 1;
      assert.equal(await readsOf(4), 4);
      counts[one] = 0;
      assert.equal(await readsOf(4), 1);
    }
  });

  it('is read again once a function ran, also one that began and ended between two looks', async () => {
    await readsOf(2);
    counts.started += 1;
    assert.equal(await readsOf(4), 1);
  });

  it('does not stand when a function ran while it was read', async () => {
    whileReading = () => {
      counts.started += 1;
      whileReading = () => undefined;
    };
    assert.equal(await readsOf(4), 2);
  });

  it('is read anew for who decides by it', async () => {
    await readsOf(2);
    await poller.fresh();
    await poller.fresh();
    assert.equal(reads, 3);
  });
});
