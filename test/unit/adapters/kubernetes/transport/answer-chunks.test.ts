/** Chunks of answers, and whose fault it is when they end early. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerChunks } from '../../../../../src/adapters/kubernetes/transport/response-body.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    await Promise.resolve();
    yield Buffer.from(text);
  }
}

async function collect(chunks: AsyncIterable<Buffer>): Promise<string> {
  const seen: Buffer[] = [];
  for await (const chunk of chunks) seen.push(chunk);
  return String(Buffer.concat(seen));
}

test('chunks pass as they come, up to as many bytes as are allowed', async () => {
  assert.equal(await collect(answerChunks(chunksOf('12345', '67890'), 10)), '1234567890');
  assert.equal(await collect(answerChunks(chunksOf(), 10)), '');
});

test('an answer that is larger than allowed is broken', async () => {
  await assert.rejects(collect(answerChunks(chunksOf('12345', '67890', '1'), 10)), {
    name: 'BrokenAnswerError',
    message: 'RESPONSE_TOO_LARGE',
  });
});

test('an error of the answer is named by its code alone', async () => {
  const cause = Object.assign(new Error('read ECONNRESET of a secret'), { code: 'ECONNRESET' });
  const broken = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from('1');
    await Promise.reject(cause);
  };
  await assert.rejects(collect(answerChunks(broken(), 10)), {
    name: 'BrokenAnswerError',
    message: 'ECONNRESET',
    cause,
  });
});

test('an error of who reads them stays what it is, and closes the answer', async () => {
  let isClosed = false;
  const endless = async function* (): AsyncGenerator<Buffer> {
    try {
      for (;;) yield await Promise.resolve(Buffer.from('1'));
    } finally {
      isClosed = true;
    }
  };
  const bug = new Error('bug');
  const read = async (): Promise<void> => {
    for await (const chunk of answerChunks(endless(), 10)) if (chunk.length > 0) throw bug;
  };
  await assert.rejects(read(), bug);
  assert.ok(isClosed);
});
