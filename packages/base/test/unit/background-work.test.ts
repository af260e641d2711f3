/** Work beside something: awaited at the end, its failures told, whatever is begun meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '../../src/testing/memory-log.ts';
import { BackgroundWork } from '../../src/background-work.ts';

describe('work aside', () => {
  it('ends when all of it has ended, what was begun meanwhile included', async () => {
    const aside = new BackgroundWork({ log: new MemoryLog(), failed: 'it failed' });
    assert.ok(aside.isOver);
    const first = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const seen: string[] = [];
    aside.take(
      first.promise.then(() => {
        aside.take(second.promise.then(() => seen.push('second')));
        seen.push('first');
      }),
    );
    assert.ok(!aside.isOver);
    const ended = aside.ended().then(() => seen.push('ended'));
    first.resolve();
    second.resolve();
    await ended;
    assert.deepEqual(seen, ['first', 'second', 'ended']);
    assert.ok(aside.isOver);
  });

  it('tells of a failure with its cause, and fails nothing else', async () => {
    const log = new MemoryLog();
    const aside = new BackgroundWork({ log, failed: 'what was left failed' });
    const cause = new Error('no answer');
    aside.take(Promise.reject(cause));
    await aside.ended();
    const [line] = log.lines;
    assert.equal(log.lines.length, 1);
    assert.equal(line?.message, 'what was left failed');
    assert.equal(line.cause, cause);
  });
});
