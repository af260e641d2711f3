/**
 * `node scripts/launch.mjs scripts/policy-schema.ts` writes the JSON Schemas of policies and FleetDaemonSets into infra/schema,
 * for editors; `npm run build:npm` does so in the package. They are derived from the schemas of the readers, and not committed.
 *
 * JSON Schema knows less than the reader: which time zones exist, how long a duration is, what two fields must not say
 * together. What it refuses, the reader refuses; what only the reader refuses is listed in test/unit/infra.
 */
import { writeSchemas } from './lib/policy-json-schema.ts';
import { repositoryRoot } from './lib/run-tool.ts';

for (const name of await writeSchemas(repositoryRoot)) process.stdout.write(`${name} is written\n`);
