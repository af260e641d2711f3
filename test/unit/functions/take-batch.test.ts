/** A batch of hints on virtual time: side by side, nobody waits for the slowest, nothing is lost (ADR 0048). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SQSBatchResponse, SQSRecord } from 'aws-lambda';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { takeBatch, type BesideRun } from '../../../functions/reconcile/take-batch.ts';
import type { HandlerContext } from '../../../functions/middleware.ts';
import type { Hint } from '../../../src/core/model/hint.ts';
import { hintRecord } from '../../support/hint-records.ts';
import { MemoryMetrics } from '../../support/memory-metrics.ts';
import { RecordingHintQueue } from '../../support/recording-hint-queue.ts';

const LANE = 'west-1/lane-03';

/** A batch in which each key's run takes as long as it is told, or throws. */
class Play {
  readonly clock = new VirtualClock();
  readonly queue = new RecordingHintQueue();
  readonly log = new MemoryLog();
  /** What happened, with its time. */
  readonly story: string[] = [];
  takesMs: Readonly<Record<string, number>> = {};
  /** Beyond its end, a run tells for so long what nobody waits for. */
  tellsMs: Readonly<Record<string, number>> = {};
  throws: readonly string[] = [];
  canFinish = true;
  /** So long the process stands still while something is refused. */
  refusingMs = 0;
  #stoodStillMs = 0;
  answeredMs: number | undefined;

  async take(records: readonly SQSRecord[], untilMs = 40_000): Promise<readonly string[]> {
    const context: HandlerContext = {
      functionName: 'reconcile',
      parts: {},
      signal: new AbortController().signal,
      remainingMs: () => 30_000 - this.clock.monotonicMs(),
      log: this.log,
      metrics: new MemoryMetrics(),
    };
    let answer: SQSBatchResponse | undefined;
    const { clock: virtual, queue } = this;
    const clock: Clock = {
      nowMs: () => virtual.nowMs(),
      monotonicMs: () => virtual.monotonicMs() + this.#stoodStillMs,
      after: (delayMs, callback) => virtual.after(delayMs, callback),
      sleep: (ms, signal) => virtual.sleep(ms, signal),
    };
    void takeBatch(
      { Records: [...records] },
      {
        ...{ context, clock, queue },
        receipts: { finish: (handles) => this.#finish(handles) },
        refuse: ({ messageId }) => {
          this.#tell(`refused ${messageId}`);
          this.#stoodStillMs += this.refusingMs;
        },
        run: (hint, beside) => this.#run(hint, beside),
      },
    ).then((told) => {
      answer = told;
      this.answeredMs = this.clock.monotonicMs();
    });
    await virtual.advance(untilMs);
    assert.ok(answer, 'the batch has no end');
    return answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  }

  async #run({ key: { name } }: Hint, { aside }: BesideRun): Promise<void> {
    this.#tell(`begin ${name}`);
    await this.clock.sleep(this.takesMs[name] ?? 10);
    if (this.throws.includes(name)) throw new Error(`${name} is poison`);
    this.#tell(`end ${name}`);
    const tellsMs = this.tellsMs[name];
    if (tellsMs !== undefined) aside(this.#tellOn(name, tellsMs));
  }

  async #tellOn(name: string, tellsMs: number): Promise<void> {
    await this.clock.sleep(tellsMs);
    if (this.throws.includes(`${name} told`)) throw new Error(`${name} cannot tell`);
    this.#tell(`told ${name}`);
  }

  #finish(handles: readonly string[]): Promise<void> {
    if (!this.canFinish) return Promise.reject(new Error('injected: the queue does not answer'));
    this.#tell(`finished ${handles.map((handle) => handle.replace('receipt-of-', '')).join(' ')}`);
    return Promise.resolve();
  }

  #tell(text: string): void {
    this.story.push(`${this.clock.monotonicMs()} ${text}`);
  }
}

