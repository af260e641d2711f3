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
import { closed, listOf, told } from '../schema-parts.ts';
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
      all: v.exactOptional(
        v.pipe(written.flag, told('Every cluster of the stack, also those to come.', true)),
      ),
      ...choiceEntries,
      exclude: v.exactOptional(
        v.pipe(choice, told('Never these clusters.', { clusterNames: ['lab-1'] })),
      ),
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
      name: v.pipe(written.shortName, told('What it is called.', 'arm')),
      ...choiceEntries,
      strategicMerge: v.exactOptional(
        v.pipe(
          anyFields,
          told('Merged into the manifest, lists by their keys.', {
            spec: { template: { spec: { priorityClassName: 'system-node-critical' } } },
          }),
        ),
      ),
      jsonPatch: v.exactOptional(
        v.pipe(
          listOf(anyFields, {
            countMax: OPERATIONS_MAX,
            example: '[{op: remove, path: /spec/template/spec/priorityClassName}]',
          }),
          told('Operations of RFC 6902, after strategicMerge.', [
            { op: 'remove', path: '/spec/template/spec/priorityClassName' },
          ]),
        ),
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
      template: v.exactOptional(
        v.pipe(
          anyFields,
          told('The DaemonSet, whole: apiVersion, kind, metadata, spec.', {
            apiVersion: 'apps/v1',
            kind: 'DaemonSet',
            spec: {},
          }),
        ),
      ),
      templateFile: v.exactOptional(
        v.pipe(
          v.string('must be the name of a file, relative to this one'),
          told('Instead of template: a file with it, as Helm or Kustomize wrote it.', 'agent.yaml'),
        ),
      ),
      placement: v.pipe(
        placement,
        told('Which clusters have it.', { clusterSelector: { matchLabels: { stage: 'prod' } } }),
      ),
      overrides: v.exactOptional(
        v.pipe(
          listOf(override, { countMax: OVERRIDES_MAX, example: '[{name: arm, jsonPatch: []}]' }),
          told('Differences of some clusters, applied in this order.', [
            { name: 'arm', strategicMerge: { spec: { minReadySeconds: 10 } } },
          ]),
        ),
      ),
      strategy: v.exactOptional(
        v.pipe(
          strategySchema,
          told('In which stages; there is a careful default.', { soak: '1h' }),
        ),
      ),
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
    apiVersion: v.pipe(
      v.literal(FLEET_API_VERSION, `must be ${FLEET_API_VERSION}`),
      told('The version of this schema.', FLEET_API_VERSION),
    ),
    kind: v.pipe(
      v.literal('FleetDaemonSet', 'must be FleetDaemonSet'),
      told('FleetDaemonSet.', 'FleetDaemonSet'),
    ),
    metadata: v.pipe(
      closed(
        {
          namespace: v.pipe(
            written.namespaceName,
            told('The namespace of the DaemonSet in every cluster.', 'kube-system'),
          ),
          name: v.pipe(
            written.objectName,
            told('The name of the DaemonSet in every cluster.', 'log-collector'),
          ),
        },
        '{namespace: kube-system, name: log-collector}',
      ),
      told('Which DaemonSet.', { namespace: 'kube-system', name: 'log-collector' }),
    ),
    spec: v.pipe(
      spec,
      told('What is wanted.', { templateFile: 'a.yaml', placement: { all: true } }),
    ),
  },
  '{apiVersion: rollcall.dev/v1alpha1, kind: FleetDaemonSet, metadata: {…}, spec: {…}}',
);

/** A FleetDaemonSet as it was written, its values read. */
export type WrittenFleet = v.InferOutput<typeof fleetSchema>;
