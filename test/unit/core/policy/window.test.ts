// Instants are given in UTC, and what they are in each zone in the title or beside them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isOpen, isTimeZone, nextOpeningMs } from '../../../../src/core/policy/window.ts';
import type { RolloutWindow, Weekday } from '../../../../src/core/policy/rollout-policy.ts';

const EVERY_DAY: readonly Weekday[] = [0, 1, 2, 3, 4, 5, 6];
const [SUNDAY, MONDAY, FRIDAY, SATURDAY] = [0, 1, 5, 6] as const;

/** `clock('22:00')`: minutes since midnight. */
function clock(text: string): number {
  return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
}

function windowOf(
  span: string,
  timeZone: string,
  days: readonly Weekday[] = EVERY_DAY,
): RolloutWindow {
  const [from = '', to = ''] = span.split('–');
  return { days, startMinute: clock(from), endMinute: clock(to), timeZone };
}

const at = (text: string): number => Date.parse(`${text}Z`);

/** At which of these instants it is open. */
function openAt(window: RolloutWindow, instants: readonly string[]): readonly string[] {
  return instants.filter((instant) => isOpen([window], at(instant)));
}

function nextOf(windows: readonly RolloutWindow[], from: string): string | undefined {
  const next = nextOpeningMs(windows, at(from));
  return next === undefined ? undefined : new Date(next).toISOString().slice(0, 16);
}

