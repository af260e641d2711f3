/** The system clock and the system random source. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';

const run = promisify(execFile);

describe('system clock', () => {
  it('measures with a clock that never steps, and tells wall time', () => {
    const clock = createSystemClock();
    const first = clock.monotonicMs();
    assert.ok(clock.monotonicMs() >= first);
    const before = Date.now();
    const told = clock.nowMs();
    assert.ok(before <= told && told <= Date.now());
  });

  it('calls back once, and not after it was cancelled', async () => {
    const clock = createSystemClock();
    let calls = 0;
    const cancel = clock.after(1, () => (calls += 100));
    cancel();
    await new Promise<void>((resolve) => {
      clock.after(2, () => {
        calls += 1;
        resolve();
      });
    });
    cancel();
    assert.equal(calls, 1);
  });

  it('wakes a sleeper when its signal aborts, and never rejects', async () => {
    const clock = createSystemClock({ timers: 'unreferenced' });
    const controller = new AbortController();
    const sleeping = clock.sleep(3_600_000, controller.signal);
    controller.abort();
    await sleeping;
    await clock.sleep(3_600_000, AbortSignal.abort());
  });

  it('does not fire a delay of months at once', async () => {
    const clock = createSystemClock({ timers: 'unreferenced' });
    let isFired = false;
    const cancel = clock.after(90 * 86_400_000, () => (isFired = true));
    await clock.sleep(5);
    cancel();
    assert.equal(isFired, false);
  });

  it('lets a process end that has nothing but unreferenced timers', async () => {
    const url = new URL('../../../../packages/base/src/system/system-clock.ts', import.meta.url);
    const source = `const { createSystemClock } = await import(${JSON.stringify(url.href)});
      createSystemClock({ timers: 'unreferenced' }).after(2_000_000_000, () => {});`;
    await run(process.execPath, ['--input-type=module', '-e', source], { timeout: 300_000 });
  });
});

describe('system random', () => {
  it('gives numbers in [0, 1) that differ', () => {
    const random = createSystemRandom();
    const numbers = Array.from({ length: 1000 }, () => random.next());
    assert.ok(numbers.every((number) => number >= 0 && number < 1));
    assert.ok(new Set(numbers).size > 990);
    const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    assert.ok(mean > 0.4 && mean < 0.6);
  });

  it('gives ids of [0-9a-z] that hold at least 96 bits and never repeat', () => {
    const random = createSystemRandom();
    const ids = Array.from({ length: 1000 }, () => random.uniqueId());
    assert.ok(ids.every((id) => /^[0-9a-z]{25,26}$/.test(id)));
    assert.equal(new Set(ids).size, 1000);
  });
});
