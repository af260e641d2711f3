/**
 * The strategy of a FleetDaemonSet as it is written: stages, order, what a breach leads to. Defaults are filled in by
 * to-fleet.ts.
 *
 * Fields of a stage may stand in the strategy itself, for all stages that do not say otherwise.
 */
import * as v from 'valibot';
import { orderSchema, policySchema } from '../policy-schema.ts';
import { RULES_MAX, VALUES_MAX, closed, listOf, oneOf, told } from '../schema-parts.ts';
import { selectorSchema } from '../selector-schema.ts';
import { windowsSchema } from '../window-schema.ts';
import * as written from '../written-values.ts';

/** More stages than anybody watches. */
const STAGES_MAX = 32;

/** What names clusters, wherever it may stand. */
export const choiceEntries = {
  clusterNames: v.exactOptional(
    v.pipe(
      listOf(written.clusterName, { countMax: VALUES_MAX, example: '[prod-eu-1]' }),
      told('Clusters by their ids; with clusterSelector: these as well.', ['prod-eu-1']),
    ),
  ),
  clusterSelector: v.exactOptional(
    v.pipe(
      selectorSchema,
      told('Clusters by the labels of their registrations.', { matchLabels: { stage: 'prod' } }),
    ),
  ),
};

const pace = {
  maxConcurrency: v.exactOptional(
    v.pipe(
      written.share('one', 'clusters'),
      told('Clusters that roll at the same time; percentages of the stage, rounded up.', 5),
    ),
  ),
  maxFailures: v.exactOptional(
    v.pipe(
      written.share('none', 'clusters'),
      told('Clusters that may fail; percentages of the stage, rounded down.', '5%'),
    ),
  ),
  maxRefusals: v.exactOptional(
    v.pipe(
      written.share('none', 'clusters'),
      told('Clusters that may be unable to take it; without it as many as maxFailures.', 3),
    ),
  ),
  soak: v.exactOptional(
    v.pipe(
      written.duration(0),
      told('How long clusters of a stage have to be well before the next one opens.', '1h'),
    ),
  ),
  approval: v.exactOptional(
    v.pipe(oneOf('none', 'before', 'after'), told('Where a person has to agree.', 'before')),
  ),
  window: v.exactOptional(
    v.pipe(
      windowsSchema,
      told('When a stage may open: one window, or a list of them.', {
        days: ['mon-thu'],
        from: '09:00',
        to: '16:00',
        timeZone: 'Europe/Berlin',
      }),
    ),
  ),
};

const stage = closed(
  {
    name: v.pipe(written.shortName, told('What it is called.', 'canary')),
    ...choiceEntries,
    clusters: v.exactOptional(
      v.pipe(
        written.share('one', 'clusters'),
        told('So many of them; percentages of those that are named, rounded up.', '10%'),
      ),
    ),
    nodes: v.exactOptional(
      v.pipe(
        written.share('one'),
        told('In the first stage: of each cluster only so many nodes.', 3),
      ),
    ),
    ...pace,
  },
  '{name: canary, clusters: 1}',
);

/** The whole. */
export const strategySchema = closed(
  {
    stages: v.exactOptional(
      v.pipe(
        listOf(stage, { countMax: STAGES_MAX, example: '[{name: canary, clusters: 1}]' }),
        v.minLength(1, 'must have at least one stage; without it there are three by default'),
        told('Clusters get the DaemonSet stage by stage.', [{ name: 'canary', clusters: 1 }]),
      ),
    ),
    order: v.exactOptional(
      v.pipe(
        orderSchema,
        told('Which clusters go first, by their labels.', [{ label: 'tier', last: true }]),
      ),
    ),
    onBreach: v.exactOptional(
      v.pipe(oneOf('halt', 'rollback'), told('What a breach leads to.', 'rollback')),
    ),
    conflicts: v.exactOptional(
      v.pipe(
        oneOf('abort', 'overwrite'),
        told('What becomes of fields that others own with another value.', 'overwrite'),
      ),
    ),
    drift: v.exactOptional(
      v.pipe(
        oneOf('report', 'heal'),
        told('What becomes of a template that somebody changed after the rollout.', 'heal'),
      ),
    ),
    progressDeadline: v.exactOptional(
      v.pipe(
        written.duration(60_000),
        told('A fleet that gets no further for so long is a breach.', '24h'),
      ),
    ),
    rollout: v.exactOptional(
      v.pipe(
        policySchema,
        told('How the DaemonSet is staged inside each cluster (docs/rollouts.md).', {
          canary: { nodes: 2 },
        }),
      ),
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