describe('isOpen of core/policy/window.ts', () => {
  it('without windows always, and then the next opening is now', () => {
    assert.equal(isOpen([], at('2026-11-25T09:00')), true);
    assert.equal(nextOpeningMs([], 12_345), 12_345);
  });

  it('from its first minute on, and not any more at its last', () => {
    const window = windowOf('09:00–17:00', 'UTC');
    const instants = ['08:59:59', '09:00:00', '16:59:59', '17:00:00'];
    assert.deepEqual(
      openAt(
        window,
        instants.map((time) => `2026-11-25T${time}`),
      ),
      ['2026-11-25T09:00:00', '2026-11-25T16:59:59'],
    );
  });

  it('over midnight into the day after its own, and its weekday is the one it starts on', () => {
    const window = windowOf('22:00–04:00', 'UTC', [FRIDAY]);
    // 2026-11-27 is a Friday.
    const inside = ['2026-11-27T22:00', '2026-11-27T23:59', '2026-11-28T00:00', '2026-11-28T03:59'];
    const outside = [
      '2026-11-27T03:00',
      '2026-11-27T21:59',
      '2026-11-28T04:00',
      '2026-11-28T22:00',
    ];
    assert.deepEqual(openAt(window, [...inside, ...outside]), inside);
  });

  it('from Saturday to Sunday as well, where the week of JavaScript begins', () => {
    const window = windowOf('22:00–04:00', 'UTC', [SATURDAY]);
    assert.deepEqual(openAt(window, ['2026-11-28T23:00', '2026-11-29T03:00', '2026-11-29T23:00']), [
      '2026-11-28T23:00',
      '2026-11-29T03:00',
    ]);
  });

  it('until 24:00 and from 00:00, at midnight too', () => {
    assert.deepEqual(
      openAt(windowOf('20:00–24:00', 'UTC'), ['2026-11-25T23:59', '2026-11-26T00:00']),
      ['2026-11-25T23:59'],
    );
    assert.deepEqual(
      openAt(windowOf('00:00–01:00', 'UTC'), ['2026-11-25T23:59', '2026-11-26T00:00']),
      ['2026-11-26T00:00'],
    );
  });

  it('in one of several windows', () => {
    const windows = [windowOf('01:00–02:00', 'UTC'), windowOf('09:00–10:00', 'Europe/Kyiv')];
    // 07:30 UTC is 09:30 in Kyiv.
    assert.equal(isOpen(windows, at('2026-11-25T07:30')), true);
    assert.equal(isOpen(windows, at('2026-11-25T09:30')), false);
  });

  it('by local days: Sunday evening in Los Angeles is Monday in UTC', () => {
    const window = windowOf('18:00–22:00', 'America/Los_Angeles', [SUNDAY]);
    assert.deepEqual(openAt(window, ['2026-11-30T03:00', '2026-11-29T19:00']), [
      '2026-11-30T03:00',
    ]);
  });

  it('an hour that Berlin skips is no hour: 02:00–03:00 does not open on 29 March', () => {
    const window = windowOf('02:00–03:00', 'Europe/Berlin');
    // 00:59 UTC is 01:59, 01:00 UTC is 03:00.
    assert.deepEqual(
      openAt(window, ['2026-03-29T00:59', '2026-03-29T01:00', '2026-03-29T01:30']),
      [],
    );
    assert.deepEqual(openAt(window, ['2026-03-30T00:30']), ['2026-03-30T00:30']);
  });

  it('a window that a skipped hour cuts opens after it', () => {
    const window = windowOf('02:30–04:00', 'Europe/Berlin');
    assert.deepEqual(openAt(window, ['2026-03-29T00:59', '2026-03-29T01:00', '2026-03-29T01:59']), [
      '2026-03-29T01:00',
      '2026-03-29T01:59',
    ]);
  });

  it('an hour that Berlin repeats is open twice: 02:00–03:00 on 25 October lasts for two', () => {
    const window = windowOf('02:00–03:00', 'Europe/Berlin');
    assert.deepEqual(
      openAt(window, [
        '2026-10-24T23:59',
        '2026-10-25T00:00',
        '2026-10-25T01:59',
        '2026-10-25T02:00',
      ]),
      ['2026-10-25T00:00', '2026-10-25T01:59'],
    );
  });

  it('Santiago skips midnight on 6 September: the window starts at 01:00, on Sunday', () => {
    const window = windowOf('00:00–02:00', 'America/Santiago', [SUNDAY]);
    // 03:59 UTC is Saturday 23:59, 04:00 UTC is Sunday 01:00.
    assert.deepEqual(
      openAt(window, [
        '2026-09-06T03:59',
        '2026-09-06T04:00',
        '2026-09-06T04:59',
        '2026-09-06T05:00',
      ]),
      ['2026-09-06T04:00', '2026-09-06T04:59'],
    );
  });

  it('Santiago repeats 23:00–24:00 on 4 April, a Saturday', () => {
    const window = windowOf('23:00–24:00', 'America/Santiago', [SATURDAY]);
    assert.deepEqual(
      openAt(window, [
        '2026-04-05T01:59',
        '2026-04-05T02:00',
        '2026-04-05T03:59',
        '2026-04-05T04:00',
      ]),
      ['2026-04-05T02:00', '2026-04-05T03:59'],
    );
  });

  it('Lord Howe shifts by half an hour: 01:30–02:00 is repeated on 5 April, 02:00–02:30 skipped on 4 October', () => {
    const repeated = windowOf('01:30–02:00', 'Australia/Lord_Howe');
    // 14:30 UTC is 01:30 of +11, 15:00 UTC is 01:30 of +10:30.
    assert.deepEqual(
      openAt(repeated, [
        '2026-04-04T14:29',
        '2026-04-04T14:30',
        '2026-04-04T15:29',
        '2026-04-04T15:30',
      ]),
      ['2026-04-04T14:30', '2026-04-04T15:29'],
    );
    const skipped = windowOf('02:00–02:30', 'Australia/Lord_Howe', [SUNDAY]);
    assert.deepEqual(
      openAt(skipped, ['2026-10-03T15:29', '2026-10-03T15:30', '2026-10-03T15:59']),
      [],
    );
  });
});

