/** The circuit breaker of one cluster (L3, row 61). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CLOSED_BREAKER,
  admitRun,
  breakerPolicy,
  isOpen,
  isSuspect,
  lastingTroubles,
  noteFinding,
} from '../../../../src/core/model/breaker.ts';
import type { ClusterBreaker, Finding, NotedTrouble } from '../../../../src/core/model/breaker.ts';

const START_MS = 1_000_000;

function finding(change: Partial<Finding> = {}): Finding {
  return {
    kind: 'failed',
    isProbe: false,
    isSlow: false,
    nowMs: START_MS,
    random: 0.5,
    met: new Set(),
    ...change,
  };
}

/** As noteFinding, but with the breaker as it stands when nothing changed. */
function after(breaker: ClusterBreaker, change: Partial<Finding>): ClusterBreaker {
  return noteFinding(breaker, finding(change)) ?? breaker;
}

function openedAt(nowMs: number, from: ClusterBreaker = CLOSED_BREAKER): ClusterBreaker {
  let breaker = from;
  for (let run = 0; breaker.open === undefined; run += 1) {
    assert.ok(run < 10, 'it never opens');
    breaker = after(breaker, { nowMs });
  }
  return breaker;
}

/** One probe, from its admission to its answer. */
function probed(breaker: ClusterBreaker, kind: Finding['kind'], nowMs: number): ClusterBreaker {
  const admission = admitRun(breaker, nowMs);
  assert.equal(admission.kind, 'probe');
  return after(admission.kind === 'probe' ? admission.next : breaker, {
    kind,
    isProbe: true,
    nowMs,
  });
}

describe('breaker: closed (L3, row 61)', () => {
  it('writes nothing for a healthy cluster', () => {
    assert.equal(noteFinding(CLOSED_BREAKER, finding({ kind: 'answered' })), undefined);
    assert.equal(noteFinding(CLOSED_BREAKER, finding({ kind: 'silent' })), undefined);
    assert.equal(admitRun(CLOSED_BREAKER, START_MS).kind, 'admitted');
  });

  it('opens after three failing runs in a row, and not before', () => {
    const once = after(CLOSED_BREAKER, {});
    const twice = after(once, {});
    assert.equal(twice.open, undefined);
    const open = after(twice, {});
    assert.deepEqual(open.open, { untilMs: START_MS + 2_000, delayMs: 2_000 });
    assert.equal(open.openings, 1);
  });

  it('forgets failures with the first answer', () => {
    const twice = after(after(CLOSED_BREAKER, {}), {});
    const answered = after(twice, { kind: 'answered' });
    assert.equal(answered.failures, 0);
    assert.equal(after(after(answered, {}), {}).open, undefined);
  });

  it('forgets none with a run that asked nobody', () => {
    const twice = after(after(CLOSED_BREAKER, {}), {});
    assert.equal(noteFinding(twice, finding({ kind: 'silent' })), undefined);
    assert.ok(after(twice, {}).open !== undefined);
  });
});

describe('breaker: open', () => {
  it('refuses every run until it is due', () => {
    const open = openedAt(START_MS);
    assert.deepEqual(admitRun(open, START_MS + 1_999), {
      kind: 'refused',
      untilMs: START_MS + 2_000,
    });
    assert.equal(isOpen(open, START_MS + 1_999), true);
    assert.equal(isOpen(open, START_MS + 2_000), false);
  });

  it('is not moved by runs that were admitted before it opened', () => {
    const open = openedAt(START_MS);
    assert.equal(noteFinding(open, finding()), undefined);
    assert.equal(noteFinding(open, finding({ kind: 'answered' })), undefined);
  });

  it('does not believe a due time that a wrong clock wrote: never open for ever', () => {
    const open: ClusterBreaker = {
      version: 1,
      failures: 0,
      openings: 1,
      open: { untilMs: START_MS + 86_400_000, delayMs: 2_000 },
    };
    assert.equal(admitRun(open, START_MS).kind, 'probe');
  });
});

