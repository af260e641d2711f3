/** What makes an answer untrue: each outage by its fact and bound, the gravest first (issue 39, B.3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyState, type DaemonSetState, type Memo } from '../../../../src/core/model/state.ts';
import {
  MISSED_AFTER_MS,
  SILENT_AFTER_MS,
  findOutages,
  guardOfOutage,
  missedRunSinceMs,
  outageLine,
  standstillOf,
} from '../../../../src/core/status/outages.ts';
import type { ClusterStanding, OutageFacts } from '../../../../src/core/status/outages.ts';

const NOW_MS = Date.UTC(2026, 10, 27, 14, 2);
const STOP = { by: 'ann', why: 'INC-1', atMs: NOW_MS - 1000, functions: ['reconcile', 'fleet'] };
const FROZEN = { scope: 'cluster', thaw: 'rollcall thaw --cluster a' } as const;

const codesOf = (facts: Omit<OutageFacts, 'nowMs'>): readonly string[] =>
  findOutages({ nowMs: NOW_MS, ...facts }).map(({ code }) => code);

const heard = (agoMs: number, more = {}): ClusterStanding => ({
  id: 'a',
  meta: { lastSentAtMs: NOW_MS - agoMs, ...more },
});

describe('outages', () => {
  it('are none where nothing is known to be wrong, and all of them the gravest first', () => {
    assert.deepEqual(codesOf({}), []);
    const open = { untilMs: NOW_MS + 1000, delayMs: 2000 };
    const breaker = { version: 1, failures: 0, openings: 1, open };
    const watcherStandsBy = { holder: 'laptop', sinceMs: 5 };
    const cluster = heard(SILENT_AFTER_MS + 1, { breaker, watcherStandsBy });
    const all = { stop: STOP, frozen: FROZEN, cluster, missedSinceMs: 1 };
    assert.deepEqual(codesOf(all), [
      ...['stopped', 'frozen', 'watcher-stands-by', 'functions-behind'],
      'api-server-unreachable',
    ]);
    const silent = heard(SILENT_AFTER_MS + 1, { breaker });
    assert.deepEqual(codesOf({ cluster: silent }), ['watcher-silent', 'api-server-unreachable']);
  });

  it('say who, when and why in one line, with what to do', () => {
    const [outage] = findOutages({ nowMs: NOW_MS, stop: STOP });
    assert.equal(
      outage && outageLine(outage),
      '! stopped since 2026-11-27T14:01:59Z by ann (INC-1): nothing is created, deleted or changed in any cluster; go on: rollcall stack resume',
    );
    const all = { ...STOP, functions: ['ingest'] };
    assert.match(findOutages({ nowMs: NOW_MS, stop: all })[0]?.message ?? '', /nothing is heard/);
  });

  it('count from their bounds on, and a stop only until a run came long after it', () => {
    assert.deepEqual(codesOf({ cluster: heard(SILENT_AFTER_MS) }), []);
    assert.deepEqual(codesOf({ walkedAtMs: NOW_MS - 300_000 }), []);
    assert.deepEqual(codesOf({ walkedAtMs: NOW_MS - 300_001 }), ['functions-behind']);
    const laterMs = STOP.atMs + MISSED_AFTER_MS;
    assert.deepEqual(codesOf({ stop: STOP, ranAtMs: laterMs }), ['stopped']);
    assert.deepEqual(codesOf({ stop: STOP, ranAtMs: laterMs + 1 }), []);
    const overMs = NOW_MS - MISSED_AFTER_MS - 1;
    const open = { untilMs: overMs, delayMs: 2000 };
    const breaker = { version: 1, failures: 0, openings: 1, open };
    assert.deepEqual(codesOf({ cluster: heard(0, { breaker }) }), [], 'nobody asked since');
  });

  it('count a freeze that cannot be read as one, and one that nobody noted', () => {
    assert.deepEqual(codesOf({ frozen: 'unreadable' }), ['frozen']);
    const [outage] = findOutages({ nowMs: NOW_MS, frozen: FROZEN });
    assert.deepEqual([outage?.sinceMs, outage?.remedy], [undefined, `go on: ${FROZEN.thaw}`]);
    const [named] = findOutages({ nowMs: NOW_MS, frozen: { ...FROZEN, scope: 'daemon-set' } });
    assert.match(named?.message ?? '', /: no pod of it is created, deleted or changed in any/);
  });

  it('keep runs away but for a freeze and an API server that is asked again', () => {
    const found = findOutages({ nowMs: NOW_MS, frozen: FROZEN, stop: STOP, missedSinceMs: 1 });
    assert.equal(standstillOf(found)?.code, 'stopped');
    assert.equal(standstillOf(found, 'observe'), undefined, 'the built-in controller acts there');
    const silent = findOutages({ nowMs: NOW_MS, cluster: heard(SILENT_AFTER_MS + 1) });
    assert.equal(standstillOf(silent, 'observe')?.code, 'watcher-silent', 'what is told is old');
    assert.deepEqual(
      found.map((outage) => guardOfOutage(outage)?.kind),
      ['status-only', undefined, 'status-only'],
    );
  });
});

describe('a run that is missed', () => {
  const memo = { ranAtMs: NOW_MS - 3_600_000 } as Memo; // of it only that there is one
  const since = (state: Partial<DaemonSetState> | undefined, isViewNewer: boolean, sentMs = 0) =>
    missedRunSinceMs({
      state: state && { ...emptyState(0), ...state },
      ...{ unseenSinceMs: isViewNewer ? NOW_MS - sentMs : undefined, nowMs: NOW_MS },
    });
  const longMs = MISSED_AFTER_MS + 1;

  it('is told by a due time that passed', () => {
    assert.equal(since({ memo, dueAtMs: NOW_MS - MISSED_AFTER_MS }, false), undefined);
    assert.equal(since({ memo, dueAtMs: NOW_MS - longMs }, false), NOW_MS - longMs);
  });

  it('is told by a change that no run has seen, and the message is not of just now', () => {
    assert.equal(since({ memo }, true, MISSED_AFTER_MS), undefined);
    assert.equal(since({ memo }, true, longMs), NOW_MS - longMs);
    assert.equal(since({ memo }, false, longMs), undefined);
    assert.equal(since(undefined, true, longMs), NOW_MS - longMs, 'no run ever came');
  });

  it('is none while the last run waits, or left something open until its due time', () => {
    const dueAtMs = NOW_MS + 1000;
    assert.equal(since({ memo, dueAtMs, deferredSinceMs: 1 }, true, longMs), undefined);
    assert.equal(since({ dueAtMs }, true, longMs), undefined);
  });
});
