/**
 * The schema of a FleetDaemonSet as it is written (`rollcall.dev/v1alpha1`): the one source of what is accepted, and of
 * infra/schema/fleet-daemon-set.schema.json, which scripts/policy-schema.ts derives from it.
 *
 * Every object is closed but the manifest and the patches, which are Kubernetes' own: what is wrong with those
 * core/fleet/judge-manifest.ts says. Lists are bounded.
 */
import * as v from 'valibot';
import type { JsonObject } from '@rollcall/base/json.ts';
import { FLEET_API_VERSION } from '../../../core/fleet/fleet-daemon-set.ts';
import { closed, field, listOf, needed } from '../schema-parts.ts';
import * as written from '../written-values.ts';
import { OVERRIDES_MAX, choiceEntries, strategySchema } from './strategy-schema.ts';

/** Operations of one JSON patch. */
const OPERATIONS_MAX = 100;

/** Fields that Kubernetes says the meaning of. What comes from a text as plain values is JSON. */
export const anyFields = v.custom<JsonObject>(written.isFields, 'must be fields');

const choice = v.pipe(
  closed(choiceEntries, '{clusterSelector: {matchLabels: {stage: prod}}}'),
  v.check(
    ({ clusterNames = [], clusterSelector }) =>
      clusterNames.length > 0 || clusterSelector !== undefined,
    'must have clusterNames or clusterSelector',
  ),
);

const placement = v.pipe(
  closed(
    {
      all: field(written.flag, 'Every cluster of the stack, also those to come.', true),
      ...choiceEntries,
      exclude: field(choice, 'Never these clusters.', { clusterNames: ['lab-1'] }),
    },
    '{clusterSelector: {matchLabels: {stage: prod}}}',
  ),
  v.check(
    ({ all = false, clusterNames = [], clusterSelector }) =>
      all !== (clusterNames.length > 0 || clusterSelector !== undefined),
    'must have clusterNames or clusterSelector, or else all: true',
  ),
);

const override = v.pipe(
  closed(
    {
      name: needed(written.shortName, 'What it is called.', 'arm'),
      ...choiceEntries,
      strategicMerge: field(anyFields, 'Merged into the manifest, lists by their keys.', {
        spec: { template: { spec: { priorityClassName: 'system-node-critical' } } },
      }),
      jsonPatch: field(
        listOf(anyFields, {
          countMax: OPERATIONS_MAX,
          example: '[{op: remove, path: /spec/template/spec/priorityClassName}]',
        }),
        'Operations of RFC 6902, after strategicMerge.',
        [{ op: 'remove', path: '/spec/template/spec/priorityClassName' }],
      ),
    },
    '{name: arm, clusterSelector: {matchLabels: {arch: arm64}}, strategicMerge: {}}',
  ),
  v.check(
    ({ strategicMerge, jsonPatch }) => strategicMerge !== undefined || jsonPatch !== undefined,
    'must have strategicMerge or jsonPatch',
  ),
);

const spec = v.pipe(
  closed(
    {
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
        listOf(override, { countMax: OVERRIDES_MAX, example: '[{name: arm, jsonPatch: []}]' }),
        'Differences of some clusters, applied in this order.',
        [{ name: 'arm', strategicMerge: { spec: { minReadySeconds: 10 } } }],
      ),
      strategy: field(strategySchema, 'In which stages; there is a careful default.', {
        soak: '1h',
      }),
    },
    '{template: {…}, placement: {all: true}}',
  ),
  v.check(
    ({ template, templateFile }) => (template === undefined) !== (templateFile === undefined),
    'must have either template or templateFile',
  ),
);

/** The whole. */
export const fleetSchema = closed(
  {
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
      closed(
        {
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
        },
        '{namespace: kube-system, name: log-collector}',
      ),
      'Which DaemonSet.',
      { namespace: 'kube-system', name: 'log-collector' },
    ),
    spec: needed(spec, 'What is wanted.', { templateFile: 'a.yaml', placement: { all: true } }),
  },
  '{apiVersion: rollcall.dev/v1alpha1, kind: FleetDaemonSet, metadata: {…}, spec: {…}}',
);

/** A FleetDaemonSet as it was written, its values read. */
export type WrittenFleet = v.InferOutput<typeof fleetSchema>;
