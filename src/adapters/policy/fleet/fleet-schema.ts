/**
 * The schema of a FleetDaemonSet: the one source of what is accepted, of defaults, and of
 * the JSON Schema that scripts/policy-schema.ts derives from it. Closed
 * but for the manifest and the patches, which are Kubernetes' own (core/fleet/judge-manifest.ts).
 */
import * as v from 'valibot';
import { defined } from '@rollcall/base/defined.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { FLEET_API_VERSION } from '../../../core/fleet/fleet-daemon-set.ts';
import type {
  ClusterChoice,
  FleetOverride,
  FleetPlacement,
} from '../../../core/fleet/fleet-daemon-set.ts';
import { orderSchema, policySchema, selectorSchema, windowsSchema } from '../policy-schema.ts';
import { RULES_MAX, VALUES_MAX, closed, field, listOf, needed, oneOf } from '../schema-parts.ts';
import * as written from '../written-values.ts';

/** More stages than operators watch. */
const STAGES_MAX = 32;
/** Operations of one JSON patch. */
const OPERATIONS_MAX = 100;

/** Fields that Kubernetes says the meaning of. What comes from a text as plain values is JSON. */
export const anyFields = v.custom<JsonObject>(written.isFields, 'must be fields');

/** The fields that name clusters, in each place. */
const choiceEntries = {
  clusterNames: field(
    listOf(written.clusterName, VALUES_MAX, '[prod-eu-1]'),
    'Clusters by their ids; with clusterSelector: these as well.',
    ['prod-eu-1'],
  ),
  clusterSelector: field(selectorSchema, 'Clusters by the labels of their registrations.', {
    matchLabels: { stage: 'prod' },
  }),
};

type WrittenChoice = Pick<WrittenStage, keyof typeof choiceEntries>;

function toChoice({ clusterNames = [], clusterSelector }: WrittenChoice): ClusterChoice {
  return { names: clusterNames, ...defined({ selector: clusterSelector }) };
}

export function choiceOf(from: WrittenChoice): { readonly choice?: ClusterChoice } {
  const isChosen = from.clusterNames !== undefined || from.clusterSelector !== undefined;
  return isChosen ? { choice: toChoice(from) } : {};
}

function namesClusters({ clusterNames = [], clusterSelector }: WrittenChoice): boolean {
  return clusterNames.length > 0 || clusterSelector !== undefined;
}

const excluded = v.pipe(
  closed('{clusterSelector: {matchLabels: {stage: prod}}}', choiceEntries),
  v.check(namesClusters, 'must have clusterNames or clusterSelector'),
);

const placement = v.pipe(
  closed('{clusterSelector: {matchLabels: {stage: prod}}}', {
    all: field(written.flag, 'Every cluster of the stack, also those to come.', true, false),
    ...choiceEntries,
    exclude: field(excluded, 'Never these clusters.', { clusterNames: ['lab-1'] }),
  }),
  v.check(
    ({ all, ...choice }) => all !== namesClusters(choice),
    'must have clusterNames or clusterSelector, or else all: true',
  ),
  v.transform(({ all, exclude, ...choice }): FleetPlacement => {
    const never = exclude === undefined ? {} : { exclude: toChoice(exclude) };
    return all ? never : { choice: toChoice(choice), ...never };
  }),
);

const override = v.pipe(
  closed('{name: arm, clusterSelector: {matchLabels: {arch: arm64}}, strategicMerge: {}}', {
    name: needed(written.shortName, 'What it is called.', 'arm'),
    ...choiceEntries,
    strategicMerge: field(anyFields, 'Merged into the manifest, lists by their keys.', {
      spec: { template: { spec: { priorityClassName: 'system-node-critical' } } },
    }),
    jsonPatch: field(
      listOf(
        anyFields,
        OPERATIONS_MAX,
        '[{op: remove, path: /spec/template/spec/priorityClassName}]',
      ),
      'Operations of RFC 6902, after strategicMerge.',
      [{ op: 'remove', path: '/spec/template/spec/priorityClassName' }],
    ),
  }),
  v.check(
    ({ strategicMerge, jsonPatch }) => strategicMerge !== undefined || jsonPatch !== undefined,
    'must have strategicMerge or jsonPatch',
  ),
  v.transform(({ clusterNames, clusterSelector, ...others }): FleetOverride => ({
    ...others,
    ...choiceOf(defined({ clusterNames, clusterSelector })),
  })),
);

/** Of one stage, or in the strategy itself of all that do not say otherwise; docs/fleet.md says why these defaults. */
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

