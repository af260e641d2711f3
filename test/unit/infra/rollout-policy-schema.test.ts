// The published JSON Schema of rollout policies is the reader's own, and says the same as far as JSON Schema can.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { POLICY_SCHEMA_FILE, renderPolicySchema } from '../../../scripts/lib/policy-json-schema.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { fieldsOf, type JsonSchema } from '../../support/json-schema-fields.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { EVERY_FIELD, REFUSED_POLICIES } from '../adapters/policy/policy-samples.ts';

const text = readFileSync(path.join(repositoryRoot, POLICY_SCHEMA_FILE), 'utf8');
const schema = JSON.parse(text) as JsonSchema;
const isValid = new Ajv().compile(schema);
const reader = createPolicyReader();

describe(POLICY_SCHEMA_FILE, () => {
  it('is up to date: node scripts/launch.mjs scripts/policy-schema.ts writes it', async () => {
    assert.equal(text, await renderPolicySchema());
  });

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
