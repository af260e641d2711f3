/**
 * The schema of a policy: the one source of what is accepted, of its defaults (docs/rollouts.md
 * says why), and of the JSON Schema for editors, which scripts/policy-schema.ts
 * derives. Objects are closed: a word that is not known may be one that was meant to hold a
 * rollout.
 */
import * as v from 'valibot';
import { defined } from '@rollcall/base/defined.ts';
import { compileSelector } from '@rollcall/base/label-selector.ts';
import { SPREAD_DEFAULT } from '../../core/policy/rollout-policy.ts';
import type {
  Canary,
  OrderRule,
  RolloutPolicy,
  RolloutWindow,
} from '../../core/policy/rollout-policy.ts';
import { isTimeZone } from '../../core/policy/window.ts';
import { RULES_MAX, VALUES_MAX, closed, field, listOf, needed, oneOf } from './schema-parts.ts';
import * as written from './written-values.ts';

const requirement = v.pipe(
  closed('{key: pool, operator: In, values: [workers]}', {
    key: needed(written.labelKey, 'The label.', 'pool'),
    operator: needed(
      oneOf('In', 'NotIn', 'Exists', 'DoesNotExist'),
      'How the label is compared.',
      'In',
    ),
    values: field(
      listOf(written.labelValue, VALUES_MAX, '[workers]'),
      'Values of the label; none for Exists and DoesNotExist.',
      ['workers'],
    ),
  }),
  v.check(
    (one) => compileSelector({ matchExpressions: [one] }).invalid === undefined,
    'needs values with In and NotIn, and none with Exists and DoesNotExist',
  ),
);

/** A label selector. An empty one is refused: to Kubernetes it says all in one place and nothing in another. */
export const selectorSchema = v.pipe(
  closed('{matchLabels: {pool: workers}}', {
    matchLabels: field(written.labelMap, 'Labels with their values.', { pool: 'workers' }),
    matchExpressions: field(
      listOf(requirement, RULES_MAX, '[{key: spot, operator: Exists}]'),
      'Requirements of labels.',
      [{ key: 'spot', operator: 'Exists' }],
    ),
  }),
  v.check(
    ({ matchLabels = {}, matchExpressions = [] }) =>
      Object.keys(matchLabels).length + matchExpressions.length > 0,
    'must name at least one label: an empty selector says nothing',
  ),
);

const MINUTES_OF_DAY = 1440;
/** A look that comes late would miss a shorter one, week after week. */
const WINDOW_MINUTES_MIN = 15;
const WINDOW_EXAMPLE = '{days: [mon-fri], from: "22:00", to: "04:00", timeZone: Europe/Berlin}';
const ZONE_MESSAGE = 'must be a time zone as Area/City, as Europe/Berlin, or UTC';

/** One window. Its zone is required: a default of UTC would open it in an afternoon. */
export const windowSchema = v.pipe(
  closed(WINDOW_EXAMPLE, {
    days: field(
      v.pipe(
        listOf(written.weekdays, 7, '[mon-fri]'),
        v.minLength(1, 'must name at least one weekday; without it every day counts'),
      ),
      'Weekdays on which it starts.',
      ['mon-fri'],
      ['sun-sat'],
    ),
    from: field(written.timeOfDay('23:59'), 'When it starts, in local time.', '22:00'),
    to: field(written.timeOfDay('24:00'), 'When it ends; before `from`: the day after.', '04:00'),
    timeZone: needed(
      v.pipe(v.string(ZONE_MESSAGE), v.check(isTimeZone, ZONE_MESSAGE)),
      'Area/City or UTC.',
      'Europe/Berlin',
    ),
  }),
  v.check(
    ({ from, to }) => (from === undefined) === (to === undefined),
    'needs both from and to, or neither: then it is open all day',
  ),
  v.check(
    ({ from, to }) =>
      from === undefined || to === undefined || lengthOf(from, to) >= WINDOW_MINUTES_MIN,
    'must be open for at least 15 minutes; for the whole day leave from and to away',
  ),
  v.transform(({ days, from = 0, to = MINUTES_OF_DAY, timeZone }): RolloutWindow => {
    // Midnight is the end of a day, never its start.
    const endMinute = to === 0 ? MINUTES_OF_DAY : to;
    return { days: [...new Set(days.flat())].sort(), startMinute: from, endMinute, timeZone };
  }),
);

function lengthOf(from: number, to: number): number {
  return (to - from + MINUTES_OF_DAY) % MINUTES_OF_DAY || (to === from ? 0 : MINUTES_OF_DAY);
}