describe('breaker: half-open', () => {
  it('admits one probe at a time', () => {
    const dueMs = START_MS + 2_000;
    const admission = admitRun(openedAt(START_MS), dueMs);
    assert.equal(admission.kind, 'probe');
    const probing = admission.kind === 'probe' ? admission.next : CLOSED_BREAKER;
    assert.deepEqual(admitRun(probing, dueMs + 1), { kind: 'refused', untilMs: dueMs + 2_001 });
  });

  it('overtakes a probe that never came back', () => {
    const dueMs = START_MS + 2_000;
    const admission = admitRun(openedAt(START_MS), dueMs);
    const probing = admission.kind === 'probe' ? admission.next : CLOSED_BREAKER;
    assert.equal(admitRun(probing, dueMs + breakerPolicy.probeMs).kind, 'probe');
  });

  it('closes when the probe is answered', () => {
    const closed = probed(openedAt(START_MS), 'answered', START_MS + 2_000);
    assert.equal(closed.open, undefined);
    assert.equal(closed.probeUntilMs, undefined);
    assert.equal(admitRun(closed, START_MS + 2_000).kind, 'admitted');
  });

  it('opens again, for twice as long, when the probe fails', () => {
    const again = probed(openedAt(START_MS), 'failed', START_MS + 2_000);
    assert.deepEqual(again.open, { untilMs: START_MS + 6_000, delayMs: 4_000 });
  });

  it('lets the next run probe when the probe had nothing to ask', () => {
    const open = openedAt(START_MS);
    const back = probed(open, 'silent', START_MS + 2_000);
    assert.deepEqual(back, open);
  });
});

describe('breaker: how long it stays open', () => {
  const last = (random: number, openings = 0): number => {
    const breaker = { ...CLOSED_BREAKER, failures: 2, openings };
    // On parole the back-off goes on where it was.
    const closedAtMs = openings === 0 ? {} : { closedAtMs: START_MS - 1 };
    const { open } = after({ ...breaker, ...closedAtMs }, { random });
    assert.ok(open !== undefined);
    return open.untilMs - START_MS;
  };

  it('varies by a fifth, up and down, so that clusters do not open together', () => {
    assert.deepEqual([last(0), last(0.5), last(0.9999)], [1_600, 2_000, 2_400]);
  });

  it('is believed as long as the longest opening can be', () => {
    const longestMs = last(0.9999, 10);
    assert.equal(longestMs, 35_999);
    const open = { untilMs: START_MS + longestMs, delayMs: breakerPolicy.openMaxMs };
    assert.equal(admitRun({ ...CLOSED_BREAKER, open }, START_MS).kind, 'refused');
    const beyond = { ...open, untilMs: START_MS + 36_001 };
    assert.equal(admitRun({ ...CLOSED_BREAKER, open: beyond }, START_MS).kind, 'probe');
  });
});

describe('breaker: parole', () => {
  it('opens at the first failure after closing, and goes on with its back-off', () => {
    const closed = probed(openedAt(START_MS), 'answered', START_MS + 2_000);
    const again = after(closed, { nowMs: START_MS + 3_000 });
    assert.equal(again.open?.delayMs, 4_000);
  });

  it('ends after a calm time: then everything begins afresh', () => {
    const closed = probed(openedAt(START_MS), 'answered', START_MS + 2_000);
    const calmMs = START_MS + 2_000 + breakerPolicy.calmMs;
    assert.equal(isSuspect(closed, calmMs - 1), true);
    assert.equal(isSuspect(closed, calmMs), false);
    assert.equal(after(closed, { nowMs: calmMs }).open, undefined);
    assert.equal(openedAt(calmMs, closed).open?.delayMs, 2_000);
  });
});

describe('breaker: slow clusters', () => {
  it('are suspect for a while, and marked once, not by every run', () => {
    const slow = after(CLOSED_BREAKER, { kind: 'answered', isSlow: true });
    assert.equal(isSuspect(slow, START_MS), true);
    assert.equal(isSuspect(slow, START_MS + breakerPolicy.slowForMs), false);
    const next = finding({ kind: 'answered', isSlow: true, nowMs: START_MS + 1_000 });
    assert.equal(noteFinding(slow, next), undefined);
    const halfMs = START_MS + breakerPolicy.slowForMs / 2;
    assert.equal(noteFinding(slow, { ...next, nowMs: halfMs - 1 }), undefined);
    const renewed = noteFinding(slow, { ...next, nowMs: halfMs });
    assert.equal(renewed?.slowUntilMs, halfMs + breakerPolicy.slowForMs);
  });

  it('are admitted all the same', () => {
    const slow = after(CLOSED_BREAKER, { kind: 'answered', isSlow: true });
    assert.equal(admitRun(slow, START_MS).kind, 'admitted');
  });
});

describe('isSuspect', () => {
  it('is false of a cluster without a breaker, and true of one that fails', () => {
    assert.equal(isSuspect(undefined, START_MS), false);
    assert.equal(isSuspect(after(CLOSED_BREAKER, {}), START_MS), true);
    assert.equal(isSuspect(openedAt(START_MS), START_MS), true);
  });
});

