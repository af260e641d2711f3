/** The live table in the room of a terminal: what is not well is shown, the rest counted. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uncoloured } from '../../../../src/cli/command-line/colour.ts';
import { fitLines, fitTable } from '../../../../src/cli/start/fit-table.ts';
import { tablePart } from '../../../../src/cli/start/table.ts';
import type { ClusterOverview } from '../../../../src/engine/overview.ts';
import { evidenceOf } from '../../../../src/core/rollout/shown-evidence.ts';
import { recordOf } from '../../../support/rollout-records.ts';
import { cluster, daemonSet } from './fixtures.ts';

const ACTIVITY = ['one', 'two', 'three', 'four', 'five'];

function shown(
  clusters: readonly ClusterOverview[],
  rows: number,
  columns = 80,
): readonly string[] {
  const parts = clusters.map((one) => tablePart(one, undefined, columns));
  const lines = fitTable(parts, ACTIVITY, { rows, columns }).map(uncoloured);
  assert.ok(lines.length < rows, `${String(lines.length)} lines`);
  for (const line of lines) assert.ok(line.length <= columns, line);
  return lines;
}

function many(count: number, prefix = 'agent'): ReturnType<typeof daemonSet>[] {
  return Array.from({ length: count }, (_, at) => daemonSet({ name: `${prefix}-${String(at)}` }));
}

const bad = daemonSet({ name: 'zz-broken', available: 1, codes: { Running: 1, Refused: 2 } });

describe('a live table', () => {
  it('is whole where it fits, with what happened below it', () => {
    const lines = shown([cluster({ daemonSets: many(3) })], 20);
    assert.equal(lines.length, 5 + ACTIVITY.length);
    assert.equal(lines.at(-1), 'five');
  });

  it('shows what is not well first, its cause below it, and counts the rest', () => {
    const lines = shown([cluster({ daemonSets: [...many(30), bad] })], 24);
    assert.match(lines[2] ?? '', /^node-agents +zz-broken/);
    assert.equal(lines[3], '  2 Refused');
    assert.match(lines.join('\n'), /\n… and 15 more, all well\nthree\nfour\nfive$/);
  });

  it('folds clusters that are well before it leaves out one that is not', () => {
    const clusters = Array.from({ length: 30 }, (_, at) =>
      cluster({ cluster: `c-${String(at)}`, daemonSets: at === 29 ? [bad] : many(4) }),
    );
    const lines = shown(clusters, 24);
    assert.match(lines[0] ?? '', /^cluster c-29 /);
    assert.match(lines.join('\n'), /zz-broken.*\n {2}2 Refused\n/);
    assert.match(lines.join('\n'), /\n… and 22 clusters more, all well\nthree\n/);
  });

  it('breaks causes at the width, and cuts rows', () => {
    const rollout = {
      phase: 'Halted',
      summary: `StartFailure at 2026-11-28T03:00:00Z: ${'image '.repeat(20)}`,
      evidence: evidenceOf(recordOf()),
    } as NonNullable<ReturnType<typeof daemonSet>['rollout']>;
    const lines = shown([cluster({ daemonSets: [daemonSet({ rollout })] })], 30, 60);
    assert.match(lines[3] ?? '', /^ {2}Halted: StartFailure at/);
    assert.equal(lines.join('').split('image').length, 21, 'no word of it is lost');
    assert.match(lines[1] ?? '', /…$/);
  });

  it('says how many lines a terminal has no room for', () => {
    const lines = fitLines(['a', 'b', 'c', 'd'], { rows: 4, columns: 80 });
    assert.deepEqual(lines, ['a', 'b', '… and 2 lines more']);
    assert.ok(
      shown(
        Array.from({ length: 9 }, () => cluster({ daemonSets: [bad] })),
        10,
      ).length < 10,
    );
  });
});
