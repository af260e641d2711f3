// The published JSON Schema of FleetDaemonSets is the reader's own, and says the same as far as JSON Schema can.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { FLEET_SCHEMA_FILE, renderFleetSchema } from '../../../scripts/lib/policy-json-schema.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { fieldsOf, type JsonSchema } from '../../support/json-schema-fields.ts';
import {
  EVERY_FIELD,
  REFUSED_FLEETS,
  SMALLEST,
  refusedText,
} from '../adapters/policy/fleet/fleet-samples.ts';

const text = readFileSync(path.join(repositoryRoot, FLEET_SCHEMA_FILE), 'utf8');
const schema = JSON.parse(text) as JsonSchema;
const isValid = new Ajv().compile(schema);

describe(FLEET_SCHEMA_FILE, () => {
  it('is up to date: node scripts/launch.mjs scripts/policy-schema.ts writes it', async () => {
    assert.equal(text, await renderFleetSchema());
  });

  it('describes every field, with an example that it takes', () => {
    const fields = fieldsOf(schema);
    assert.ok(fields.length >= 60, String(fields.length));
    for (const [name, field] of fields) {
      const { description = '', examples = [] } = field;
      assert.ok(description.endsWith('.') && examples.length > 0, name);
      const takes = new Ajv().compile(field);
      for (const example of examples) assert.equal(takes(example), true, name);
    }
  });

  it('takes one with every field, and the smallest', () => {
    for (const fleet of [EVERY_FIELD, SMALLEST]) assert.equal(isValid(parse(fleet)), true);
  });

  for (const refused of REFUSED_FLEETS.filter(([what]) => what !== 'a YAML alias')) {
    const [what, , , , by] = refused;
    it(`${by === 'reader' ? 'leaves to the reader' : 'refuses'} ${what}`, () => {
      assert.equal(isValid(parse(refusedText(refused))), by === 'reader');
    });
  }
});
