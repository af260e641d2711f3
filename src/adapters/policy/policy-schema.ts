/**
 * The schema of a policy as it is written: the one source of what is accepted (docs/rollouts.md, and
 * infra/schema/rollout-policy.schema.json, which scripts/policy-schema.ts derives from it).
 *
 * Every object is closed: a word that is not known may be one that was meant to hold a rollout. Lists are bounded.
 * Descriptions and examples are for the published schema. Defaults are filled in by to-policy.ts.
 */
import * as v from 'valibot';
import { RULES_MAX, VALUES_MAX, closed, field, listOf, needed, oneOf } from './schema-parts.ts';
import { selectorSchema } from './selector-schema.ts';
import { windowsSchema } from './window-schema.ts';
import * as written from './written-values.ts';

/** The soak of a policy that names none. */
export const SOAK_DEFAULT_MS = 300_000;

const rule = closed(
  {
    label: needed(
      written.labelKey,
      'Groups are made by this label.',
      'topology.kubernetes.io/zone',
    ),
    values: field(
      listOf(written.labelValue, { countMax: VALUES_MAX, example: '[eu-1a, eu-1b]' }),
      'Values that go first, in this order; others follow by name.',
      ['eu-1a', 'eu-1b'],
    ),
    last: field(
      written.flag,
      'What has this label (with one of the values, if any) goes after all others.',
      true,
    ),
  },
  '{label: topology.kubernetes.io/zone}',
);

/** In which order: by the values of labels, the first rule first. */
export const orderSchema = listOf(rule, {
  countMax: RULES_MAX,
  example: '[{label: topology.kubernetes.io/zone}]',
});

const canary = v.pipe(
  closed(
    {
      nodes: field(written.share('one'), 'How many nodes; percentages round up.', 3),
      spread: field(
        listOf(written.labelKey, {
          countMax: RULES_MAX,
          example: '[topology.kubernetes.io/zone]',
        }),
        'Canaries differ in these labels first.',
        ['topology.kubernetes.io/zone'],
      ),
      selector: field(selectorSchema, 'These nodes, instead of a number of them.', {
        matchLabels: { canary: 'yes' },
      }),
    },
    '{nodes: 3}',
  ),
  v.check(
    ({ nodes, spread, selector: chosen }) =>
      chosen === undefined || (nodes === undefined && spread === undefined),
    'names nodes by number or by selector, not both; spread goes with a number',
  ),
);

/** The whole. */
export const policySchema = v.pipe(
  closed(
    {
      paused: field(written.flag, 'No step opens while it is true.', true),
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
      order: field(orderSchema, 'Nodes go group by group, by these labels.', [
        { label: 'topology.kubernetes.io/zone' },
      ]),
      canary: field(canary, 'Nodes that try a revision before all others.', { nodes: 3 }),
      soak: field(
        written.duration(0),
        'How long pods of a step have to be well before the next one opens.',
        '10m',
      ),
      approval: field(
        oneOf('none', 'after-canary', 'each-step'),
        'Where a person has to agree.',
        'after-canary',
      ),
      progressDeadline: field(
        written.duration(60_000),
        'A rollout that gets no further for so long is a breach.',
        '1h',
      ),
      window: field(windowsSchema, 'When steps may open: one window, or a list of them.', {
        days: ['mon-fri'],
        from: '22:00',
        to: '04:00',
        timeZone: 'Europe/Berlin',
      }),
      onBreach: field(oneOf('pause', 'rollback'), 'What a breach leads to.', 'rollback'),
      returns: field(
        oneOf('at-once', 'staged'),
        'Whether the way back to a good release keeps canary, soak, approval and window.',
        'staged',
      ),
      exclude: field(selectorSchema, 'Nodes that the rollout never updates.', {
        matchLabels: { pinned: 'yes' },
      }),
      budget: field(
        oneOf('parity', 'attributed'),
        'Whether nodes that went bad by themselves use up maxUnavailable.',
        'attributed',
      ),
      shrink: field(
        written.percent,
        'A change that removes more of its pods at once is held.',
        '20%',
      ),
    },
    '{canary: {nodes: 3}, soak: 10m}',
  ),
  v.forward(
    v.partialCheck(
      [['soak'], ['progressDeadline']],
      ({ soak = SOAK_DEFAULT_MS, progressDeadline }) =>
        progressDeadline === undefined || progressDeadline > soak,
      'must be longer than soak (5m unless written), or every step would be a breach',
    ),
    ['progressDeadline'],
  ),
);

/** A policy as it was written, its values read. */
export type WrittenPolicy = v.InferOutput<typeof policySchema>;
