/**
 * Ages as kubectl shows them: `5s`, `2m10s`, `3h25m`, `5d4h`, `1y30d`.
 *
 * Two or three significant figures, as client-go's HumanDuration rounds. A clock that is a second behind is forgiven.
 */
import { parseTime } from '../objects/timestamps.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** A step: below `untilSeconds`, a duration is shown in `unit`, and with `rest` the remainder in that unit too. */
interface Step {
  readonly untilSeconds: number;
  readonly unitSeconds: number;
  readonly letter: string;
  readonly rest?: { readonly seconds: number; readonly letter: string };
}

const SECONDS = { seconds: 1, letter: 's' };
const MINUTES = { seconds: MINUTE, letter: 'm' };
const HOURS = { seconds: HOUR, letter: 'h' };
const DAYS = { seconds: DAY, letter: 'd' };

const STEPS: readonly Step[] = [
  { untilSeconds: 2 * MINUTE, unitSeconds: 1, letter: 's' },
  { untilSeconds: 10 * MINUTE, unitSeconds: MINUTE, letter: 'm', rest: SECONDS },
  { untilSeconds: 3 * HOUR, unitSeconds: MINUTE, letter: 'm' },
  { untilSeconds: 8 * HOUR, unitSeconds: HOUR, letter: 'h', rest: MINUTES },
  { untilSeconds: 2 * DAY, unitSeconds: HOUR, letter: 'h' },
  { untilSeconds: 8 * DAY, unitSeconds: DAY, letter: 'd', rest: HOURS },
  { untilSeconds: 2 * YEAR, unitSeconds: DAY, letter: 'd' },
  { untilSeconds: 8 * YEAR, unitSeconds: YEAR, letter: 'y', rest: DAYS },
  { untilSeconds: Number.POSITIVE_INFINITY, unitSeconds: YEAR, letter: 'y' },
];

/** A duration for people; `<invalid>` when it is two seconds or more below zero. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const step = STEPS.find(({ untilSeconds }) => seconds < untilSeconds);
  return step === undefined ? '<invalid>' : formatStep(seconds, step);
}

function formatStep(seconds: number, { unitSeconds, letter, rest }: Step): string {
  const whole = `${String(Math.floor(seconds / unitSeconds))}${letter}`;
  if (rest === undefined) return whole;
  const remainder = Math.floor((seconds % unitSeconds) / rest.seconds);
  return remainder === 0 ? whole : `${whole}${String(remainder)}${rest.letter}`;
}

/** How long ago a time was; `<unknown>` when there is none. */
export function timeSince(time: string | null | undefined, nowMs: number): string {
  const timeMs = typeof time === 'string' ? parseTime(time) : undefined;
  return timeMs === undefined ? '<unknown>' : humanDuration(nowMs - timeMs);
}
