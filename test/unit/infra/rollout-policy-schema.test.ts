// The published JSON Schema of rollout policies is the reader's own, and says the same as far as JSON Schema can.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { policyJsonSchema } from '../../../scripts/lib/policy-json-schema.ts';
import { fieldsOf, type JsonSchema } from '../../support/json-schema-fields.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { EVERY_FIELD, REFUSED_POLICIES } from '../adapters/policy/policy-samples.ts';

const schema = policyJsonSchema() as JsonSchema;
const isValid = new Ajv().compile(schema);
const reader = createPolicyReader();

describe('the JSON Schema of rollout policies', () => {
  it('describes every field, with an example', () => {
    const fields = fieldsOf(schema);
    assert.ok(fields.length >= 25, String(fields.length));
    for (const [name, { description = '', examples = [] }] of fields) {
      assert.ok(description.endsWith('.') && examples.length > 0, name);
    }
  });

  for (const [name, { examples = [] }] of Object.entries(schema.properties ?? {})) {
    it(`has an example of ${name} that is a policy`, () => {
      for (const example of examples) {
        assert.equal(isValid({ [name]: example }), true);
        assert.equal(reader.read(JSON.stringify({ [name]: example })).kind, 'policy');
      }
    });
  }

  it('takes a policy with every field, and one of nothing', () => {
    for (const policy of [EVERY_FIELD, '{}']) assert.equal(isValid(parse(policy)), true);
  });

  for (const [what, policy, , by] of REFUSED_POLICIES) {
    it(`${by === 'reader' ? 'leaves to the reader' : 'refuses'} ${what}`, () => {
      assert.equal(isValid(parse(policy)), by === 'reader');
    });
  }
});
