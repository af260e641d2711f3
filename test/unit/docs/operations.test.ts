/**
 * The run-book beside the alarms that are deployed: whoever is called finds what to do, and nothing is described
 * that does not exist.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { declareGlobalOptions } from '../../../src/cli/command-line/global-options.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const PREFIX = /AlarmName: rollcall-\$\{sls:stage\}-([a-z-]+)/g;

function deployedAlarms(): readonly string[] {
  const files = globSync('infra/alarms/*.yml', { cwd: ROOT });
  return files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(PREFIX)].map(([, name = '']) => name),
  );
}

function describedAlarms(): readonly string[] {
  const text = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const [, section = ''] = /### By alarm\n([\s\S]*?)\n### /.exec(text) ?? [];
  const firstCells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  return firstCells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
  );
}

it('the run-book says what to do about every alarm, and about no other', () => {
  const deployed = deployedAlarms();
  assert.ok(deployed.length > 15, 'the alarms were not found');
  assert.deepEqual(describedAlarms().toSorted(), deployed.toSorted());
});

it('the run-book stops functions by their mappings, never by their concurrency (F3)', () => {
  const text = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const advice = text.split('\n').filter((line) => /reserved concurrency|reserve some/i.test(line));
  assert.ok(advice.every((line) => line.startsWith('**Never set reserved concurrency to 0**')));
  assert.match(text, /^rollcall stack stop /m);
  assert.match(text, /rollcall stack stop --all/);
});

it('the run-book says how long messages wait for a place, as the queues do (F4)', () => {
  const text = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const queues = readFileSync(path.join(ROOT, 'infra/queues.yml'), 'utf8');
  const service = readFileSync(path.join(ROOT, 'serverless.yml'), 'utf8');
  assert.match(service, /reconcileReceives: 100\n/);
  const products = [
    ...queues.matchAll(/VisibilityTimeout: (\d+)[\s\S]*?maxReceiveCount: (\S+)/g),
  ].map(
    ([, lease = '', receives = '']) =>
      `${(receives.startsWith('$') ? 100 : Number(receives)).toLocaleString('en-US')} × ${lease} s`,
  );
  assert.equal(products.length, 4);
  for (const product of products) assert.ok(text.includes(product), product);
});

/** What a text would have a person type: in blocks of shell, and between backticks. */
function typedIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)];
  return [...lines, ...inline.map(([, code = '']) => code)];
}

function longOptions(declare: (command: Command) => void): ReadonlySet<string> {
  const command = new Command();
  declare(command);
  return new Set(command.options.map(({ long }) => long ?? ''));
}

const GLOBALS = longOptions(declareGlobalOptions);

/** What is wrong with a command line of `rollcall`; undefined when `--help` knows it. */
function problemOf(line: string): string | undefined {
  const words = line.split(/\s+/);
  const module = COMMANDS.find(({ path: own }) => own.every((word, at) => words[at] === word));
  if (module === undefined) return `no command: ${line}`;
  const own = longOptions((command) => module.configure(command));
  const options = words.filter((word) => /^--[a-z]/.test(word));
  const unknown = options.filter((option) => !own.has(option) && !GLOBALS.has(option));
  return unknown.length === 0 ? undefined : `${unknown.join(', ')}: ${line}`;
}

/** Every use of `rollcall` in a line, without its comment and what follows in a pipe. */
function rollcallLines(text: string): readonly string[] {
  return typedIn(text)
    .flatMap((line) => line.replace(/ #.*$/, '').split('|'))
    .map((part) => /(?:^|\s)rollcall ([a-z].*)$/.exec(part.trim())?.[1])
    .filter((line) => line !== undefined);
}

describe('what the run-book has people type (F6, F7, F8)', () => {
  const text = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');

  it('are commands and options that --help knows', () => {
    const lines = rollcallLines(text);
    assert.ok(lines.length > 25, `${lines.length} were found`);
    for (const word of ['cluster add', 'stack stop', 'freeze', 'cluster set']) {
      assert.ok(
        lines.some((line) => line.startsWith(word)),
        word,
      );
    }
    assert.deepEqual(
      lines.map(problemOf).filter((problem) => problem !== undefined),
      [],
    );
  });

  it('would be caught if it were not so', () => {
    const wrong = '`rollcall cluster restore` and `rollcall cluster add --into x`';
    assert.deepEqual(rollcallLines(wrong).map(problemOf), [
      'no command: cluster restore',
      '--into: cluster add --into x',
    ]);
  });

  it('are never what AWS refuses, or does not do: a rename, a brake by throttling, a deployment that mends', () => {
    const disaster = text.slice(text.indexOf('## Disaster'), text.indexOf('## Logs'));
    assert.doesNotMatch(disaster, /reserved concurrency 0|deploy again\)? \|/i);
    assert.doesNotMatch(text, /restore the registry there/);
    // Restored under the name that it had, the table must be gone before; and it comes back bare.
    const order = [
      /--no-deletion-protection-enabled {2,}# these two/,
      /restore-table-from-backup --target-table-name rollcall-STAGE-registry /,
      /PointInTimeRecoveryEnabled=true/,
      /update-table --table-name rollcall-STAGE-registry --deletion-protection-enabled\n/,
    ].map((pattern) => disaster.slice(disaster.indexOf('*The table is gone')).search(pattern));
    assert.ok(
      order.every((at) => at >= 0),
      String(order),
    );
    assert.deepEqual(
      order.toSorted((left, right) => left - right),
      order,
    );
    assert.match(disaster, /enable-key/);
    assert.match(disaster, /QueueDeletedRecently/);
  });

  it('names programs of the repository that are there', () => {
    const programs = [...text.matchAll(/scripts\/[a-z/-]+\.ts/g)].map(([name]) => name);
    assert.ok(programs.includes('scripts/recreate.ts'));
    for (const name of programs) assert.ok(globSync(name, { cwd: ROOT }).length === 1, name);
  });
});
