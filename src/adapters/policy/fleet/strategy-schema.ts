/**
 * The strategy of a FleetDaemonSet as it is written: stages, order, what a breach leads to. Defaults are filled in by
 * to-fleet.ts.
 *
 * Fields of a stage may stand in the strategy itself, for all stages that do not say otherwise.
 */
import * as v from 'valibot';
import { orderSchema, policySchema } from '../policy-schema.ts';
import { RULES_MAX, VALUES_MAX, closed, field, listOf, needed, oneOf } from '../schema-parts.ts';
import { selectorSchema } from '../selector-schema.ts';
import { windowsSchema } from '../window-schema.ts';
import * as written from '../written-values.ts';

/** More stages than anybody watches. */
const STAGES_MAX = 32;

/** What names clusters, wherever it may stand. */
export const choiceEntries = {
  clusterNames: field(
    listOf(written.clusterName, { countMax: VALUES_MAX, example: '[prod-eu-1]' }),
    'Clusters by their ids; with clusterSelector: these as well.',
    ['prod-eu-1'],
  ),
  clusterSelector: field(selectorSchema, 'Clusters by the labels of their registrations.', {
    matchLabels: { stage: 'prod' },
  }),
};

const pace = {
  maxConcurrency: field(
    written.share('one', 'clusters'),
    'Clusters that roll at the same time; percentages of the stage, rounded up.',
    5,
  ),
  maxFailures: field(
    written.share('none', 'clusters'),
    'Clusters that may fail; percentages of the stage, rounded down.',
    '5%',
  ),
  maxRefusals: field(
    written.share('none', 'clusters'),
    'Clusters that may be unable to take it; without it as many as maxFailures.',
    3,
  ),
  soak: field(
    written.duration(0),
    'How long clusters of a stage have to be well before the next one opens.',
    '1h',
  ),
  approval: field(oneOf('none', 'before', 'after'), 'Where a person has to agree.', 'before'),
  window: field(windowsSchema, 'When a stage may open: one window, or a list of them.', {
    days: ['mon-thu'],
    from: '09:00',
    to: '16:00',
    timeZone: 'Europe/Berlin',
  }),
};

const stage = closed(
  {
    name: needed(written.shortName, 'What it is called.', 'canary'),
    ...choiceEntries,
    clusters: field(
      written.share('one', 'clusters'),
      'So many of them; percentages of those that are named, rounded up.',
      '10%',
    ),
    nodes: field(
      written.share('one'),
      'In the first stage: of each cluster only so many nodes.',
      3,
    ),
    ...pace,
  },
  '{name: canary, clusters: 1}',
);

/** The whole. */
export const strategySchema = closed(
  {
    stages: field(
      v.pipe(
        listOf(stage, { countMax: STAGES_MAX, example: '[{name: canary, clusters: 1}]' }),
        v.minLength(1, 'must have at least one stage; without it there are three by default'),
      ),
      'Clusters get the DaemonSet stage by stage.',
      [{ name: 'canary', clusters: 1 }],
    ),
    order: field(orderSchema, 'Which clusters go first, by their labels.', [
      { label: 'tier', last: true },
    ]),
    onBreach: field(oneOf('halt', 'rollback'), 'What a breach leads to.', 'rollback'),
    conflicts: field(
      oneOf('abort', 'overwrite'),
      'What becomes of fields that others own with another value.',
      'overwrite',
    ),
    drift: field(
      oneOf('report', 'heal'),
      'What becomes of a template that somebody changed after the rollout.',
      'heal',
    ),
    progressDeadline: field(
      written.duration(60_000),
      'A fleet that gets no further for so long is a breach.',
      '24h',
    ),
    rollout: field(
      policySchema,
      'How the DaemonSet is staged inside each cluster (docs/rollouts.md).',
      {
        canary: { nodes: 2 },
      },
    ),
    ...pace,
  },
  '{stages: [{name: canary, clusters: 1}], soak: 1h}',
);

/** The number of values that lists of rules have at most. */
export const OVERRIDES_MAX = 4 * RULES_MAX;

/** A strategy as it was written, its values read. */
export type WrittenStrategy = v.InferOutput<typeof strategySchema>;
/** A stage of it. */
export type WrittenStage = v.InferOutput<typeof stage>;