describe('a batch of hints', () => {
  it('runs its keys side by side, each once, and is acknowledged by its answer', async () => {
    const play = new Play();
    const records = ['a', 'b', 'a'].map((name, index) =>
      hintRecord({ id: `${name}${index}`, name }),
    );
    assert.deepEqual(await play.take(records), []);
    assert.deepEqual(play.story, ['0 begin a', '0 begin b', '10 end a', '10 end b']);
  });

  it('lets nobody wait for a run that hangs longer than a second: what ended leaves the queue (L3)', async () => {
    const play = new Play();
    play.takesMs = { hung: 25_000, slow: 3_000 };
    const names = ['hung', 'quick', 'slow'];
    const records = names.map((name) => hintRecord({ id: name, cluster: name, name }));
    assert.deepEqual(await play.take(records), []);
    const taken = play.story.filter((line) => line.includes('finished'));
    assert.deepEqual(taken, ['1000 finished quick', '3000 finished slow']);
  });

  it('is acknowledged all the same when what ended cannot be taken off the queue', async () => {
    const play = new Play();
    play.canFinish = false;
    play.takesMs = { hung: 25_000 };
    const records = ['hung', 'quick'].map((name) => hintRecord({ id: name, name }));
    assert.deepEqual(await play.take(records), []);
    assert.equal(play.log.at('warn').length, 1);
  });

  it('sends back to its lane what would begin late, so that each run has its whole time (L3)', async () => {
    const play = new Play();
    play.takesMs = { first: 9_000 };
    const names = ['first', 'second', 'third'];
    const records = names.map((name) => hintRecord({ id: name, name, group: LANE }));
    assert.deepEqual(await play.take(records), []);
    const ran = play.story.filter((line) => !line.includes('finished'));
    assert.deepEqual(ran, ['0 begin first', '9000 end first']);
    assert.deepEqual(play.queue.sends, [
      { prefix: 'again/second', keys: ['west-1/agents/second'], pace: { group: LANE } },
      { prefix: 'again/third', keys: ['west-1/agents/third'], pace: { group: LANE } },
    ]);
  });

  it('lets it be delivered again when it cannot be sent back', async () => {
    const play = new Play();
    play.takesMs = { first: 9_000 };
    play.queue.failNext(1);
    const names = ['first', 'second'];
    const records = names.map((name) => hintRecord({ id: name, name, group: LANE }));
    assert.deepEqual(await play.take(records), ['second']);
  });

  it('fails all records of a turn whose run throws, and no others (L4)', async () => {
    const play = new Play();
    play.throws = ['bad'];
    const records = ['bad', 'good', 'bad'].map((name, index) =>
      hintRecord({ id: `${name}${index}`, name }),
    );
    assert.deepEqual(await play.take(records), ['bad0', 'bad2']);
    assert.ok(play.story.includes('10 end good'));
  });

  it('lets poison leave its lane, and goes on with the lane (L4)', async () => {
    const play = new Play();
    play.throws = ['bad'];
    const names = ['bad', 'good'];
    const records = names.map((name) => hintRecord({ id: name, name, group: LANE }));
    assert.deepEqual(await play.take(records), []);
    assert.deepEqual(
      play.queue.sends.map(({ prefix }) => prefix),
      ['alone/bad'],
    );
    assert.ok(play.story.some((line) => line.endsWith('end good')));
  });

  it('takes alone, after the others, what was received again and again; its count is never lost (L4)', async () => {
    const play = new Play();
    play.takesMs = { w1: 2_000, w2: 2_000, new: 500 };
    const records = ['w1', 'w2', 'new'].map((name) =>
      hintRecord({ id: name, name, receives: name === 'new' ? 1 : 5 }),
    );
    const failed = await play.take(records);
    const begun = play.story.filter((line) => line.includes('begin'));
    assert.equal(begun[0], '0 begin new');
    assert.equal(begun.length, 2);
    assert.match(begun[1] ?? '', /^500 begin w[12]$/);
    assert.deepEqual(play.queue.sends, []);
    assert.deepEqual(failed, [begun[1]?.endsWith('w1') === true ? 'w2' : 'w1']);
    assert.ok(play.story.includes('1000 finished new'), play.story.join('\n'));
  });

  it('leaves the queue before what its runs still tell, and answers after it (ADR 0079)', async () => {
    const play = new Play();
    play.tellsMs = { quick: 40, slow: 100 };
    play.takesMs = { slow: 60 };
    const records = ['quick', 'slow'].map((name) => hintRecord({ id: name, name }));
    assert.deepEqual(await play.take(records), []);
    assert.deepEqual(play.story.slice(2), [
      '10 end quick',
      '50 told quick',
      '60 end slow',
      '60 finished quick slow',
      '160 told slow',
    ]);
    assert.equal(play.answeredMs, 160);
  });

  it('takes nothing off the queue of which the run failed, whatever others tell, and logs what could not be told', async () => {
    const play = new Play();
    play.tellsMs = { good: 40 };
    play.throws = ['bad', 'good told'];
    const records = ['bad', 'good'].map((name) => hintRecord({ id: name, name }));
    assert.deepEqual(await play.take(records), ['bad']);
    assert.ok(play.story.includes('10 finished good'), play.story.join('\n'));
    assert.equal(play.answeredMs, 50);
    assert.ok(play.log.at('error').some(({ message }) => message.includes('left to the end')));
  });

  it('refuses what is no hint, and runs the rest', async () => {
    const play = new Play();
    const records = [{ ...hintRecord({ id: 'x' }), body: 'no hint' }, hintRecord({ id: 'a' })];
    assert.deepEqual(await play.take(records), []);
    assert.deepEqual(play.story.slice(0, 2), ['0 refused x', '0 begin agent']);
  });

  it('runs the rest also when the process stood still meanwhile: its time counts from the first turn (L3)', async () => {
    const play = new Play();
    play.refusingMs = 5_000;
    const records = ['a', 'b'].map((name) => hintRecord({ id: name, name }));
    const failed = await play.take([{ ...hintRecord({ id: 'x' }), body: 'no hint' }, ...records]);
    assert.deepEqual([failed, play.queue.sends], [[], []]);
    assert.deepEqual(play.story.slice(1, 3), ['0 begin a', '0 begin b']);
  });
});
