/** Times for people: in UTC, as every command tells them, with their age beside them. */
import { timeText } from '../../core/rollout/gate-words.ts';
import { durationText } from './freshness.ts';

/** `22:31:04Z`, and with its day where that is another than now's. */
export function clockText(atMs: number, nowMs: number): string {
  const [day = '', clock = ''] = timeText(atMs).split('T');
  return timeText(nowMs).startsWith(day) ? clock : `${day} ${clock}`;
}

/** `22:31:04Z, 3 min ago`; of what is to come `in 3 min`. */
export function momentText(atMs: number, nowMs: number): string {
  const awayMs = nowMs - atMs;
  const away = awayMs < 0 ? `in ${durationText(-awayMs)}` : `${durationText(awayMs)} ago`;
  return `${clockText(atMs, nowMs)}, ${away}`;
}
