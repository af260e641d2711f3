/** Freshness before planning (design 3.3, protocol 1–3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeFreshness } from '../../../../src/core/view/freshness.ts';
import type { Freshness, FreshnessInput } from '../../../../src/core/view/freshness.ts';
import { NOW_MS, meta } from '../../../support/core-fixtures.ts';

const CAP_MS = 60_000;

function judge(options: Partial<FreshnessInput> = {}): Freshness {
  return judgeFreshness({
    meta: meta(),
    nowMs: NOW_MS,
    silentAfterMs: 15_000,
    unseenCount: 0,
    deferredSinceMs: undefined,
    deferralCapMs: CAP_MS,
    ...options,
  });
}

/** `kind code retryInMs` in one line. */
function text(freshness: Freshness): string {
  if (freshness.kind === 'fresh') return 'fresh';
  const code = `${freshness.kind} ${freshness.guard.code}`;
  return freshness.kind === 'defer' ? `${code} ${freshness.retryInMs}` : code;
}

const silentPods = meta({
  heardAtMs: { Node: NOW_MS, Pod: NOW_MS - 15_001, DaemonSet: NOW_MS, ControllerRevision: NOW_MS },
});

describe('judgeFreshness', () => {
  const rows: readonly [string, Partial<FreshnessInput>, string][] = [
    ['all heard of, nothing open', {}, 'fresh'],
    ['exactly at the bound', { nowMs: NOW_MS + 15_000 }, 'fresh'],
    ['nothing heard ever', { meta: undefined }, 'defer view-incomplete 30000'],
    ['not whole', { meta: meta({ isComplete: false }) }, 'defer view-incomplete 30000'],
    [
      'not whole is never overruled by the cap (spec faults 81, 83)',
      { meta: meta({ isComplete: false }), deferredSinceMs: 0 },
      'defer view-incomplete 30000',
    ],
    ['a cut is open (protocol 2)', { meta: meta({ isCutOpen: true }) }, 'defer cut-open 250'],
    ['own writes unseen', { unseenCount: 1 }, 'defer own-writes-unseen 250'],
    ['a type is silent (protocol 1)', { meta: silentPods }, 'defer cluster-silent 250'],
    ['a type was never heard', { meta: meta({ heardAtMs: {} }) }, 'defer cluster-silent 250'],
    ['silence without work to do', { meta: silentPods, hasWork: false }, 'fresh'],
    ['silence with work to do', { meta: silentPods, hasWork: true }, 'defer cluster-silent 250'],
    [
      'the retry grows with the deferral',
      { unseenCount: 1, deferredSinceMs: NOW_MS - 2000 },
      'defer own-writes-unseen 2000',
    ],
    [
      'up to five seconds',
      { unseenCount: 1, deferredSinceMs: NOW_MS - 20_000 },
      'defer own-writes-unseen 5000',
    ],
    [
      'and to what is left of the cap',
      { unseenCount: 1, deferredSinceMs: NOW_MS - 59_000 },
      'defer own-writes-unseen 1000',
    ],
    [
      'but never below the first retry',
      { unseenCount: 1, deferredSinceMs: NOW_MS - 59_999 },
      'defer own-writes-unseen 250',
    ],
    [
      'at the cap live reads decide (spec faults 64)',
      { unseenCount: 1, deferredSinceMs: NOW_MS - CAP_MS },
      'live-read own-writes-unseen',
    ],
    [
      'also for a cut that stays open',
      { meta: meta({ isCutOpen: true }), deferredSinceMs: NOW_MS - CAP_MS },
      'live-read cut-open',
    ],
    [
      'a deferral from the future counts as just begun (spec faults 14)',
      { unseenCount: 1, deferredSinceMs: NOW_MS + 600_000 },
      'defer own-writes-unseen 250',
    ],
  ];
  for (const [title, options, expected] of rows) {
    it(title, () => assert.equal(text(judge(options)), expected));
  }

  it('says why in words', () => {
    const lost = judge({
      meta: meta({ isComplete: false, incompleteReason: 'seq 11 is missing' }),
    });
    assert.equal(
      lost.kind === 'defer' ? lost.guard.message : '',
      'The view of the cluster is not whole (seq 11 is missing); waiting for a snapshot from its watcher.',
    );
    const message = (options: Partial<FreshnessInput>): string => {
      const judged = judge(options);
      return judged.kind === 'fresh' ? '' : judged.guard.message;
    };
    assert.equal(
      message({ meta: meta({ isComplete: false }) }),
      'The view of the cluster is not whole; waiting for a snapshot from its watcher.',
    );
    assert.equal(
      message({ meta: undefined }),
      'Nothing was heard of the cluster yet; waiting for its watcher.',
    );
    assert.equal(
      message({ meta: meta({ isCutOpen: true }) }),
      'The watcher is in the middle of a report; waiting for its end.',
    );
    assert.equal(
      message({ unseenCount: 1 }),
      'Own writes are not in the view yet; waiting for the watcher to report them.',
    );
    assert.equal(
      message({ meta: meta({ heardAtMs: { Node: NOW_MS, ControllerRevision: NOW_MS } }) }),
      'Nothing was heard of Pod, DaemonSet lately; waiting for the watcher.',
    );
  });
});