/** Windows; one may be written without a list. */
export const windowsSchema = v.pipe(
  v.unknown(),
  v.transform((windows) => (written.isFields(windows) ? [windows] : windows)),
  listOf(windowSchema, RULES_MAX, `[${WINDOW_EXAMPLE}]`),
);

const rule = v.pipe(
  closed('{label: topology.kubernetes.io/zone}', {
    label: needed(
      written.labelKey,
      'Groups are made by this label.',
      'topology.kubernetes.io/zone',
    ),
    values: field(
      listOf(written.labelValue, VALUES_MAX, '[eu-1a, eu-1b]'),
      'Values that go first, in this order; others follow by name.',
      ['eu-1a', 'eu-1b'],
      [],
    ),
    last: field(
      written.flag,
      'Those with this label (and one of the values, if any) go after all others.',
      true,
      false,
    ),
  }),
  v.transform(({ label, values, last }): OrderRule => ({ label, values, isLast: last })),
);

/** In which order: by the values of labels, the first rule first. */
export const orderSchema = listOf(rule, RULES_MAX, '[{label: topology.kubernetes.io/zone}]');

const canary = v.pipe(
  closed('{nodes: 3}', {
    nodes: field(written.share('one'), 'How many nodes; percentages round up.', 3),
    spread: field(
      listOf(written.labelKey, RULES_MAX, '[topology.kubernetes.io/zone]'),
      'Canaries differ in these labels first.',
      ['topology.kubernetes.io/zone'],
    ),
    selector: field(selectorSchema, 'These nodes, instead of a number of them.', {
      matchLabels: { canary: 'yes' },
    }),
  }),
  v.check(
    ({ nodes, spread, selector }) =>
      selector === undefined || (nodes === undefined && spread === undefined),
    'names nodes by number or by selector, not both; spread goes with a number',
  ),
  v.transform(({ nodes, spread, selector }): Canary => {
    if (selector !== undefined) return { kind: 'selector', selector };
    const share = nodes ?? { kind: 'count', count: 1 };
    return { kind: 'share', share, spread: spread ?? SPREAD_DEFAULT };
  }),
);

/** The whole. What has no default stays absent. */
export const policySchema = v.pipe(
  closed('{canary: {nodes: 3}, soak: 10m}', {
    paused: field(written.flag, 'No step opens while it is true.', true, false),
    maxUnavailable: field(
      written.share('one'),
      'Nodes that may be without an available pod; percentages round up.',
      '20%',
    ),
    partition: field(
      written.share('none'),
      'Nodes that keep their old pod; percentages round down.',
      '50%',
    ),
    order: field(
      orderSchema,
      'Nodes go group by group, by these labels.',
      [{ label: 'topology.kubernetes.io/zone' }],
      [],
    ),
    canary: field(canary, 'Nodes that try a revision before all others.', { nodes: 3 }, {}),
    soak: field(
      written.duration(0),
      'How long pods of a step have to be well before the next one opens.',
      '10m',
      '5m',
    ),
    approval: field(
      oneOf('none', 'after-canary', 'each-step'),
      'Where a person has to agree.',
      'after-canary',
      'none',
    ),
    progressDeadline: field(
      written.duration(60_000),
      'A rollout that gets no further for so long halts.',
      '1h',
    ),
    window: field(
      windowsSchema,
      'When steps may open: one window, or a list of them.',
      { days: ['mon-fri'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' },
      [],
    ),
    onHalt: field(oneOf('pause', 'rollback'), 'What a halt leads to.', 'rollback', 'pause'),
    returns: field(
      oneOf('at-once', 'staged'),
      'Whether the way back to a good release keeps canary, soak, approval and window.',
      'staged',
      'at-once',
    ),
    exclude: field(selectorSchema, 'Nodes that the rollout never updates.', {
      matchLabels: { pinned: 'yes' },
    }),
    budget: field(
      oneOf('parity', 'attributed'),
      'Whether nodes that went bad by themselves use up maxUnavailable.',
      'attributed',
      'parity',
    ),
    removalGuard: field(
      written.percent,
      'A change that removes more of its pods at once is held.',
      '20%',
      '20%',
    ),
  }),
  v.forward(
    v.partialCheck(
      [['soak'], ['progressDeadline']],
      ({ soak, progressDeadline }) => progressDeadline === undefined || progressDeadline > soak,
      'must be longer than soak (5m unless written), or every step would halt',
    ),
    ['progressDeadline'],
  ),
  v.transform(
    ({ paused, soak, progressDeadline, window, removalGuard, ...others }): RolloutPolicy => ({
      ...others,
      ...defined({ progressDeadlineMs: progressDeadline }),
      isPaused: paused,
      soakMs: soak,
      windows: window,
      removalPercent: removalGuard,
    }),
  ),
);
