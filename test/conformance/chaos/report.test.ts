/**
 * What fails a run of chaos: each thing that may go wrong, alone.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ChaosResult } from './chaos.ts';
import { failuresOf } from './report.ts';

const GOOD: ChaosResult = {
  seed: 1,
  faults: [],
  unfired: [],
  violations: [],
  settledMs: 10_000,
  settleMsMax: 60_000,
  unsettled: [],
  evidence: [],
  writesInQuiet: [],
  unrest: [],
  churn: {},
  churnRefused: 0,
  ownDeletionsCount: 1,
  eventsCount: 1,
  watcherOwnEnds: 0,
  engineOwnEnds: 0,
  engineStartsInVain: 2,
  directory: '',
};

const fails = (of: Partial<ChaosResult>): number => failuresOf({ ...GOOD, ...of }).length;

describe('failuresOf', () => {
  it('finds nothing where all went well; an engine that was refused its cluster is no failure', () => {
    assert.equal(fails({}), 0);
  });

  it('finds an engine, and a watcher, that ended by itself', () => {
    assert.equal(fails({ engineOwnEnds: 1 }), 1);
    assert.equal(fails({ watcherOwnEnds: 1 }), 1);
  });

  it('finds a world that settled too late, or never (L1)', () => {
    assert.equal(fails({ settledMs: 60_001 }), 1);
    assert.equal(fails({ unsettled: ['a pod'] }), 1);
  });

  it('finds a broken promise, an unfired fault and unrest (M1, L5)', () => {
    assert.equal(fails({ violations: [{ promise: 'S3', atMs: 0, what: 'a pod' }] }), 1);
    const unfired = { index: 0, kind: 'kill-engine', lane: 0, gapMs: 0, durationMs: 0, variant: 0 };
    assert.equal(fails({ unfired: [unfired] as ChaosResult['unfired'] }), 1);
    assert.equal(fails({ unrest: ['30 runs of a key'] }), 1);
  });
});
