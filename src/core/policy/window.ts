/**
 * Whether steps may open now, and when they may next: windows of local days in a time zone (issue 17).
 *
 * Evaluated forwards only, from an instant to the local weekday and minute. No local time is ever turned into an
 * instant, so hours that a zone skips or repeats cannot fail: a window that lies in a skipped hour does not open that
 * day, one in a repeated hour stays open for both. A window that ends before it starts goes on into the next day; its
 * weekday is the one on which it starts. Assumes zones that `isTimeZone` accepts, whose offsets change at quarter hours
 * of UTC, as all of today's do. Rules of zones are those of the runtime's ICU.
 */
import type { RolloutWindow, Weekday } from './rollout-policy.ts';

const MINUTE_MS = 60_000;
const QUARTER_MS = 15 * MINUTE_MS;
const MINUTES_OF_DAY = 1440;
/** A window opens within a week, or lies in a skipped hour of this one. */
const AHEAD_MS = 8 * 24 * 60 * MINUTE_MS;

/** Area/City, or UTC. Etc/GMT+2 is two hours *behind* UTC, which surprises users; EST is Panama's. */
const ZONE_NAME = /^(UTC|(?!Etc\/|SystemV\/)[A-Za-z_]+(\/[A-Za-z0-9_+-]+){1,2})$/;

/** Whether the runtime knows the zone, and its name says what people think. */
export function isTimeZone(name: string): boolean {
  if (!ZONE_NAME.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** Whether a step may open at this instant; without windows always. */
export function isOpen(windows: readonly RolloutWindow[], nowMs: number): boolean {
  return (
    windows.length === 0 ||
    windows.some((window) => isInside(window, localTime(window.timeZone, nowMs)))
  );
}

/**
 * The first instant from now on at which a step may open, to the minute; `nowMs` itself if that is now. Undefined:
 * none within eight days, because the zone skips it this week: ask again then.
 */
export function nextOpeningMs(
  windows: readonly RolloutWindow[],
  nowMs: number,
): number | undefined {
  if (isOpen(windows, nowMs)) return nowMs;
  const zones = [...new Set(windows.map(({ timeZone }) => timeZone))];
  const fromMs = Math.floor(nowMs / QUARTER_MS) * QUARTER_MS;
  for (let quarterMs = fromMs; quarterMs < nowMs + AHEAD_MS; quarterMs += QUARTER_MS) {
    // Inside a quarter hour of UTC each zone's minutes just count on.
    const locals = new Map(zones.map((zone) => [zone, localTime(zone, quarterMs)]));
    for (let minute = 0; minute < QUARTER_MS / MINUTE_MS; minute += 1) {
      const instantMs = quarterMs + minute * MINUTE_MS;
      if (instantMs <= nowMs) continue;
      const isOneOpen = windows.some((window) => {
        const local = locals.get(window.timeZone);
        return local !== undefined && isInside(window, later(local, minute));
      });
      if (isOneOpen) return instantMs;
    }
  }
  return undefined;
}

interface LocalTime {
  readonly weekday: Weekday;
  /** Since local midnight. */
  readonly minute: number;
}

function isInside(window: RolloutWindow, { weekday, minute }: LocalTime): boolean {
  const { days, startMinute, endMinute } = window;
  if (startMinute < endMinute) {
    return minute >= startMinute && minute < endMinute && days.includes(weekday);
  }
  if (minute >= startMinute) return days.includes(weekday);
  return minute < endMinute && days.includes(((weekday + 6) % 7) as Weekday);
}

function later({ weekday, minute }: LocalTime, minutes: number): LocalTime {
  const sum = minute + minutes;
  if (sum < MINUTES_OF_DAY) return { weekday, minute: sum };
  return { weekday: ((weekday + 1) % 7) as Weekday, minute: sum - MINUTES_OF_DAY };
}

const WEEKDAYS: readonly string[] = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

function localTime(timeZone: string, atMs: number): LocalTime {
  const parts = new Map(
    formatterOf(timeZone)
      .formatToParts(atMs)
      .map(({ type, value }) => [type, value]),
  );
  return {
    weekday: WEEKDAYS.indexOf(parts.get('weekday') ?? '') as Weekday,
    minute: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  };
}

const FORMATTERS_MAX = 64;
/** Of zones only, so that nothing of a cluster is kept. Making one costs some fifty uses of it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    // `hour12: false` says 24:00 at midnight, to some runtimes.
    hourCycle: 'h23',
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  formatters.set(timeZone, made);
  return made;
}
