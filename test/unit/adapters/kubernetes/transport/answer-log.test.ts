/** What a transport remembers of how long requests took: like with like, and nothing of our own making (ADR 0055). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AnswerLog,
  TIMINGS_MAX,
  answerKindOf,
} from '../../../../../src/adapters/kubernetes/transport/answer-log.ts';
import type {
  TransportAnswer,
  TransportRequest,
} from '../../../../../src/adapters/kubernetes/transport/transport.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const POD: TransportRequest = { method: 'GET', path: '/api/v1/namespaces/ns/pods/a' };
const answered = (status: number): TransportAnswer => ({
  kind: 'answered',
  status,
  body: undefined,
});

/** One request that could be sent after a second of waiting, and took so long from then on. */
async function ask(
  log: AnswerLog,
  clock: VirtualClock,
  of: {
    readonly request?: TransportRequest;
    readonly answer?: TransportAnswer | 'timed-out';
    readonly isReused?: boolean;
    readonly tookMs?: number;
  } = {},
): Promise<void> {
  const underway = log.begin(of.request ?? POD);
  await clock.advance(1000);
  log.noteSent(underway);
  await clock.advance(of.tookMs ?? 30);
  log.end(underway, { answer: of.answer ?? answered(200), isReused: of.isReused ?? true });
}

function open(): { readonly log: AnswerLog; readonly clock: VirtualClock } {
  const clock = new VirtualClock();
  return { log: new AnswerLog(clock), clock };
}

describe('an answer', () => {
  it('is timed from when its request could be sent', async () => {
    const { log, clock } = open();
    await ask(log, clock);
    assert.deepEqual(log.timings, [{ kind: 'get pods', atMs: clock.nowMs(), tookMs: 30 }]);
  });

  it('that was waited for in vain counts with the wait; a refusal of the object as any', async () => {
    const { log, clock } = open();
    await ask(log, clock, { answer: 'timed-out', tookMs: 5000 });
    await ask(log, clock, { answer: answered(409) });
    assert.deepEqual(
      log.timings.map(({ tookMs }) => tookMs),
      [5000, 30],
    );
  });

  it('on a new connection, an error, or a wish to be left alone is none', async () => {
    const { log, clock } = open();
    await ask(log, clock, { isReused: false });
    for (const status of [429, 500, 503]) await ask(log, clock, { answer: answered(status) });
    await ask(log, clock, { answer: { kind: 'ambiguous', message: 'ECONNRESET' } });
    log.end(log.begin(POD), { answer: 'timed-out', isReused: true });
    assert.deepEqual(log.timings, []);
  });

  it('beside many of our own is none', () => {
    const { log } = open();
    const sent = Array.from({ length: 10 }, () => log.begin(POD));
    for (const underway of sent) {
      log.noteSent(underway);
      log.end(underway, { answer: answered(200), isReused: true });
    }
    assert.equal(log.timings.length, 0);
    const few = Array.from({ length: 9 }, () => log.begin(POD));
    for (const underway of few) {
      log.noteSent(underway);
      log.end(underway, { answer: answered(200), isReused: true });
    }
    assert.equal(log.timings.length, 9);
  });

  it('is forgotten for newer ones', async () => {
    const { log, clock } = open();
    for (let index = 0; index < TIMINGS_MAX + 1; index += 1) {
      await ask(log, clock, { tookMs: index });
    }
    assert.equal(log.timings.length, TIMINGS_MAX);
    assert.equal(log.timings[0]?.tookMs, 1);
  });
});

describe('the kind of a request', () => {
  const daemonSets = '/apis/apps/v1/namespaces/ns/daemonsets';
  const cases: readonly (readonly [TransportRequest['method'], string, string | undefined])[] = [
    ['GET', '/api/v1/nodes/n1', 'get nodes'],
    ['GET', '/api/v1/namespaces/kube-system', 'get namespaces'],
    ['POST', '/api/v1/namespaces/ns/pods', 'create pods'],
    ['POST', '/api/v1/namespaces/ns/events', 'create events'],
    ['DELETE', '/api/v1/namespaces/ns/pods/a', 'delete pods'],
    ['PATCH', `${daemonSets}/agent/status`, 'patch daemonsets/status'],
    ['PUT', `${daemonSets}/agent/status`, 'update daemonsets/status'],
    ['GET', `${daemonSets}?fieldSelector=metadata.name%3Dagent`, 'get daemonsets'],
    ['GET', `${daemonSets}?limit=100`, undefined],
    ['GET', '/api/v1/namespaces/ns/pods?labelSelector=app%3Da&limit=500', undefined],
    ['GET', '/version', undefined],
  ];
  for (const [method, path, kind] of cases) {
    it(`${method} ${path} is ${kind ?? 'none'}`, () => {
      assert.equal(answerKindOf({ method, path }), kind);
    });
  }
});
