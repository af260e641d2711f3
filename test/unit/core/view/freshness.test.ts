/** Freshness before planning (design 3.3, protocol 1–3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  judgeFreshness,
  isStoreDoubtful,
  isStoreRestored,
  arePodsFresh,
  spendsBudget,
} from '../../../../src/core/view/freshness.ts';
import type { Freshness, FreshnessInput } from '../../../../src/core/view/freshness.ts';
import { NOW_MS, meta, pod } from '../../../support/core-fixtures.ts';
import { resourceVersion } from '../../../../src/core/model/identifiers.ts';
import { WATCHED_KINDS } from '../../../../src/core/model/projections.ts';
import type { DeleteReason, PlannedDelete } from '../../../../src/core/model/plan.ts';

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

/** row 71: how far a store must be, by what was seen of it. */

const v = resourceVersion;
const storeMeta = { era: 2, marks: { DaemonSet: v('90'), Pod: v('500') } };

describe('row 71, protocol 15: a store that was restored', () => {
  it('is behind the mark of DaemonSets, in the order of whole numbers', () => {
    const written = undefined;
    assert.equal(isStoreRestored(v('89'), { meta: storeMeta, written }), true);
    assert.equal(isStoreRestored(v('90'), { meta: storeMeta, written }), false);
    assert.equal(
      isStoreRestored(v('100'), { meta: storeMeta, written }),
      false,
      'Pod has a store of its own',
    );
    const far = { era: 2, marks: { DaemonSet: v('10000000000000000001') } };
    assert.equal(isStoreRestored(v('10000000000000000000'), { meta: far, written }), true);
  });

  it('is behind what our own writes of this era returned', () => {
    const of = (era: number) => ({ meta: storeMeta, written: { era, daemonSet: v('95') } });
    assert.equal(isStoreRestored(v('94'), of(2)), true);
    assert.equal(isStoreRestored(v('95'), of(2)), false);
    assert.equal(isStoreRestored(v('94'), of(1)), false, 'those of a lost era are void');
  });

  it('is not told by what is unknown', () => {
    assert.equal(isStoreRestored(undefined, { meta: storeMeta, written: undefined }), false);
    const empty = { era: 2, marks: {} };
    assert.equal(isStoreRestored(v('1'), { meta: empty, written: undefined }), false);
    assert.equal(isStoreRestored(v('1'), { meta: empty, written: { era: 2 } }), false);
  });
});

/** S3: which deletions spend availability, and what counts as fresh for them. */

function planned(reason: DeleteReason, repeats?: PlannedDelete['repeats']): PlannedDelete {
  const { name, uid, resourceVersion } = pod('n1');
  const again = repeats === undefined ? {} : { repeats };
  return { name, uid, resourceVersion, reason, isAvailable: true, ...again };
}

describe('a deletion spends availability (S3)', () => {
  for (const reason of ['outdated', 'replaced', 'duplicate'] as const) {
    it(`where a pod goes as ${reason}, also when that is repeated`, () => {
      assert.equal(spendsBudget(planned(reason)), true);
      assert.equal(spendsBudget(planned('repeat', reason)), true);
    });
  }
  for (const reason of ['failed', 'succeeded', 'not-wanted', 'node-gone', 'vacated'] as const) {
    it(`not where one goes as ${reason}: pod and node say so themselves`, () => {
      assert.equal(spendsBudget(planned(reason)), false);
      assert.equal(spendsBudget(planned('repeat', reason)), false);
    });
  }
  it('in doubt: a repetition that does not say of what', () => {
    assert.equal(spendsBudget(planned('repeat')), true);
  });
});

describe('pods are fresh (protocol 1)', () => {
  const at = { nowMs: NOW_MS, withinMs: 90_000 };
  it('up to the bound, by what was heard of pods alone', () => {
    assert.equal(arePodsFresh({ heardAtMs: { Pod: NOW_MS - 90_000 } }, at), true);
    assert.equal(arePodsFresh({ heardAtMs: { Pod: NOW_MS - 90_001, Node: NOW_MS } }, at), false);
    assert.equal(arePodsFresh({ heardAtMs: { Node: NOW_MS } }, at), false);
  });
});

describe('protocol 15: a store that may have been restored', () => {
  const isDoubtful = (version: string, marks: Parameters<typeof isStoreDoubtful>[1]['marks']) =>
    isStoreDoubtful(v(version), { marks });

  it('is behind a mark of any type, for most clusters have one store', () => {
    for (const kind of WATCHED_KINDS) {
      const marks = { ...storeMeta.marks, [kind]: v('600') };
      assert.equal(isDoubtful('599', marks), true, kind);
      assert.equal(isDoubtful('600', marks), false, kind);
    }
    assert.equal(isDoubtful('99', { Node: v('100') }), true, 'versions are numbers');
  });

  it('or so far ahead as only the bump of a restore makes it', () => {
    assert.equal(isDoubtful('100000500', storeMeta.marks), false);
    assert.equal(isDoubtful('100000501', storeMeta.marks), true);
  });

  it('is not told by what is unknown, or is no number', () => {
    assert.equal(isStoreDoubtful(undefined, storeMeta), false);
    assert.equal(isDoubtful('1', {}), false);
    assert.equal(isDoubtful('1', { Pod: v('x') }), false);
  });
});
