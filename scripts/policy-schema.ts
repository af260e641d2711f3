/**
 * `node scripts/launch.mjs scripts/policy-schema.ts` writes infra/schema/rollout-policy.schema.json anew, from the schema
 * that the functions read policies by; test/unit/infra/rollout-policy-schema.test.ts fails while it is not up to date.
 *
 * JSON Schema knows less than the reader: which time zones exist, how long a duration is, what two fields must not say
 * together. What it refuses, the reader refuses; what only the reader refuses is listed in that test.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './lib/run-tool.ts';
import { POLICY_SCHEMA_FILE, renderPolicySchema } from './lib/policy-json-schema.ts';

const file = path.join(repositoryRoot, POLICY_SCHEMA_FILE);
mkdirSync(path.dirname(file), { recursive: true });
writeFileSync(file, await renderPolicySchema());
process.stdout.write(`${POLICY_SCHEMA_FILE} is written\n`);