describe('breaker: its published times (ADR 0019)', () => {
  it('waits 30 s for a probe, as long as a run of reconcile may take, and then sends another', () => {
    const broken = openedAt(START_MS);
    const dueMs = broken.open?.untilMs ?? assert.fail('not open');
    const admission = admitRun(broken, dueMs);
    const probing = admission.kind === 'probe' ? admission.next : assert.fail(admission.kind);
    assert.equal(admitRun(probing, dueMs + 29_999).kind, 'refused');
    assert.equal(admitRun(probing, dueMs + 30_000).kind, 'probe');
  });

  it('opens at one failure within two minutes after it closed, at three later', () => {
    const broken = openedAt(START_MS);
    const closedAtMs = broken.open?.untilMs ?? assert.fail('not open');
    const closed = probed(broken, 'answered', closedAtMs);
    assert.notEqual(after(closed, { nowMs: closedAtMs + 119_999 }).open, undefined);
    assert.equal(after(closed, { nowMs: closedAtMs + 120_001 }).open, undefined);
  });

  it('remembers a slow run for a minute', () => {
    const slow = after(CLOSED_BREAKER, { kind: 'answered', isSlow: true });
    assert.equal(isSuspect(slow, START_MS + 59_999), true);
    assert.equal(isSuspect(slow, START_MS + 60_000), false);
  });
});

describe('breaker: what an operator has to mend', () => {
  const MINUTE_MS = 60_000;
  const met = (kind: NotedTrouble): Partial<Finding> => ({
    kind: 'answered',
    met: new Set([kind]),
  });

  it('is noted at once, again every five minutes, and decides nothing of the cluster', () => {
    const noted = after(CLOSED_BREAKER, met('forbidden'));
    assert.deepEqual(noted.noted?.forbidden, { sinceMs: START_MS, atMs: START_MS });
    assert.equal(admitRun(noted, START_MS).kind, 'admitted');
    assert.equal(isSuspect(noted, START_MS), false);
    const soon = finding({ ...met('forbidden'), nowMs: START_MS + 5 * MINUTE_MS - 1 });
    assert.equal(noteFinding(noted, soon), undefined, 'no write more');
    const later = after(noted, { ...met('forbidden'), nowMs: START_MS + 5 * MINUTE_MS });
    assert.deepEqual(later.noted?.forbidden, {
      sinceMs: START_MS,
      atMs: START_MS + 5 * MINUTE_MS,
    });
  });

  it('lasts once it was met for ten minutes, an endpoint that leads elsewhere at once', () => {
    let breaker = after(CLOSED_BREAKER, met('no-token'));
    breaker = after(breaker, { ...met('no-token'), nowMs: START_MS + 9 * MINUTE_MS });
    assert.deepEqual(lastingTroubles(breaker, START_MS + 9 * MINUTE_MS), []);
    breaker = after(breaker, { ...met('no-token'), nowMs: START_MS + 14 * MINUTE_MS });
    assert.deepEqual(lastingTroubles(breaker, START_MS + 14 * MINUTE_MS), ['no-token']);
    const elsewhere = after(CLOSED_BREAKER, met('egress-refused'));
    assert.deepEqual(lastingTroubles(elsewhere, START_MS), ['egress-refused']);
  });

  it('is over when it was not met for half an hour, and begins anew then', () => {
    let breaker = after(CLOSED_BREAKER, met('forbidden'));
    breaker = after(breaker, { ...met('forbidden'), nowMs: START_MS + 20 * MINUTE_MS });
    assert.equal(lastingTroubles(breaker, START_MS + 50 * MINUTE_MS).length, 1);
    assert.equal(lastingTroubles(breaker, START_MS + 50 * MINUTE_MS + 1).length, 0);
    const anewMs = START_MS + 51 * MINUTE_MS;
    breaker = after(breaker, { ...met('forbidden'), nowMs: anewMs });
    assert.deepEqual(breaker.noted?.forbidden, { sinceMs: anewMs, atMs: anewMs });
  });

  it('is noted beside what the same run found out of the API server', () => {
    let breaker = CLOSED_BREAKER;
    for (let run = 0; run < 3; run += 1) {
      breaker = after(breaker, { kind: 'failed', met: new Set(['forbidden']) });
    }
    assert.notEqual(breaker.open, undefined);
    assert.notEqual(breaker.noted?.forbidden, undefined);
  });
});
