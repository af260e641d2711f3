/**
 * docs/benchmarks.md names programs that exist, with the sizes and goals that they have, and says of which day and
 * commit each table is. That the figures themselves still hold nobody checks; the page says so.
 */
import { describe, it } from 'node:test';
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');
const page = read('docs/benchmarks.md');
const [, ...texts] = page.split('\n## ');
const sections = texts.map((text) => ({ name: text.split('\n', 1)[0] ?? '', text }));

const TAKEN = /\b\d{1,2} [A-Z][a-z]+ 20\d\d, commit `[0-9a-f]{7}`/;
const TABLE_HEAD = /^\|.*\|\n\|[-| ]+\|$/m;
/** A median and the runs that it is of: `5.3 s (5.3, 6.1, 4.6)`. */
const MEDIAN = /\| ([\d.]+) s \(([\d., ]+)\) \|/g;

/** A size or goal: as the page says it, and as the program has it. */
const AGREED: readonly (readonly [section: string, said: string, file: string, has: string])[] = [
  ['join', '1,000 nodes and 10 DaemonSets', 'join', "'BENCH_NODES'] ?? 1000"],
  ['join', '1,000 nodes and 10 DaemonSets', 'join', "'BENCH_DAEMONSETS'] ?? 10)"],
  ['join', '`BENCH_WARM_JOINS`, 10)', 'join', "'BENCH_WARM_JOINS'] ?? 10)"],
  ['beside', 'of 1,000 nodes', 'beside', "'BENCH_NODES'] ?? 1000"],
  ['beside', '12 joins', 'beside', "'BENCH_JOINS'] ?? 12"],
  ['beside', 'than 1.5 times', 'beside', 'FACTOR_MAX = 1.5;'],
  ['create', '1,000 nodes', 'support/contest', "'BENCH_NODES'] ?? 1000"],
  ['create', 'measured three times, `default` once', 'support/contest', "'BENCH_REPEATS'] ?? 3"],
  ['create', 'measured three times, `default` once', 'support/contest', 'default: 1,'],
  ['rollout', 'maxUnavailable\nis 10 %', 'support/bench-cluster', "maxUnavailable: '10%'"],
  ['reconcile', 'medians of 25', 'reconcile', 'ROUNDS = 25;'],
  ['table-requests', '2,000 requests of each kind', 'table-requests', "'BENCH_REQUESTS'] ?? 2000"],
  ['table-requests', 'after 500', 'table-requests', 'WARM_COUNT = 500;'],
  ['laptop', '1,000 nodes', 'laptop', "'BENCH_NODES'] ?? 1000"],
  ['laptop', 'six DaemonSets', 'laptop', "'BENCH_DAEMONSETS'] ?? 6"],
  ['laptop', 'more than 60 s or 1.5 GiB', 'laptop', 'BOUND_S = 60;'],
  ['laptop', 'more than 60 s or 1.5 GiB', 'laptop', 'BOUND_GIB = 1.5;'],
  ['memory', 'of 8 nodes', 'memory', "'BENCH_NODES'] ?? 8"],
  ['memory', '1.4 MB', 'memory', "'BENCH_TEMPLATE_BYTES'] ?? 1_400_000"],
  ['memory', 'sets its image ten times', 'memory', "'BENCH_ROLLOUTS'] ?? 10"],
  ['memory', 'than after the fifth', 'memory', 'COMPARED = 5;'],
  ['memory', 'than 40 MiB more', 'memory', 'GROWTH_MIB_MAX = 40;'],
  ['watcher', '1,000 nodes', 'watcher', "'BENCH_NODES'] ?? 1000"],
  ['watcher', 'ten DaemonSets', 'watcher', "'BENCH_DAEMONSETS'] ?? 10)"],
  ['watcher', '90 MiB', 'watcher', 'GOAL_MIB = 90;'],
  ['watcher', '1 % of a core', 'watcher', 'GOAL_PERCENT = 1;'],
  ['isolation', 'three healthy clusters', 'isolation', 'healthy: 3,'],
  ['isolation', 'of 60 DaemonSets', 'isolation', "'BENCH_KEYS'] ?? 60"],
  ['isolation', 'there are 60 changes', 'isolation', "'BENCH_CHANGES'] ?? 20"],
  ['attribution', '10,000 seeded fleets', 'attribution', "'BENCH_FLEETS'] ?? 10_000"],
  ['attribution', 'three points less often', 'attribution', 'MISSED_POINTS_MAX = 3;'],
  ['cold-start', 'medians of ten', 'cold-start', 'ROUNDS = 10;'],
  ['cold-start', 'over 60 ms more', 'cold-start', 'OVER_EMPTY_MS_MAX = 60;'],
];

describe('docs/benchmarks.md', () => {
  it('has a section for each program of test/performance, or docs/scale.md names it', () => {
    const programs = globSync('test/performance/*.ts', { cwd: repositoryRoot })
      .map((file) => path.basename(file, '.ts'))
      .toSorted();
    for (const { name, text } of sections) {
      assert.ok(programs.includes(name), `${name}: there is no such program`);
      assert.ok(text.includes(`npm run bench -- ${name}`), `${name}: how is it run?`);
    }
    const others = programs.filter((program) => sections.every(({ name }) => name !== program));
    const scale = read('docs/scale.md');
    for (const name of others) assert.ok(scale.includes(`npm run bench -- ${name}`), name);
  });

  it('says above each table of which day and commit it is', () => {
    for (const { name, text } of sections) {
      // One for each question, where a section asks several.
      const parts = name === 'attribution' ? text.split(/^### /m).slice(1) : [text];
      // What another program found is of no commit of ours.
      for (const part of parts.filter((each) => !each.startsWith('Other rules'))) {
        const [before = '', ...tables] = part.split(TABLE_HEAD);
        assert.equal(tables.length, 1, `${name}: one table`);
        assert.match(before, TAKEN, name);
      }
    }
  });

  for (const [section, said, file, has] of AGREED) {
    it(`${section}: "${said.replace('\n', ' ')}" is what ${file}.ts has`, () => {
      const text = sections.find(({ name }) => name === section)?.text ?? '';
      assert.ok(text.includes(said), 'the page');
      assert.ok(read(`test/performance/${file}.ts`).includes(has), 'the program');
    });
  }

  it('gives the limits that a lifted controller is started with, and the size that the build refuses', () => {
    const [, qps, burst] = /\((\d+),000\/(\d+),000 and 20\/30/.exec(page) ?? [];
    const flags = read('test/conformance/control-plane/component-flags.ts');
    assert.ok(flags.includes(`'--kube-api-qps=${qps}000', '--kube-api-burst=${burst}000'`));
    const [, kib] = /Bundles may have (\d+) KB/.exec(page) ?? [];
    const bundles = read('scripts/build/function-bundles.ts');
    assert.ok(bundles.includes(`FUNCTION_BUNDLE_KIB_MAX = ${kib};`));
  });

  it('gives medians that are the middle of the runs beside them', () => {
    const medians = [...page.matchAll(MEDIAN)];
    assert.equal(medians.length, 8);
    for (const [row, median, runs = ''] of medians) {
      const sorted = runs.split(', ').toSorted((left, right) => Number(left) - Number(right));
      assert.equal(sorted[Math.floor(sorted.length / 2)], median, row);
    }
  });
});