describe('nextOpeningMs of core/policy/window.ts', () => {
  it('is the first minute of the next window', () => {
    const windows = [windowOf('22:07–04:00', 'Europe/Berlin', [MONDAY])];
    assert.equal(nextOf(windows, '2026-11-25T09:03'), '2026-11-30T21:07');
  });

  it('is the nearest of several windows in several zones', () => {
    const windows = [windowOf('22:00–23:00', 'UTC'), windowOf('22:00–23:00', 'Asia/Kathmandu')];
    // Kathmandu is 5:45 ahead.
    assert.equal(nextOf(windows, '2026-11-25T09:03'), '2026-11-25T16:15');
  });

  it('is now, to the millisecond, inside a window', () => {
    const nowMs = at('2026-11-25T09:03') + 17;
    assert.equal(nextOpeningMs([windowOf('09:00–10:00', 'UTC')], nowMs), nowMs);
  });

  it('is a week ahead just after a weekly window', () => {
    const windows = [windowOf('09:00–10:00', 'UTC', [MONDAY])];
    assert.equal(nextOf(windows, '2026-11-23T10:00'), '2026-11-30T09:00');
  });

  it('is where a skipped hour ends', () => {
    const windows = [windowOf('02:30–04:00', 'Europe/Berlin')];
    assert.equal(nextOf(windows, '2026-03-29T00:40'), '2026-03-29T01:00');
  });

  it('is unknown when the zone skips the only one of the next eight days', () => {
    const windows = [windowOf('02:00–03:00', 'Europe/Berlin', [SUNDAY])];
    assert.equal(nextOf(windows, '2026-03-22T03:00'), undefined);
    assert.equal(nextOf(windows, '2026-03-29T03:00'), '2026-04-05T00:00');
  });

  it('is the first minute at which isOpen says so, minute by minute, in zones of any habit', () => {
    const zones = [
      'UTC',
      'Europe/Kyiv',
      'America/Santiago',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
    ];
    const minute = fc.integer({ min: 0, max: 1439 });
    const window = fc.record({
      days: fc.subarray([...EVERY_DAY], { minLength: 3 }),
      startMinute: minute,
      length: fc.integer({ min: 15, max: 600 }),
      timeZone: fc.constantFrom(...zones),
    });
    // Around the days on which these zones shift.
    const instant = fc
      .tuple(
        fc.constantFrom('2026-03-28', '2026-04-04', '2026-09-05', '2026-10-03', '2026-10-24'),
        fc.integer({ min: 0, max: 3 * 86_400_000 }),
      )
      .map(([day, offsetMs]) => Date.parse(`${day}T00:00Z`) + offsetMs);
    fc.assert(
      fc.property(fc.array(window, { minLength: 1, maxLength: 2 }), instant, (drawn, nowMs) => {
        const windows = drawn.map(({ length, ...rest }) => ({
          ...rest,
          endMinute: (rest.startMinute + length) % 1440 || 1440,
        }));
        const next = nextOpeningMs(windows, nowMs);
        assert.ok(next !== undefined && next >= nowMs);
        assert.ok(isOpen(windows, next));
        if (next === nowMs) return;
        // The minutes before: a day of them says enough.
        const firstMs = Math.max(nowMs, next - 86_400_000);
        for (let earlierMs = next - 60_000; earlierMs >= firstMs; earlierMs -= 60_000) {
          assert.equal(isOpen(windows, earlierMs), false, new Date(earlierMs).toISOString());
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('isTimeZone of core/policy/window.ts', () => {
  for (const name of ['UTC', 'Europe/Kyiv', 'Europe/Berlin', 'America/Argentina/Buenos_Aires']) {
    it(`takes ${name}`, () => {
      assert.equal(isTimeZone(name), true);
    });
  }

  const refused = [
    ['EST', 'is Panama’s'],
    ['Etc/GMT+2', 'is two hours behind'],
    ['+02:00', 'has no summer time'],
    ['Europe/Atlantis', 'is nowhere'],
    ['Europe', 'is no city'],
    ['', 'says nothing'],
    ['Local', 'is the process’s'],
  ] as const;
  for (const [name, why] of refused) {
    it(`refuses ${JSON.stringify(name)}, which ${why}`, () => {
      assert.equal(isTimeZone(name), false);
    });
  }

  it('of 1,000 zone names none is kept that does not exist', () => {
    for (let index = 0; index < 1000; index += 1)
      assert.equal(isTimeZone(`Europe/No${index}`), false);
  });
});
