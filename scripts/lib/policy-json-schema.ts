/**
 * The published JSON Schemas of rollout policies and FleetDaemonSets, from the schemas of src/adapters/policy.
 *
 * Some places need a word of their own: labels, and what Kubernetes says the meaning of, are custom checks there; one window
 * may stand without a list, which the reader undoes before its schema; and checks that JSON Schema cannot express are left out.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { toJsonSchema, type JsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { anyFields, fleetSchema } from '../../src/adapters/policy/fleet/fleet-schema.ts';
import { policySchema, windowSchema } from '../../src/adapters/policy/policy-schema.ts';
import { labelMap } from '../../src/adapters/policy/written-values.ts';

/** Writes both below a folder, in `infra/schema`, as editors read them; returns their paths. */
export async function writeSchemas(folder: string): Promise<readonly string[]> {
  const schemas = {
    'infra/schema/rollout-policy.schema.json': policyJsonSchema(),
    'infra/schema/fleet-daemon-set.schema.json': fleetJsonSchema(),
  };
  await mkdir(path.join(folder, 'infra/schema'), { recursive: true });
  for (const [name, schema] of Object.entries(schemas)) {
    await writeFile(path.join(folder, name), `${JSON.stringify(schema, null, 2)}\n`);
  }
  return Object.keys(schemas);
}

/** The schema of the annotation `rollcall.dev/rollout`. */
export function policyJsonSchema(): JsonSchema {
  return derive(policySchema, {
    title: 'Rollout policy of a DaemonSet',
    description: 'The value of the annotation rollcall.dev/rollout (docs/rollouts.md).',
  });
}

/** The schema of a FleetDaemonSet. */
export function fleetJsonSchema(): JsonSchema {
  return derive(fleetSchema, {
    title: 'FleetDaemonSet',
    description: 'One DaemonSet for many clusters (docs/fleet.md).',
  });
}

function derive(
  source: v.GenericSchema,
  words: { readonly title: string; readonly description: string },
): JsonSchema {
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
  return { $schema, ...words, ...rest };
}

const LABELS: JsonSchema = { type: 'object', additionalProperties: { type: 'string' } };

function oneOrSeveral(list: JsonSchema): JsonSchema {
  const { items } = list;
  if (typeof items !== 'object' || Array.isArray(items)) throw new Error('windows are no list');
  return { anyOf: [items, list] };
}
