/** Timers of the runs of a batch, on virtual time: they leave together, and nobody waits for a slow one (ADR 0048). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { TimersTogether } from '../../../functions/reconcile/timers-together.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { Timer } from '../../../src/core/model/hint.ts';

/** A run that sends its timer after so long, or none, and lasts as long again. */
interface Run {
  readonly sendsAtMs?: number;
  readonly endsAtMs?: number;
}

function timerOf(name: string): Timer {
  const key = { cluster: clusterId('west-1'), namespace: 'agents', name };
  const hint = { schema: 1, key, clusterUid: clusterUid('uid-1'), reason: 'retry' } as const;
  return { schema: 1, hint, timerId: name, dueAtMs: 2_000, hops: 0 };
}

/** Plays runs side by side; answers when each send left, with whose timers, and what became of the runs. */
async function play(
  runs: Readonly<Record<string, Run>>,
  takes: (timers: readonly Timer[]) => Promise<void> = () => Promise.resolve(),
): Promise<{ readonly sends: readonly string[]; readonly ends: readonly string[] }> {
  const clock = new VirtualClock();
  const sends: string[] = [];
  const ends: string[] = [];
  const together = new TimersTogether({
    clock,
    queue: {
      sendTimers: (timers) => {
        const names = timers.map(({ timerId }) => timerId).join(' ');
        sends.push(`${String(clock.monotonicMs())} ${names}`);
        return takes(timers);
      },
    },
  });
  const all = Object.entries(runs).map(([name, { sendsAtMs, endsAtMs = 0 }]) =>
    together
      .during(async () => {
        await clock.sleep(sendsAtMs ?? endsAtMs);
        if (sendsAtMs !== undefined) await together.sendTimers([timerOf(name)]);
      })
      .then(
        () => ends.push(`${String(clock.monotonicMs())} ${name}`),
        (error: unknown) => ends.push(`${name}: ${String(error)}`),
      ),
  );
  await clock.advance(60_000);
  await Promise.all(all);
  return { sends, ends };
}

describe('timers of a batch', () => {
  it('leave at once where a run is alone', async () => {
    const { sends, ends } = await play({ a: { sendsAtMs: 10 } });
    assert.deepEqual(sends, ['10 a']);
    assert.deepEqual(ends, ['10 a']);
  });

  it('leave together when the last run beside them has sent its own', async () => {
    const { sends, ends } = await play({
      a: { sendsAtMs: 10 },
      b: { sendsAtMs: 25 },
      c: { sendsAtMs: 40 },
    });
    assert.deepEqual(sends, ['40 a b c']);
    assert.deepEqual(ends, ['40 a', '40 b', '40 c']);
  });

  it('leave when whoever has none has ended', async () => {
    const { sends } = await play({
      a: { sendsAtMs: 10 },
      skipped: { endsAtMs: 5 },
      none: { endsAtMs: 30 },
    });
    assert.deepEqual(sends, ['30 a']);
  });

  it('wait for a slow run 50 ms, and each time anew (L3)', async () => {
    const { sends, ends } = await play({
      a: { sendsAtMs: 10 },
      b: { sendsAtMs: 30 },
      slow: { sendsAtMs: 2_000 },
      hung: { endsAtMs: 20_000 },
    });
    assert.deepEqual(sends, ['60 a b', '2050 slow']);
    assert.deepEqual(ends, ['60 a', '60 b', '2050 slow', '20000 hung']);
  });

  it('fail the runs whose timers were not taken, and nobody else (protocol 12)', async () => {
    const { sends, ends } = await play(
      { a: { sendsAtMs: 10 }, b: { sendsAtMs: 20 }, late: { sendsAtMs: 500 } },
      (timers) =>
        timers.some(({ timerId }) => timerId === 'a')
          ? Promise.reject(new Error('not taken'))
          : Promise.resolve(),
    );
    assert.deepEqual(sends, ['60 a b', '500 late']);
    assert.deepEqual(ends, ['a: Error: not taken', 'b: Error: not taken', '500 late']);
  });
});
