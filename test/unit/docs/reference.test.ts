/** The pages of docs/reference are what `npm run reference` makes of the code. */
import assert from 'node:assert/strict';
import { globSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { REFERENCE_FOLDER, renderPages } from '../../../scripts/reference/pages.ts';
import { readUnion } from '../../../scripts/reference/unions.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { METRICS } from '../../../src/ports/metrics.ts';

const folder = path.join(repositoryRoot, REFERENCE_FOLDER);
const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');
const pages: Readonly<Record<string, string>> = await renderPages();

describe('docs/reference', () => {
  for (const [name, text] of Object.entries(pages)) {
    it(`has a current ${name}`, () => {
      const stored = readFileSync(path.join(folder, name), 'utf8');
      assert.ok(stored === text, `${name} is out of date; run: npm run reference`);
    });
  }

  it('has no page that nothing makes', () => {
    assert.deepEqual(readdirSync(folder).toSorted(), Object.keys(pages).toSorted());
  });

  it('has an example and a JSON document of every command', () => {
    const bare = COMMANDS.filter(
      ({ examples = [], documents = [] }) => examples.length === 0 || documents.length === 0,
    );
    assert.deepEqual(
      bare.map(({ path: words }) => words.join(' ')),
      [],
    );
  });

  it('has every variable of watcher and token renewer', () => {
    const files = globSync('src/adapters/kubernetes/settings/*-settings.ts', {
      cwd: repositoryRoot,
    });
    const variables = files.flatMap((file) =>
      [...read(file).matchAll(/: '(ROLLCALL_[A-Z_]+)'/g)].map(([, name = '']) => name),
    );
    assert.ok(variables.length >= 15, String(variables.length));
    const missing = variables.filter((name) => !pages['settings.md']?.includes(`\`${name}\``));
    assert.deepEqual(missing, []);
  });

  it('has no metric that nothing counts', () => {
    const sources = globSync('{src,functions}/**/*.ts', { cwd: repositoryRoot })
      .filter((file) => !file.endsWith('ports/metrics.ts'))
      .map(read)
      .join('\n');
    const unused = Object.keys(METRICS).filter((name) => !sources.includes(`'${name}'`));
    assert.deepEqual(unused, []);
  });

  it('refuses a code without words', () => {
    assert.throws(
      () => readUnion('src/ports/cluster/cluster-inspection.ts', 'TlsFault'),
      /TlsFault says nothing of untrusted/,
    );
  });
});
