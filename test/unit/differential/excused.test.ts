/**
 * The differential suite excuses little: what both replays do not show again, and once in twenty scenarios.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { excusesMax, judgeReplays, judgeRun } from '../../differential/excused.ts';
import type { ConfirmedResult } from '../../differential/excused.ts';
import type { PlayResult } from '../../differential/play.ts';
import { countKinds } from '../../differential/step-kinds.ts';

function played(changes: Partial<PlayResult> = {}): PlayResult {
  return {
    scenario: { title: 'seed 1 scenario 1', steps: [] },
    placeId: 'p1',
    stepsPlayed: 0,
    failedStep: undefined,
    differences: [],
    violations: [],
    notes: [],
    settlings: [],
    kinds: countKinds([]),
    durationMs: 0,
    activity: [],
    ...changes,
  };
}

const AGREED = played();
const DISAGREED = played({
  differences: [{ comparison: 'status', subject: 'd1', original: 1, rollcall: 2 }],
});
const BEYOND = played({
  violations: [{ side: 'rollcall', bound: 'availability', detail: 'too many' }],
});

function confirmed(counts: {
  readonly agreed: number;
  readonly byChance: number;
}): readonly ConfirmedResult[] {
  const { agreed, byChance } = counts;
  return [
    ...Array.from({ length: agreed }, () => ({ result: AGREED, byChance: false })),
    ...Array.from({ length: byChance }, () => ({ result: DISAGREED, byChance: true })),
  ];
}

describe('a disagreement', () => {
  it('is chance where both replays agree', () => {
    assert.equal(judgeReplays(DISAGREED, [AGREED, AGREED]).byChance, true);
  });

  it('is no chance where one of two replays agrees', () => {
    assert.equal(judgeReplays(DISAGREED, [AGREED, DISAGREED]).byChance, false);
    assert.equal(judgeReplays(DISAGREED, [DISAGREED, AGREED]).byChance, false);
  });

  it('is no chance while it has been played again once', () => {
    assert.equal(judgeReplays(DISAGREED, [AGREED]).byChance, false);
  });

  it('is no chance where Rollcall passed a bound, and the play that passed it is told', () => {
    assert.deepEqual(judgeReplays(BEYOND, []), { result: BEYOND, byChance: false });
    const inReplay = judgeReplays(DISAGREED, [AGREED, BEYOND]);
    assert.deepEqual(inReplay, { result: BEYOND, byChance: false });
  });
});

describe('a run', () => {
  it('grants chance one in twenty scenarios, and one to any run', () => {
    assert.deepEqual([1, 19, 20, 39, 40, 200].map(excusesMax), [1, 1, 1, 1, 2, 10]);
  });

  it('excuses one of twenty by chance, and says which', () => {
    const { disagreements, excused } = judgeRun(confirmed({ agreed: 19, byChance: 1 }));
    assert.deepEqual([disagreements.length, excused], [0, [DISAGREED]]);
  });

  it('excuses none where there are two of twenty', () => {
    const { disagreements, excused } = judgeRun(confirmed({ agreed: 18, byChance: 2 }));
    assert.deepEqual([disagreements.length, excused.length], [2, 0]);
  });

  it('excuses no disagreement that came back, however many agreed', () => {
    const all = [...confirmed({ agreed: 99, byChance: 1 }), { result: DISAGREED, byChance: false }];
    const { disagreements, excused } = judgeRun(all);
    assert.deepEqual([disagreements.length, excused.length], [1, 1]);
  });
});
