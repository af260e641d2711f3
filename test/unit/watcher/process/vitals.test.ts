/** Signs of life at the watcher's borders, and the alarm that ends its sleep. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WatchSource } from '../../../../src/ports/cluster/watch-source.ts';
import { Alarm } from '../../../../src/watcher/session/session.ts';
import { observeSource, Vitals } from '../../../../src/watcher/process/vitals.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const AWAY = { kind: 'unavailable', message: 'away' } as const;

function observed(answers: Partial<Record<keyof WatchSource, unknown>>): {
  readonly source: WatchSource;
  readonly vitals: Vitals;
  readonly clock: VirtualClock;
} {
  const clock = new VirtualClock();
  const vitals = new Vitals(clock);
  const entries = Object.entries(answers).map(([name, answer]) => [
    name,
    () => Promise.resolve(answer),
  ]);
  const source = Object.fromEntries(entries) as unknown as WatchSource; // the calls of this test
  return { source: observeSource(source, vitals), vitals, clock };
}

describe('a list in pages', () => {
  it('is one list, whatever its pages; each of them is heard', async () => {
    const { source, vitals, clock } = observed({ listPage: { kind: 'ok', value: {} } });
    await source.listPage('Pod', { limit: 1 } as never);
    await clock.advance(1000);
    await source.listPage('Pod', { limit: 1, continueToken: 't' } as never);
    const stream = vitals.signs().streams.Pod;
    assert.deepEqual([stream?.listCount, stream?.heardMs], [1, clock.monotonicMs()]);
    await source.listPage('Pod', { limit: 1 } as never);
    assert.equal(vitals.signs().streams.Pod?.listCount, 2);
  });

  it('that fails is not heard, and says why until bytes come', async () => {
    const { source, vitals } = observed({ listPage: { kind: 'failed', failure: AWAY } });
    await source.listPage('Pod', { limit: 1 } as never);
    assert.deepEqual(vitals.signs().streams.Pod?.failure, AWAY);
    assert.equal(vitals.signs().streams.Pod?.heardMs, undefined);
    vitals.noteEnded('Pod');
    assert.deepEqual(vitals.signs().streams.Pod?.failure, AWAY, 'an end alone mends nothing');
    vitals.noteHeard('Pod');
    assert.equal(vitals.signs().streams.Pod?.failure, undefined);
  });
});

describe('the Lease', () => {
  it('counts as answered since the first answer after a failure', async () => {
    const clock = new VirtualClock();
    const vitals = new Vitals(clock);
    vitals.noteLease();
    const firstMs = clock.monotonicMs();
    await clock.advance(5000);
    vitals.noteLease();
    assert.deepEqual(
      [vitals.signs().answeringMs, vitals.signs().leaseMs],
      [firstMs, firstMs + 5000],
    );
    vitals.noteLease(AWAY);
    assert.deepEqual(
      [vitals.signs().answeringMs, vitals.signs().leaseMs, vitals.signs().leaseFailure],
      [undefined, firstMs + 5000, AWAY],
    );
  });

  it('that is written ambiguously was not answered; a conflict was', async () => {
    const ambiguous = observed({ writeLease: { kind: 'ambiguous', message: 'cut off' } });
    await ambiguous.source.writeLease({} as never);
    assert.deepEqual(ambiguous.vitals.signs().leaseFailure, {
      kind: 'unavailable',
      message: 'cut off',
    });
    const conflict = observed({ writeLease: { kind: 'conflict' } });
    await conflict.source.writeLease({} as never);
    assert.equal(conflict.vitals.signs().leaseMs, conflict.clock.monotonicMs());
  });
});

describe('a send', () => {
  it('that fails counts since the first one that did, until one is accepted', async () => {
    const clock = new VirtualClock();
    const vitals = new Vitals(clock);
    const outcome = { kind: 'unsent', message: 'no' } as const;
    vitals.noteSending();
    const firstMs = clock.monotonicMs();
    assert.equal(vitals.signs().sendingMs, firstMs);
    vitals.noteSent(outcome, true);
    await clock.advance(1000);
    vitals.noteSent(outcome, true);
    assert.deepEqual(vitals.signs().refusedSends, { sinceMs: firstMs, outcome });
    assert.deepEqual(
      [vitals.signs().sendingMs, vitals.signs().announcedMs],
      [undefined, undefined],
    );
    vitals.noteSent({ kind: 'accepted' }, false);
    assert.deepEqual(
      [vitals.signs().refusedSends, vitals.signs().acceptedMs, vitals.signs().announcedMs],
      [undefined, firstMs + 1000, undefined],
    );
    vitals.noteSent({ kind: 'accepted' }, true);
    assert.equal(vitals.signs().announcedMs, firstMs + 1000);
  });
});

describe('an alarm', () => {
  it('ends the sleep that is on, or the next one, and no more than that', async () => {
    const clock = new VirtualClock();
    const alarm = new Alarm(clock);
    const ends: string[] = [];
    const sleep = (name: string): void => {
      void alarm.sleepUntil(clock.monotonicMs() + 1000).then(() => ends.push(name));
    };
    alarm.ring();
    sleep('rung before');
    await clock.advance(0);
    assert.deepEqual(ends, ['rung before']);
    sleep('rung meanwhile');
    await clock.advance(10);
    assert.deepEqual(ends, ['rung before']);
    alarm.ring();
    await clock.advance(0);
    assert.deepEqual(ends, ['rung before', 'rung meanwhile']);
    sleep('due');
    await clock.advance(999);
    assert.equal(ends.length, 2);
    await clock.advance(1);
    assert.deepEqual(ends.slice(2), ['due']);
  });
});
