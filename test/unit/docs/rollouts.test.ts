/** docs/rollouts.md, "The policy": its table has every field, and every example of the page is read as a policy. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';
import { POLICY_SCHEMA_FILE } from '../../../scripts/lib/policy-json-schema.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { POLICY_ANNOTATION } from '../../../src/core/policy/rollout-policy.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(path.join(ROOT, 'docs/rollouts.md'), 'utf8');
const section = /^## The policy\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(page)?.[1] ?? '';
const table = /^### Fields\n([\s\S]*?)(?=^### )/m.exec(section)?.[1] ?? '';
const schema = JSON.parse(readFileSync(path.join(ROOT, POLICY_SCHEMA_FILE), 'utf8')) as {
  readonly properties: Readonly<Record<string, unknown>>;
};

const reader = createPolicyReader();
const DEFAULTS = reader.read('{}');

const codesOf = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

interface Row {
  readonly fields: readonly string[];
  readonly byDefault: string | undefined;
  readonly example: string;
}

const rows: readonly Row[] = table
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [fields = '', , byDefault = '', example = ''] = line.split(' | ');
    return {
      fields: codesOf(fields),
      byDefault: /^`([^`]+)`$/.exec(byDefault)?.[1],
      example: codesOf(example)[0] ?? '',
    };
  });

describe('docs/rollouts.md', () => {
  it('has a row for every field of the schema, and for no other', () => {
    const written = rows.flatMap(({ fields }) => fields).filter((field) => /^\w+$/.test(field));
    assert.deepEqual(written.toSorted(), Object.keys(schema.properties).toSorted());
  });

  for (const { fields, byDefault, example } of rows) {
    const [field = ''] = fields;

    it(`has an example of ${fields.join(', ')} that is a policy, and no default`, () => {
      const reading = reader.read(example);
      assert.equal(reading.kind, 'policy', JSON.stringify(reading));
      assert.notDeepEqual(reading, DEFAULTS);
      for (const name of fields) assert.ok(example.includes(`${name.split('.').at(-1) ?? ''}:`));
    });

    if (byDefault === undefined || field.includes('[]')) continue;
    it(`tells the default of ${field}`, () => {
      const [outer, inner] = field.split('.');
      const text = inner === undefined ? byDefault : `{${inner}: ${byDefault}}`;
      assert.deepEqual(reader.read(`${outer ?? ''}: ${text}`), DEFAULTS);
    });
  }

  const blocks = [...section.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map(([, body = '']) => body);

  it('has blocks of YAML whose annotations are policies', () => {
    assert.ok(blocks.length > 0);
    for (const block of blocks) {
      const { metadata } = parse(block) as {
        readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
      };
      assert.equal(reader.read(metadata.annotations[POLICY_ANNOTATION]).kind, 'policy', block);
    }
  });

  it('says how large a policy may be', () => {
    const characters = Number(
      /more than ([0-9,]+) characters/.exec(section)?.[1]?.replace(',', ''),
    );
    const fitting = `paused: true #${'x'.repeat(characters - 14)}`;
    assert.equal(reader.read(fitting).kind, 'policy');
    assert.equal(reader.read(`${fitting}x`).kind, 'invalid');
  });
});
