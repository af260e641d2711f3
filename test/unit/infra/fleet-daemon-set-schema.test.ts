// The published JSON Schema of FleetDaemonSets is the reader's own, and says the same as far as JSON Schema can.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { fleetJsonSchema } from '../../../scripts/lib/policy-json-schema.ts';
import { fieldsOf, type JsonSchema } from '../../support/json-schema-fields.ts';
import {
  EVERY_FIELD,
  REFUSED_FLEETS,
  SMALLEST,
  refusedText,
} from '../adapters/policy/fleet/fleet-samples.ts';

const schema = fleetJsonSchema() as JsonSchema;
const isValid = new Ajv().compile(schema);

describe('the JSON Schema of FleetDaemonSets', () => {
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
