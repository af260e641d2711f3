/** How much text goes into one message (protocol 22). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MessageSize } from '../../../../src/watcher/project/message-size.ts';

const LARGE_CHARS = 16_384;
const CHARS_MAX = 524_288;

function close(actual: number, expected: number): void {
  assert.ok(Math.abs(actual - expected) <= expected / 1e6, `${actual}, not ${expected}`);
}

describe('the text of one message', () => {
  it('is what the queue takes, by what encoding made of the last large one and a tenth more', () => {
    const size = new MessageSize(10_000);
    close(size.charsMax, 25_000);
    size.learn(LARGE_CHARS, LARGE_CHARS / 4);
    close(size.charsMax, 10_000 / (0.25 * 1.1));
    close(size.storedBytes(1000), 1000 * 0.25 * 1.1 * 0.75);
  });

  it('is not guessed from a message that is too small to tell', () => {
    const size = new MessageSize(10_000);
    size.learn(LARGE_CHARS - 1, LARGE_CHARS);
    close(size.charsMax, 25_000);
  });

  it('stays within sense, whatever one message came to', () => {
    const size = new MessageSize(10_000);
    size.learn(LARGE_CHARS, 0);
    close(size.charsMax, 500_000);
    size.learn(LARGE_CHARS, LARGE_CHARS * 100);
    close(size.charsMax, 5000);
  });

  it('is never more than both ends can hold, however well it compresses', () => {
    const size = new MessageSize(1_000_000);
    size.learn(LARGE_CHARS, 0);
    assert.equal(size.charsMax, CHARS_MAX);
  });

  it('is halved by each refusal, until one object travels alone and no further', () => {
    const size = new MessageSize(10_000);
    size.shrink();
    close(size.charsMax, 12_500);
    for (let refusal = 0; refusal < 50; refusal += 1) size.shrink();
    close(size.charsMax, 25_000 / 4096);
  });

  it('takes three quarters of its encoded bytes where it is stored: base64 is undone', () => {
    assert.equal(new MessageSize(10_000).storedOf(4000), 3000);
  });
});
