/** A time on the command line: so long ago (`2h`), or in UTC (`2026-11-28T03:00Z`). */
import { usageError } from '../process/exit-codes.ts';
import { plainText } from '../command-line/text-table.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** When that is. Throws CommandError (2). */
export function parseMoment(text: string, nowMs: number): number {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (number !== undefined) return nowMs - Number(number) * (UNITS_MS[unit] ?? 0);
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z)?$/.test(text);
  const atMs = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(atMs)) return atMs;
  throw usageError(
    `${plainText(text)} is no time.`,
    'Pass how long ago it was (90s, 10m, 2h, 3d), or a time in UTC, e.g. 2026-11-28T03:00Z.',
  );
}
