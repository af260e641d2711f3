/**
 * Values of a policy as people write them, and what they mean: shares, durations, weekdays, labels.
 * Each says in its message what would be right, and never what was written. Texts that look like
 * numbers are none, as in Kubernetes: "10" is refused where 10 or 10% is meant.
 */
import * as v from 'valibot';
import type { Share, Weekday } from '../../core/policy/rollout-policy.ts';

/** Kubernetes counts nodes with 32 bits. */
const COUNT_MAX = 2_147_483_647;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SECOND_MS = 1000;
/** A month: what waits for longer is forgotten rather than watched. */
const DURATION_MS_MAX = 720 * HOUR_MS;

/** Where a share begins: the least count, and the pattern of its percentages. */
const SHARES = {
  one: { least: 1, pattern: /^(100|[1-9][0-9]?)%$/ },
  none: { least: 0, pattern: /^(100|[1-9]?[0-9])%$/ },
} as const;

/** 10 or 20%: from one up, or from none. */
export function share(
  from: keyof typeof SHARES,
  of: 'nodes' | 'clusters' = 'nodes',
): v.GenericSchema<number | string, Share> {
  const { least, pattern } = SHARES[from];
  const first = String(least);
  const message = `must be a count of ${of} from ${first} up, as 10, or whole percent from ${first}% to 100%, as 20%`;
  return v.pipe(
    v.union(
      [
        v.pipe(
          v.number(),
          v.integer(message),
          v.minValue(least, message),
          v.maxValue(COUNT_MAX, message),
        ),
        text(pattern, message),
      ],
      message,
    ),
    v.transform(shareOf),
  );
}

function text(pattern: RegExp, message: string) {
  return v.pipe(v.string(message), v.regex(pattern, message));
}

function shareOf(written: number | string): Share {
  // Zero may come as −0.
  if (typeof written === 'number') return { kind: 'count', count: written + 0 };
  return { kind: 'percent', percent: percentOf(written) };
}

function percentOf(written: string): number {
  return Number(written.slice(0, -1));
}

/** 20%, from 1% to 100%, as a number. */
export const percent = v.pipe(
  text(SHARES.one.pattern, 'must be whole percent from 1% to 100%, as 20%'),
  v.transform(percentOf),
);

const DURATION = /^(?=[0-9])([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$/;

/** 10m, 90s, 1h30m, within bounds, in milliseconds. */
export function duration(leastMs: 0 | typeof MINUTE_MS): v.GenericSchema<string, number> {
  const bounds = `from ${leastMs === 0 ? '0s' : '1m'} to 720h`;
  const message = `must be a duration ${bounds} in hours, minutes and seconds, as 10m, 90s or 1h30m`;
  return v.pipe(
    text(DURATION, message),
    v.transform(durationMs),
    v.check((ms) => ms >= leastMs && ms <= DURATION_MS_MAX, message),
  );
}

function durationMs(written: string): number {
  const [, hours, minutes, seconds] = DURATION.exec(written) ?? [];
  return numberOf(hours) * HOUR_MS + numberOf(minutes) * MINUTE_MS + numberOf(seconds) * SECOND_MS;
}

/** 10h as 10; what is not written as 0. */
function numberOf(part: string | undefined): number {
  return part === undefined ? 0 : Number(part.slice(0, -1));
}

/** 22:00, and 24:00 where it may stand, in minutes since midnight. */
export function timeOfDay(until: '23:59' | '24:00'): v.GenericSchema<string, number> {
  const pattern =
    until === '24:00'
      ? /^(([01]?[0-9]|2[0-3]):[0-5][0-9]|24:00)$/
      : /^([01]?[0-9]|2[0-3]):[0-5][0-9]$/;
  const message = `must be a time of day from 00:00 to ${until}, as 22:00`;
  return v.pipe(
    text(pattern, message),
    v.transform((written) => {
      const [hours, minutes] = written.split(':');
      return Number(hours) * 60 + Number(minutes);
    }),
  );
}

/** Mon, mon or MON: patterns of JSON Schema know no flags. */
const DAY = 'mon|tue|wed|thu|fri|sat|sun'.replaceAll(
  /[a-z]/g,
  (letter) => `[${letter.toUpperCase()}${letter}]`,
);
/** Sunday first, as JavaScript counts. */
const DAY_NAMES: readonly string[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Mon or mon-fri, as weekdays; fri-mon goes over the week's end. */
export const weekdays = v.pipe(
  text(
    new RegExp(`^(${DAY})(-(${DAY}))?$`),
    'must be a weekday of three letters or a range of them, as Mon or mon-fri',
  ),
  v.transform((written): readonly Weekday[] => {
    const [first = '', last = first] = written.toLowerCase().split('-');
    const from = DAY_NAMES.indexOf(first);
    const length = ((DAY_NAMES.indexOf(last) - from + 7) % 7) + 1;
    return Array.from({ length }, (_, index) => ((from + index) % 7) as Weekday);
  }),
);

const NAME = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const LABEL_KEY = new RegExp(`^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${NAME}$`);
const LABEL_VALUE = new RegExp(`^(${NAME})?$`);

/** The key of a label. */
export const labelKey = text(
  LABEL_KEY,
  'must be the key of a label, as topology.kubernetes.io/zone',
);

/** The value of a label. */
export const labelValue = text(
  LABEL_VALUE,
  'must be the value of a label: a text of at most 63 letters, digits, - _ .',
);

/** Labels. Not v.record: it looks away from keys such as `constructor`, which are legal. */
export const labelMap = v.custom<Readonly<Record<string, string>>>(
  (value) =>
    isFields(value) &&
    Object.entries(value).every(
      ([key, text]) => LABEL_KEY.test(key) && typeof text === 'string' && LABEL_VALUE.test(text),
    ),
  'must be labels with their values, as {pool: workers}; numbers, true and false need quotes',
);

/** A map of fields, neither list nor value. */
export function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The id of a registered cluster (rollcall cluster add). */
export const clusterName = text(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
  'must be the id of a cluster, as rollcall cluster list shows it',
);

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The name of a namespace. */
export const namespaceName = text(DNS_LABEL, 'must be the name of a namespace, as kube-system');

/** The name of an object, as DNS has it. */
export const objectName = text(
  /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/,
  'must be the name of an object, as agent-config',
);

/** Name of a stage or an override. */
export const shortName = text(
  DNS_LABEL,
  'must be a name of at most 63 lower case letters, digits and -, as canary',
);

/** true or false. */
export const flag = v.boolean('must be true or false; in YAML 1.2 yes and on are texts');
