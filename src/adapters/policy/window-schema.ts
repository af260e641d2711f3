/**
 * Windows of a policy: weekdays, from, to, and a time zone that this runtime knows.
 *
 * A zone is needed, since a silent UTC would open a window in somebody's afternoon. One of less than a quarter of an
 * hour is refused: a look that comes late would miss it, week after week.
 */
import * as v from 'valibot';
import { isTimeZone } from '../../core/policy/window.ts';
import { RULES_MAX, closed, field, listOf, needed } from './schema-parts.ts';
import * as written from './written-values.ts';

const WINDOW_EXAMPLE = '{days: [mon-fri], from: "22:00", to: "04:00", timeZone: Europe/Berlin}';
const ZONE_MESSAGE = 'must be a time zone as Area/City, as Europe/Berlin, or UTC';
const WINDOW_MINUTES_MIN = 15;

/** One window. */
export const windowSchema = v.pipe(
  closed(
    {
      days: field(
        v.pipe(
          listOf(written.weekdays, { countMax: 7, example: '[mon-fri]' }),
          v.minLength(1, 'must name at least one weekday; without it every day counts'),
        ),
        'Weekdays on which it starts.',
        ['mon-fri'],
      ),
      from: field(written.timeOfDay('23:59'), 'When it starts, in local time.', '22:00'),
      to: field(written.timeOfDay('24:00'), 'When it ends; before `from`: the day after.', '04:00'),
      timeZone: needed(
        v.pipe(v.string(ZONE_MESSAGE), v.check(isTimeZone, ZONE_MESSAGE)),
        'Area/City or UTC.',
        'Europe/Berlin',
      ),
    },
    WINDOW_EXAMPLE,
  ),
  v.check(
    ({ from, to }) => (from === undefined) === (to === undefined),
    'needs both from and to, or neither: then it is open all day',
  ),
  v.check(
    ({ from, to }) =>
      from === undefined || to === undefined || lengthOf(from, to) >= WINDOW_MINUTES_MIN,
    'must be open for at least 15 minutes; for the whole day leave from and to away',
  ),
);

function lengthOf(from: number, to: number): number {
  return (to - from + 1440) % 1440 || (to === from ? 0 : 1440);
}

/** A list of windows; one that is written without a list has become a list before (policy-reader.ts). */
export const windowsSchema = listOf(windowSchema, {
  countMax: RULES_MAX,
  example: `[${WINDOW_EXAMPLE}]`,
});
