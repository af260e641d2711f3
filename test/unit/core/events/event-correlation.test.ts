/** Which Events are written (client-go's tools/record). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { correlateEvents } from '../../../../src/core/events/event-correlation.ts';
import type { EventWrite } from '../../../../src/core/events/event-correlation.ts';
import {
  createFailedEvent,
  createdEvent,
  deletedEvent,
} from '../../../../src/core/events/events.ts';
import type { EventReason, PlannedEvent } from '../../../../src/core/model/plan.ts';
import type { EventTally } from '../../../../src/core/model/state.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const MINUTE_MS = 60_000;

/** A recorder over many runs, with what an API server would hold. */
class Recorder {
  tallies: readonly EventTally[] = [];
  readonly events = new Map<string, Omit<EventWrite, 'kind'>>();
  nowMs = NOW_MS;
  #runs = 0;

  run(...events: readonly PlannedEvent[]): readonly EventWrite[] {
    this.#runs += 1;
    const { tallies, nowMs } = this;
    const baseName = `agents.run${this.#runs}`;
    const told = correlateEvents({ tallies, events, nowMs, baseName });
    this.tallies = told.tallies;
    for (const { kind, ...event } of told.writes) {
      assert.equal(this.events.has(event.name), kind === 'raise', `${kind} ${event.name}`);
      this.events.set(event.name, event);
    }
    return told.writes;
  }

  get lines(): readonly string[] {
    return [...this.events.values()].map(({ count, message }) => `${count} × ${message}`);
  }
}

const created = (from: number, count: number): PlannedEvent[] =>
  Array.from({ length: count }, (_, index) => createdEvent(`p${from + index}`));

