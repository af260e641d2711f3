/**
 * Generates packages/local-cluster/src/schema/types.json from the Go types of the release that the suite runs.
 *
 * Usage: node test/conformance/emulator/generate-schema.ts [--write]
 * Without --write it says whether the committed table is up to date (exit code 1 if not). Needs Go.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ensurePrograms } from '../control-plane/go-programs.ts';

const TABLE = join(
  import.meta.dirname,
  ...['..', '..', '..', 'packages', 'local-cluster', 'src', 'schema', 'types.json'],
);
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** The table as the Go types say it, as the text of the file. Rejects when Go fails. */
export async function generateSchema(): Promise<string> {
  const directory = await ensurePrograms({
    name: 'schema',
    description: 'what prints the Go types (about a minute if cold)',
    recipes: [{ module: 'schema', packages: ['.'], output: 'schema', linkerFlags: '-s -w' }],
  });
  const { stdout } = await promisify(execFile)(join(directory, 'schema'), {
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  return stdout;
}

/** The table that is committed. */
export function committedSchema(): string {
  return readFileSync(TABLE, 'utf8');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
  const generated = await generateSchema();
  const isSame = generated === committedSchema();
  if (values.write) writeFileSync(TABLE, generated);
  else if (!isSame) process.exitCode = 1;
  process.stdout.write(isSame ? 'types.json is up to date\n' : `types.json differs\n`);
}
