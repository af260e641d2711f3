/** Times for people: in UTC, as every command tells them, with their age beside them. */
import { timeText } from '../../core/rollout/gate-words.ts';
import { durationText } from './freshness.ts';

/** `22:31:04Z`, and with its day where that is another than now's. */
export function clockText(atMs: number, nowMs: number): string {
  const [day = '', clock = ''] = timeText(atMs).split('T');
  return timeText(nowMs).startsWith(day) ? clock : `${day} ${clock}`;
}

/** The page's time is up to a second old, more while a browser slows it: what is not further away has happened. */
const AHEAD_MS = 1_000;

/** `22:31:04Z, 3 min ago`; of what is to come `in 3 min`. */
export function momentText(atMs: number, nowMs: number): string {
  const awayMs = nowMs - atMs;
  const isToCome = awayMs < -AHEAD_MS;
  const away = isToCome
    ? `in ${durationText(-awayMs)}`
    : `${durationText(Math.max(0, awayMs))} ago`;
  return `${clockText(atMs, nowMs)}, ${away}`;
}
