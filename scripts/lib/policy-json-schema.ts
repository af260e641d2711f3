/**
 * The published JSON Schemas of rollout policies and FleetDaemonSets, from the schemas of src/adapters/policy.
 *
 * Some places need a word of their own: labels, and what Kubernetes says the meaning of, are custom checks there; one window
 * may stand without a list, which the reader undoes before its schema; and checks that JSON Schema cannot express are left out.
 */
import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema';
import { format } from 'prettier';
import type * as v from 'valibot';
import { anyFields, fleetSchema } from '../../src/adapters/policy/fleet/fleet-schema.ts';
import { policySchema, windowSchema } from '../../src/adapters/policy/policy-schema.ts';
import { labelMap } from '../../src/adapters/policy/written-values.ts';

/** Relative to the repository; the npm package ships it. */
export const POLICY_SCHEMA_FILE = 'infra/schema/rollout-policy.schema.json';

/** Likewise. */
export const FLEET_SCHEMA_FILE = 'infra/schema/fleet-daemon-set.schema.json';

/** Text of the file. */
export function renderPolicySchema(): Promise<string> {
  return render(policySchema, {
    title: 'Rollout policy of a DaemonSet',
    description: 'The value of the annotation rollcall.dev/rollout (docs/rollouts.md).',
  });
}

/** Text of the other one. */
export function renderFleetSchema(): Promise<string> {
  return render(fleetSchema, {
    title: 'FleetDaemonSet',
    description: 'One DaemonSet for many clusters (docs/fleet.md).',
  });
}

function render(
  source: v.GenericSchema,
  words: { readonly title: string; readonly description: string },
): Promise<string> {
  const schema = toJsonSchema(source, {
    // Of a pipe of schemas the last one: the first only tells maps from lists.
    typeMode: 'output',
    errorMode: 'ignore',
    ignoreActions: ['check', 'partial_check', 'transform'],
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      if (valibotSchema === labelMap) return { ...jsonSchema, ...LABELS };
      if (valibotSchema === anyFields) return { ...jsonSchema, type: 'object' };
      if ('item' in valibotSchema && valibotSchema.item === windowSchema) {
        return oneOrSeveral(jsonSchema);
      }
      return undefined;
    },
  });
  const { $schema, ...rest } = schema;
  const whole = {
    $schema,
    ...words,
    ...rest,
  };
  return format(JSON.stringify(whole), { parser: 'json', printWidth: 100 });
}

const LABELS: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };

function oneOrSeveral(list: JsonSchema): JsonSchema {
  const { items } = list;
  if (typeof items !== 'object' || Array.isArray(items)) throw new Error('windows are no list');
  return { anyOf: [items, list] };
}
