/**
 * Writes the catalogue of docs/promise.md anew, from the titles of the tests: node scripts/launch.mjs scripts/promise.ts
 *
 * Exit code 1, after writing, if no test names a row or a rule.
 * test/unit/docs/promise.test.ts fails while the page is not what this writes.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { composeCatalogue, withCatalogue, type TestFile } from './promise/compose-catalogue.ts';

const root = path.resolve(import.meta.dirname, '..');
const PAGE = path.join(root, 'docs/promise.md');

const files = globSync('{test,packages/*/test}/**/*.test.ts', { cwd: root }).map(
  (name): TestFile => ({
    path: name.split(path.sep).join('/'),
    text: readFileSync(path.join(root, name), 'utf8'),
  }),
);
const { text, findings } = composeCatalogue(files);
writeFileSync(PAGE, withCatalogue(readFileSync(PAGE, 'utf8'), text));
for (const finding of findings) process.stderr.write(`${finding}\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
