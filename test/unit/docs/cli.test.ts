/** docs/cli.md and `rollcall --help` name the same commands, options and documents. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { declareGlobalOptions } from '../../../src/cli/command-line/global-options.ts';
import { EXIT } from '../../../src/cli/process/exit-codes.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const text = readFileSync(path.join(ROOT, 'docs/cli.md'), 'utf8');
const reference = readFileSync(path.join(ROOT, 'docs/reference.md'), 'utf8');

/** Sections of commands by their words. */
const sections = new Map(
  [...text.matchAll(/^## `rollcall ([^`]+)`\n([\s\S]*?)(?=^## )/gm)].map(
    ([, words = '', body = '']) => [words, body],
  ),
);

const optionsIn = (body: string): ReadonlySet<string> =>
  new Set([...body.matchAll(/`(--[a-z-]+)/g)].map((match) => match[1] ?? ''));

function longOptions(command: Command): string[] {
  return command.options.map(({ long }) => long ?? '').filter((long) => long !== '');
}

describe('docs/cli.md', () => {
  it('has a section for every command, in the order of --help, and for no other', () => {
    assert.deepEqual(
      [...sections.keys()].toSorted(),
      COMMANDS.map(({ path: words }) => words.join(' ')).toSorted(),
    );
  });

  const globals = new Command();
  declareGlobalOptions(globals);

  for (const module of COMMANDS) {
    const name = module.path.join(' ');
    it(`names every option of ${name}, and no other`, () => {
      const command = new Command(name);
      module.configure(command);
      const written = optionsIn(sections.get(name) ?? '');
      const own = longOptions(command);
      const missing = own.filter((long) => !written.has(long));
      assert.deepEqual(missing, [], `add them to docs/cli.md: ${missing.join(', ')}`);
      const known = new Set([...own, ...longOptions(globals)]);
      const stale = [...written].filter((long) => !known.has(long));
      const ofOthers = new Set(['--print']);
      assert.deepEqual(
        stale.filter((long) => !ofOthers.has(long)),
        [],
        `remove them from docs/cli.md: ${stale.join(', ')}`,
      );
    });
  }

  it('names every global option', () => {
    const missing = longOptions(globals).filter((long) => !text.includes(`\`${long}`));
    assert.deepEqual(missing, []);
  });

  it('names every JSON document of a command, and the reference points to it', () => {
    const kinds = new Set<string>();
    for (const file of globSync(
      'src/cli/{cluster,command-line,fleet,rollout,stack,status}/**/*.ts',
      {
        cwd: ROOT,
      },
    )) {
      const source = readFileSync(path.join(ROOT, file), 'utf8');
      for (const match of source.matchAll(/document: \{[^}]*?kind: '([A-Z][A-Za-z]+)'/g)) {
        kinds.add(match[1] ?? '');
      }
    }
    assert.ok(kinds.size >= 12, [...kinds].join(', '));
    const missing = [...kinds].filter((kind) => !text.includes(`\`${kind}\``));
    assert.deepEqual(missing, [], `add them to docs/cli.md: ${missing.join(', ')}`);
    assert.match(reference, /\[cli\.md\]\(cli\.md\)/);
  });

  it('names every finding of cluster show', () => {
    const source = readFileSync(path.join(ROOT, 'src/cli/cluster/show/show-cluster.ts'), 'utf8');
    const words = source.split('const SHOWN = {')[1]?.split('\n}')[0] ?? '';
    const codes = [...words.matchAll(/^ {2}'?([a-z-]+)'?: /gm)].map((match) => match[1] ?? '');
    assert.ok(codes.length > 8);
    const missing = codes.filter((code) => !text.includes(`\`${code}\``));
    assert.deepEqual(missing, []);
  });

  it('says every exit code, as the reference does', () => {
    for (const code of Object.values(EXIT)) {
      assert.match(reference, new RegExp(`^\\| ${String(code)} \\|`, 'm'), String(code));
      assert.match(text, new RegExp(`\\b${String(code)} [a-z]`), String(code));
    }
  });
});
