/** What CI plays is what CONTRIBUTING.md says that it plays, and it fits. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { parse } from 'yaml';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (name: string): string => readFileSync(path.join(root, name), 'utf8');

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly if?: string;
        readonly permissions?: Readonly<Record<string, string>>;
        readonly environment?: unknown;
        readonly steps: readonly unknown[];
      }
    >
  >;
}

/** Minutes that a whole run may take. */
const MINUTES_MAX = 34;

interface Section {
  readonly title: string;
  readonly isBeside: boolean;
}

function sectionsOf(script: string): readonly Section[] {
  return [...script.matchAll(/^(section|beside) (\S+) /gm)].map(([, kind, title = '']) => ({
    title,
    isBeside: kind === 'beside',
  }));
}

/** Title, minutes, and whether the row says that they pass beside others. */
function rowsOf(page: string): readonly (Section & { readonly minutes: number })[] {
  const [, table = ''] = page.split('| section | minutes |\n|---|---|\n');
  const rows = table.split('\n').slice(0, table.split('\n').indexOf(''));
  return rows.map((row) => {
    const [, title = '', cell = ''] = row.split('|').map((text) => text.trim());
    return { title, minutes: Number.parseFloat(cell), isBeside: cell.includes('beside') };
  });
}

describe('.ci/run', () => {
  const sections = sectionsOf(read('.ci/run'));
  const rows = rowsOf(read('CONTRIBUTING.md'));

  it('has the sections of the table in CONTRIBUTING.md, in its order', () => {
    assert.ok(sections.length > 5);
    assert.deepEqual(
      rows.map(({ title, isBeside }) => ({ title, isBeside })),
      sections.toSorted((left, right) => Number(left.isBeside) - Number(right.isBeside)),
    );
  });

  it(`takes ${MINUTES_MAX} minutes by that table, and half as much again is left by ci.yml`, () => {
    const minutes = rows.filter(({ isBeside }) => !isBeside).map((row) => row.minutes);
    const total = minutes.reduce((sum, one) => sum + one, 0);
    assert.ok(minutes.every((one) => one > 0) && total <= MINUTES_MAX, String(total));
    const [, timeout] = /timeout-minutes: (\d+)/.exec(read('.github/workflows/ci.yml')) ?? [];
    assert.ok(Number(timeout) >= 1.5 * total, `ci.yml gives ${timeout} minutes`);
  });

  it('is what ci.yml runs, with the strict check of the supply chain after it', () => {
    const workflow = read('.github/workflows/ci.yml');
    assert.match(workflow, /run: \.ci\/run\n/);
    assert.match(workflow, /check:supply-chain -- --strict/);
  });
});

describe('.ci/nightly', () => {
  it('is what nightly.yml runs, every section on one machine of its matrix', () => {
    const workflow = read('.github/workflows/nightly.yml');
    assert.match(workflow, /cron: .*\n[\s\S]*run: \.ci\/nightly \$\{\{ matrix\.sections \}\}\n/);
    const listed = execFileSync(path.join(root, '.ci/nightly'), ['--list'], { encoding: 'utf8' });
    const played = [...workflow.matchAll(/^ +sections: (.+)$/gm)].flatMap(([, titles = '']) =>
      titles.split(' '),
    );
    assert.ok(played.length > 10);
    assert.deepEqual(played.toSorted(), listed.trim().split('\n').toSorted());
  });
});

describe('.ci/release', () => {
  const { jobs } = parse(read('.github/workflows/publish.yml')) as Workflow;

  it('is what publish.yml builds by, also where it is started by hand, which publishes nothing', () => {
    assert.match(JSON.stringify(jobs['build']?.steps), /\.ci\/release/);
    assert.equal(jobs['build']?.if, undefined);
    assert.equal(jobs['publish']?.if, "github.event_name == 'push'");
  });
});

describe('a job that may sign what is published', () => {
  const jobs = ['publish.yml', 'ci.yml', 'nightly.yml'].flatMap((name) => {
    const { jobs: declared } = parse(read(`.github/workflows/${name}`)) as Workflow;
    return Object.entries(declared).map(([job, body]) => ({ name: `${name} ${job}`, body }));
  });
  const signing = jobs.filter(({ body }) => body.permissions?.['id-token'] === 'write');

  it('runs no code of ours or of a dependency: neither checkout, install, test nor build', () => {
    assert.deepEqual(
      signing.map(({ name }) => name),
      ['publish.yml publish'],
    );
    for (const { name, body } of signing) {
      const text = JSON.stringify(body.steps);
      assert.doesNotMatch(text, /actions\/checkout|npm (ci|test|run)|launch\.mjs/, name);
      assert.match(text, /actions\/download-artifact/, name);
    }
  });

  it('is the only one that has the environment or the secrets of a registry', () => {
    for (const { name, body } of jobs) {
      if (signing.some((one) => one.name === name)) continue;
      assert.equal(body.environment, undefined, name);
      assert.doesNotMatch(JSON.stringify(body), /secrets\./, name);
    }
  });
});
