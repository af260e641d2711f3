/**
 * `node scripts/launch.mjs scripts/policy-schema.ts` writes the JSON Schemas of infra/schema anew, from the schemas that
 * policies and FleetDaemonSets are read by; tests in test/unit/infra fail while one is not up to date.
 *
 * JSON Schema knows less than the reader: which time zones exist, how long a duration is, what two fields must not say
 * together. What it refuses, the reader refuses; what only the reader refuses is listed in that test.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './lib/run-tool.ts';
import {
  FLEET_SCHEMA_FILE,
  POLICY_SCHEMA_FILE,
  renderFleetSchema,
  renderPolicySchema,
} from './lib/policy-json-schema.ts';

const texts = {
  [POLICY_SCHEMA_FILE]: await renderPolicySchema(),
  [FLEET_SCHEMA_FILE]: await renderFleetSchema(),
};
for (const [name, text] of Object.entries(texts)) {
  const file = path.join(repositoryRoot, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${name} is written\n`);
}
