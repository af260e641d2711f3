/** docs/doctor.md names every finding of the doctor, docs/cli.md those of `stack check`. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';

const ROOT = new URL('../../../', import.meta.url).pathname;
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const page = read('docs/doctor.md');
const missing = (codes: readonly string[], text = page): readonly string[] =>
  codes.filter((code) => !text.includes(`\`${code}\``));

/** Codes that a file of judges gives. */
const codesIn = (file: string): readonly string[] =>
  [...read(file).matchAll(/\b(?:code: |(?:ok|failed|warning)\([\w'-]+, )([^,\n]*)/g)].flatMap(
    ([, text = '']) => [...text.matchAll(/'([a-z-]+)'/g)].map((match) => match[1] ?? ''),
  );

/** Members of a union of texts. */
function membersOf(file: string, type: string): readonly string[] {
  const source = read(file);
  const start = source.indexOf(`export type ${type} =`);
  assert.notEqual(start, -1, `${type} is no longer in ${file}`);
  const declaration = source.slice(start).split(/;\n/, 1)[0] ?? '';
  return [...declaration.matchAll(/'([a-z-]+)'/g)].map((match) => match[1] ?? '');
}

describe('docs/doctor.md', () => {
  it('names every code that a judge gives', () => {
    const all = globSync('src/app/checks/judge-*.ts', { cwd: ROOT });
    const ofAccount = all.filter((file) => file.endsWith('judge-stack.ts'));
    const codes = all.filter((file) => !ofAccount.includes(file)).flatMap(codesIn);
    assert.ok(codes.length > 50, String(codes.length));
    assert.deepEqual(missing(codes), []);
    assert.deepEqual(missing(ofAccount.flatMap(codesIn), read('docs/cli.md')), []);
  });

  it('names the codes that are put together', () => {
    const faults = membersOf('src/ports/cluster/endpoint-probe.ts', 'TlsFault');
    assert.ok(faults.length > 4);
    const refusals = ['wrong-cluster-uid', 'wrong-sender', 'wrong-group', 'unknown-cluster'];
    const rights = ['functions-rights', 'requests-rights', 'watcher-rights'].flatMap((link) => [
      `${link}-ok`,
      `${link}-missing`,
    ]);
    assert.deepEqual(
      missing([
        ...faults.map((fault) => `tls-${fault}`),
        ...refusals.map((code) => `refused-${code}`),
        ...rights,
        'functions-rights-by-namespace',
      ]),
      [],
    );
  });
});
