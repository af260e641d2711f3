/** Every command of these pages, in blocks and between backticks, is one that there is: its options are known, the files that it names are there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { Command } from 'commander';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { declareGlobalOptions } from '../../../src/cli/command-line/global-options.ts';
import { FLEET_FAILURES } from '../../../src/cli/start/fleet-plan.ts';
import { INJECTED_FAILURES } from '../../../src/cli/start/injection.ts';
import { parseStartOptions } from '../../../src/cli/start/options.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const PAGES = [
  'README.md',
  'docs/try-it.md',
  'docs/modes.md',
  'docs/install.md',
  'docs/rollouts.md',
  'docs/fleet.md',
  'docs/gitops.md',
  'docs/operations.md',
  'docs/on-call.md',
  'docs/security.md',
  'docs/scale.md',
];
/** Programs of others, whose options are theirs. */
const OF_OTHERS =
  /^(?:\. \/tmp\/|kubectl |helm |aws |docker |buildah |skopeo |gh |npm install |npx osls |git |cd |sed )/;
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

function linesOf(page: string): readonly string[] {
  const blocks = [...read(page).matchAll(/^ *```sh\n([^]*?)^ *```/gm)].map(([, body = '']) => body);
  const lines = blocks
    .flatMap((body) => body.replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.replace(/(?:^| +)# .*$/, '').trim())
    .filter((line) => line !== '');
  return [...lines, ...inlineIn(read(page))];
}

/** What a text would have a person type between backticks; a form as `rollcall status …` is none. */
function inlineIn(text: string): readonly string[] {
  const prose = text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
  return [...prose.matchAll(/`((?:rollcall [a-z]|scripts\/)[^`…*]*)`/g)].map(([, line = '']) =>
    line.replaceAll(/\s+/g, ' '),
  );
}

const globals = new Command();
declareGlobalOptions(globals);

function checkRollcall(line: string): void {
  const words = line.split(/ \|/)[0]?.split(/ +/).slice(1) ?? [];
  const from = words[0] === '--stage' ? words.slice(2) : words;
  const module = COMMANDS.find(({ path: own }) => own.every((word, at) => from[at] === word));
  assert.ok(module !== undefined, line);
  const command = new Command();
  module.configure(command);
  const known = [...command.options, ...globals.options].flatMap(({ long, short }) => [
    long,
    short,
  ]);
  for (const word of words.filter((one) => /^--?[a-z]/.test(one))) {
    assert.ok(known.includes(word), `${word} in ${line}`);
  }
}

function checkLine(line: string): void {
  for (const [file] of line.matchAll(/(?<![\w/.-])(?:infra|scripts|examples)\/[\w/.-]+/g)) {
    assert.ok(existsSync(path.join(ROOT, file)), `${file} in ${line}`);
  }
  const start = /^npm start(?: -- (.+))?$/.exec(line);
  if (start !== null) {
    const options = start[1]?.split(/ +/) ?? [];
    assert.equal(parseStartOptions(options).kind, 'run', line);
    return;
  }
  const script = /^npm (?:run )?([\w:-]+)/.exec(line)?.[1] ?? '';
  if (line.startsWith('rollcall ')) checkRollcall(line);
  else if (script in scripts) return;
  else if (/^(?:node scripts\/launch\.mjs |scripts\/)/.test(line)) return;
  else assert.match(line, OF_OTHERS);
}

describe('the commands of a page', () => {
  for (const page of PAGES) {
    it(`are there: ${page}`, () => {
      const lines = linesOf(page);
      assert.ok(lines.length > 0);
      for (const line of lines) checkLine(line);
    });
  }
});

describe('docs/bad-release.svg', () => {
  it('shows commands that are there', () => {
    const shown = read('docs/bad-release.svg').matchAll(
      /fill="#ffffff">((?:npm|rollcall) [^<]+)</g,
    );
    const lines = [...shown].map(([, line = '']) => line);
    assert.ok(lines.length >= 3);
    for (const line of lines) checkLine(line);
  });
});

describe('docs/try-it.md', () => {
  const firstCells = (head: string): readonly string[] => {
    const [, table = ''] = read('docs/try-it.md').split(`| ${head} |`);
    const rows = table.slice(0, table.indexOf('\n\n')).split('\n').slice(2);
    return rows.map((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? row);
  };

  it('lists what can be injected, over nodes and over clusters', () => {
    assert.deepEqual(firstCells('`--inject`'), [...INJECTED_FAILURES]);
    assert.deepEqual(firstCells('`--fleet --inject`'), [...FLEET_FAILURES]);
  });
});