describe('correlateEvents', () => {
  it('writes ten Events of thirty pods: nine single ones, the tenth combined', () => {
    const recorder = new Recorder();
    const writes = recorder.run(...created(1, 30));
    assert.deepEqual(
      writes.map(({ kind, message, count }) => ({ kind, message, count })),
      [
        ...created(1, 9).map(({ message }) => ({ kind: 'create', message, count: 1 })),
        {
          kind: 'create',
          message: '(combined from similar events): Created pod: p30',
          count: 21,
        },
      ],
    );
  });

  it('raises the combined Event once per run from then on, with the newest message', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 250));
    recorder.nowMs += MINUTE_MS;
    const [write, ...others] = recorder.run(...created(251, 250));
    assert.deepEqual(others, []);
    assert.equal(write?.kind, 'raise');
    assert.equal(write.count, 491);
    assert.equal(write.message, '(combined from similar events): Created pod: p500');
    assert.equal(write.firstAtMs, NOW_MS);
    assert.equal(write.lastAtMs, NOW_MS + MINUTE_MS);
    assert.equal(recorder.events.size, 10);
  });

  it('gives the same Events whether pods come in one run or one by one, as many as client-go writes', () => {
    const once = new Recorder();
    once.run(...created(1, 25));
    const slowly = new Recorder();
    for (const event of created(1, 25)) slowly.run(event);
    assert.deepEqual(slowly.lines, once.lines);
  });

  it('raises one that counts more once a minute, by all that came meanwhile', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 25));
    for (let second = 1; second <= 59; second += 1) {
      recorder.nowMs += 1_000;
      assert.deepEqual(recorder.run(createdEvent(`q${String(second)}`)), []);
    }
    recorder.nowMs += 1_000;
    const [write] = recorder.run(createdEvent('q60'));
    assert.equal(write?.count, 16 + 60);
    assert.equal(write.message, '(combined from similar events): Created pod: q60');
    assert.deepEqual(recorder.run(createdEvent('q61')), []);
  });

  it('counts all of one run in one raise', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 25));
    recorder.nowMs += MINUTE_MS;
    assert.deepEqual(
      recorder.run(...created(26, 5)).map(({ count }) => count),
      [21],
    );
  });

  it('waits for no clock that was ahead', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 25));
    recorder.nowMs -= 5 * MINUTE_MS;
    assert.equal(recorder.run(createdEvent('q1'))[0]?.count, 17);
  });

  it('counts each type and reason by itself', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 20), ...created(1, 3).map(({ message }) => deletedEvent(message)));
    assert.equal(recorder.events.size, 13);
    assert.equal(recorder.tallies.length, 2);
  });

  it('raises the Event of an equal message instead of making another', () => {
    const recorder = new Recorder();
    for (let index = 0; index < 12; index += 1) recorder.run(createFailedEvent('denied'));
    assert.deepEqual(recorder.lines, ['12 × Error creating: denied']);
    recorder.run(
      createFailedEvent('quota'),
      createFailedEvent('denied'),
      createFailedEvent('quota'),
    );
    assert.deepEqual(recorder.lines, [
      '12 × Error creating: denied',
      '2 × Error creating: quota',
      '1 × Error creating: denied',
    ]);
  });

  it('finds an equal message again by the latest Event of its kind, in the next run', () => {
    const recorder = new Recorder();
    const [denied, quota] = [createFailedEvent('denied'), createFailedEvent('quota')];
    recorder.run(quota, denied, quota);
    recorder.run(denied);
    assert.deepEqual(recorder.lines, ['2 × Error creating: quota', '2 × Error creating: denied']);
  });

  it('makes nine single Events, however often each of them was raised', () => {
    const recorder = new Recorder();
    for (let index = 1; index <= 12; index += 1) {
      recorder.run(createdEvent(`p${index}`));
      recorder.run(createdEvent(`p${index}`));
    }
    assert.equal(recorder.events.size, 10);
    assert.equal(recorder.lines.at(-1), '6 × (combined from similar events): Created pod: p12');
  });

  it('counts the Event that outlived the window as the first single of the next one', () => {
    const recorder = new Recorder();
    recorder.run(createdEvent('p0'));
    recorder.nowMs += 11 * MINUTE_MS;
    recorder.run(createdEvent('p0'));
    for (const event of created(1, 10)) recorder.run(event);
    assert.deepEqual(recorder.lines.slice(-2), [
      '1 × Created pod: p8',
      '2 × (combined from similar events): Created pod: p10',
    ]);
  });

  it('takes messages for equal that are so as far as an API server keeps them', () => {
    const recorder = new Recorder();
    const long = 'x'.repeat(2_000);
    recorder.run(createFailedEvent(`${long}1`));
    recorder.run(createFailedEvent(`${long}2`));
    assert.equal(recorder.events.size, 1);
  });

  it('still knows what is exactly ten minutes, or an hour, old', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 12));
    recorder.nowMs += 10 * MINUTE_MS;
    assert.equal(recorder.run(createdEvent('p'))[0]?.kind, 'raise');
    recorder.nowMs += 60 * MINUTE_MS;
    recorder.run(createFailedEvent('denied'));
    assert.equal(recorder.tallies.length, 2);
  });

  it('remembers the sixteen kinds that were seen last, the latest first', () => {
    const recorder = new Recorder();
    for (let kind = 0; kind < 20; kind += 1) {
      recorder.nowMs += 1;
      recorder.run({ type: 'Normal', reason: `Kind${kind}` as EventReason, message: 'm' });
    }
    recorder.nowMs += 1;
    recorder.run({ type: 'Normal', reason: 'Kind10' as EventReason, message: 'm' });
    assert.deepEqual(
      recorder.tallies.map(({ reason }) => reason),
      [10, 19, 18, 17, 16, 15, 14, 13, 12, 11, 9, 8, 7, 6, 5, 4].map((kind) => `Kind${kind}`),
    );
  });

  it('names the Events of a run by number, from zero', () => {
    const writes = new Recorder().run(...created(1, 30));
    assert.deepEqual(
      writes.map(({ name }) => name),
      Array.from({ length: 10 }, (_, index) => `agents.run1-${index}`),
    );
  });

  it('keeps counting an equal message after a silence of the window (back-off is longer)', () => {
    const recorder = new Recorder();
    recorder.run(createFailedEvent('denied'));
    recorder.nowMs += 15 * MINUTE_MS;
    recorder.run(createFailedEvent('denied'));
    assert.deepEqual(recorder.lines, ['2 × Error creating: denied']);
  });

  it('begins with single ones again after ten minutes of silence, not of activity', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 12));
    for (let index = 0; index < 5; index += 1) {
      recorder.nowMs += 9 * MINUTE_MS;
      recorder.run(createdEvent(`later${index}`));
    }
    assert.equal(recorder.events.size, 10, 'the window rolls');
    recorder.nowMs += 10 * MINUTE_MS + 1;
    recorder.run(...created(100, 12));
    assert.equal(recorder.events.size, 20);
    assert.equal(recorder.lines.at(-1), '3 × (combined from similar events): Created pod: p111');
  });

  it('forgets a kind after an hour, when its Events have expired', () => {
    const recorder = new Recorder();
    recorder.run(createFailedEvent('denied'));
    recorder.nowMs += 61 * MINUTE_MS;
    const [write] = recorder.run(createdEvent('p'));
    assert.equal(write?.kind, 'create');
    assert.deepEqual(
      recorder.tallies.map(({ reason }) => reason),
      ['SuccessfulCreate'],
    );
  });

  it('changes nothing when there is nothing to tell', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 3));
    const { tallies } = recorder;
    const told = correlateEvents({ tallies, events: [], nowMs: NOW_MS * 2, baseName: 'x' });
    assert.deepEqual(told.writes, []);
    assert.equal(told.tallies, tallies);
  });

  it('is no worse than a few Events too many when its tallies were lost', () => {
    const recorder = new Recorder();
    recorder.run(...created(1, 100));
    recorder.tallies = [];
    recorder.run(...created(101, 100));
    assert.equal(recorder.events.size, 20);
  });

  it('cuts messages to what an API server takes, also the combined one', () => {
    const recorder = new Recorder();
    const long = Array.from({ length: 12 }, (_, index) =>
      createFailedEvent(`${index}${'x'.repeat(5_000)}`),
    );
    for (const { message } of recorder.run(...long)) assert.ok(message.length <= 1_024);
  });

  it('never counts less or more than what happened, and never writes one Event twice in a run', () => {
    const runs = fc.array(fc.array(fc.integer({ min: 0, max: 15 }), { maxLength: 30 }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(runs, fc.integer({ min: 0, max: 12 * MINUTE_MS }), (numbers, pauseMs) => {
        const recorder = new Recorder();
        let happened = 0;
        for (const run of numbers) {
          const writes = recorder.run(...run.map((number) => createFailedEvent(`e${number}`)));
          const names = new Set(writes.map(({ name }) => name));
          assert.equal(names.size, writes.length);
          assert.ok(writes.length <= 10, `${writes.length} writes`);
          happened += run.length;
          recorder.nowMs += pauseMs;
        }
        // What the last raise did not tell, the next one does.
        recorder.nowMs += MINUTE_MS;
        recorder.run(createFailedEvent('last'));
        happened += 1;
        const counted = [...recorder.events.values()].reduce((sum, { count }) => sum + count, 0);
        assert.equal(counted, happened);
        assert.ok(JSON.stringify(recorder.tallies).length < 400);
      }),
      { numRuns: 200 },
    );
  });
});
