/** Baselines of pods that were there before a rollout. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BASELINES_MAX, baselinesOf } from '../../../../src/core/health/pod-signs.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';

describe('baselinesOf', () => {
  it('keeps only pods that have restarted or exited', () => {
    const lastExit = { reason: 'Error', exitCode: 1, finishedAtMs: NOW_MS };
    const exited = pod('a', { uid: uid('exited'), trouble: { lastExit } });
    const restarted = pod('b', { uid: uid('restarted'), trouble: { restarts: 3 } });
    const waiting = pod('c', { uid: uid('waiting'), trouble: { waiting: 'ErrImagePull' } });
    assert.deepEqual(baselinesOf([exited, restarted, waiting, pod('d')]), [
      { uid: 'restarted', restarts: 3 },
      { uid: 'exited', restarts: 0, exitAtMs: NOW_MS },
    ]);
  });

  it('keeps a bounded number, those with most restarts', () => {
    const pods = Array.from({ length: BASELINES_MAX + 3 }, (_, index) =>
      pod(`n${String(index)}`, { uid: uid(`u${String(index)}`), trouble: { restarts: index + 1 } }),
    );
    const kept = baselinesOf(pods);
    assert.equal(kept.length, BASELINES_MAX);
    assert.equal(kept.at(-1)?.restarts, 4);
  });
});
