/** How mutation testing counts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MutantResult } from '@stryker-mutator/api/core';
import { summarise } from '../../mutation/report.ts';

const FILE = 'packages/base/src/compare-text.ts';

function mutant(status: MutantResult['status']): MutantResult {
  return {
    id: '1',
    fileName: FILE,
    location: { start: { line: 1, column: 1 }, end: { line: 1, column: 4 } },
    mutatorName: 'BlockStatement',
    replacement: '{}',
    status,
  };
}

function summaryOf(...statuses: readonly MutantResult['status'][]): ReturnType<typeof summarise> {
  return summarise({ results: statuses.map(mutant), root: process.cwd(), durationMs: 1 });
}

describe('the score of mutation testing', () => {
  it('counts a time-out as killed, and what no test reaches as survived', () => {
    const summary = summaryOf('Killed', 'Timeout', 'Survived', 'NoCoverage');
    assert.equal(summary.scorePercent, 50);
    assert.deepEqual(
      summary.files[0]?.survivors.map(({ isReached }) => isReached),
      [true, false],
    );
  });

  it('leaves out, but shows, what is excluded and what the compiler refuses', () => {
    const summary = summaryOf('Killed', 'Killed', 'Ignored', 'CompileError');
    assert.equal(summary.scorePercent, 100);
    assert.equal(summary.excludedPercent, 25);
    assert.equal(summary.refusedByCompiler, 1);
    assert.equal(Math.round(summary.strictScorePercent), 67);
  });

  it('is full where there is nothing to kill', () => {
    assert.equal(summaryOf().scorePercent, 100);
  });
});