const stage = closed('{name: canary, clusters: 1}', {
  name: needed(written.shortName, 'What it is called.', 'canary'),
  ...choiceEntries,
  clusters: field(
    written.share('one', 'clusters'),
    'So many of them; percentages of those that are named, rounded up.',
    '10%',
  ),
  nodes: field(written.share('one'), 'In the first stage: of each cluster only so many nodes.', 3),
  ...pace,
});

const strategy = closed('{stages: [{name: canary, clusters: 1}], soak: 1h}', {
  stages: field(
    v.pipe(
      listOf(stage, STAGES_MAX, '[{name: canary, clusters: 1}]'),
      v.minLength(1, 'must have at least one stage; without it there are three by default'),
    ),
    'Clusters get the DaemonSet stage by stage.',
    [{ name: 'canary', clusters: 1 }],
    // One node of each of two clusters, so that none opens the next stage by its word alone; the rest follows.
    [
      { name: 'canary', clusters: 2, nodes: 1 },
      { name: 'early', clusters: '10%' },
    ],
  ),
  order: field(
    orderSchema,
    'Which clusters go first, by their labels.',
    [{ label: 'tier', last: true }],
    [],
  ),
  onHalt: field(oneOf('halt', 'rollback'), 'What a halt leads to.', 'rollback', 'halt'),
  conflicts: field(
    oneOf('abort', 'overwrite'),
    'Whether to overwrite fields that another manager owns with another value.',
    'overwrite',
    'abort',
  ),
  drift: field(
    oneOf('report', 'heal'),
    'Whether to restore a template that was changed after the rollout.',
    'heal',
    'report',
  ),
  progressDeadline: field(
    written.duration(60_000),
    'A fleet that gets no further for so long halts.',
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
  maxConcurrency: v.exactOptional(pace.maxConcurrency.wrapped, '10%'),
  maxFailures: v.exactOptional(pace.maxFailures.wrapped, 0),
  soak: v.exactOptional(pace.soak.wrapped, '1h'),
  approval: v.exactOptional(pace.approval.wrapped, 'none'),
  window: v.exactOptional(pace.window.wrapped, []),
});

const spec = v.pipe(
  closed('{template: {…}, placement: {all: true}}', {
    template: field(anyFields, 'The DaemonSet, whole: apiVersion, kind, metadata, spec.', {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      spec: {},
    }),
    templateFile: field(
      v.string('must be the name of a file, relative to this one'),
      'Instead of template: a file with it, as Helm or Kustomize wrote it.',
      'agent.yaml',
    ),
    placement: needed(placement, 'Which clusters have it.', {
      clusterSelector: { matchLabels: { stage: 'prod' } },
    }),
    overrides: field(
      listOf(override, 4 * RULES_MAX, '[{name: arm, jsonPatch: []}]'),
      'Differences of some clusters, applied in this order.',
      [{ name: 'arm', strategicMerge: { spec: { minReadySeconds: 10 } } }],
      [],
    ),
    strategy: field(strategy, 'In which stages; there is a careful default.', { soak: '1h' }, {}),
  }),
  v.check(
    ({ template, templateFile }) => (template === undefined) !== (templateFile === undefined),
    'must have either template or templateFile',
  ),
);

const EXAMPLE =
  '{apiVersion: rollcall.dev/v1alpha1, kind: FleetDaemonSet, metadata: {…}, spec: {…}}';

export const fleetSchema = closed(EXAMPLE, {
  apiVersion: needed(
    v.literal(FLEET_API_VERSION, `must be ${FLEET_API_VERSION}`),
    'The version of this schema.',
    FLEET_API_VERSION,
  ),
  kind: needed(
    v.literal('FleetDaemonSet', 'must be FleetDaemonSet'),
    'FleetDaemonSet.',
    'FleetDaemonSet',
  ),
  metadata: needed(
    closed('{namespace: kube-system, name: log-collector}', {
      namespace: needed(
        written.namespaceName,
        'The namespace of the DaemonSet in every cluster.',
        'kube-system',
      ),
      name: needed(
        written.objectName,
        'The name of the DaemonSet in every cluster.',
        'log-collector',
      ),
    }),
    'Which DaemonSet.',
    { namespace: 'kube-system', name: 'log-collector' },
  ),
  spec: needed(spec, 'The template, its clusters, and how it is rolled out.', {
    templateFile: 'a.yaml',
    placement: { all: true },
  }),
});

/** A FleetDaemonSet as it was written, its values read. */
export type WrittenFleet = v.InferOutput<typeof fleetSchema>;
export type WrittenStrategy = v.InferOutput<typeof strategy>;
export type WrittenStage = v.InferOutput<typeof stage>;
