/** docs/fleet.md: its example is a FleetDaemonSet, its tables have every field of the strategy, its defaults are the reader's. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fleetJsonSchema } from '../../../scripts/lib/policy-json-schema.ts';
import { createFleetReader } from '../../../src/adapters/policy/fleet/fleet-reader.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const page = readFileSync(path.join(ROOT, 'docs/fleet.md'), 'utf8');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const schema = fleetJsonSchema() as Schema;
const spec = schema.properties?.['spec'];
const strategy = spec?.properties?.['strategy'];

describe('docs/fleet.md', () => {
  it('has an example that is a FleetDaemonSet', () => {
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
    const reading = createFleetReader().read(yaml, () => assert.fail('it names a file'));
    assert.equal(reading.kind, 'fleet', JSON.stringify(reading));
    assert.equal(reading.fleet.strategy.stages.length, 3);
  });

  it('names every field of spec, of its strategy and of a stage', () => {
    const names = [spec, strategy, strategy?.properties?.['stages']?.items].flatMap((part) =>
      Object.keys(part?.properties ?? {}),
    );
    assert.ok(names.length > 20, String(names.length));
    const missing = names.filter((name) => !new RegExp(`\\b${name}\\b[\`\\[.]`).test(page));
    assert.deepEqual(missing, []);
  });
});
