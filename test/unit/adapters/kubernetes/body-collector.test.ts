/** Bodies of pages, one after the other in the same memory. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyCollector } from '../../../../src/adapters/kubernetes/body-collector.ts';

async function* chunksOf(...texts: readonly string[]): AsyncGenerator<Buffer> {
  for (const text of texts) {
    await Promise.resolve();
    yield Buffer.from(text);
  }
}

test('bodies come whole, whatever came before them', async () => {
  const collector = new BodyCollector(1_000_000);
  const long = 'x'.repeat(200_000);
  assert.equal(
    String(await collector.collect(chunksOf('a long ', 'body ', long))),
    `a long body ${long}`,
  );
  assert.equal(String(await collector.collect(chunksOf('short'))), 'short');
  assert.equal(String(await collector.collect(chunksOf())), '');
});

test('a body that is larger than allowed is refused, and the next one is not', async () => {
  const collector = new BodyCollector(10);
  await assert.rejects(collector.collect(chunksOf('12345', '67890', '1')), {
    code: 'RESPONSE_TOO_LARGE',
  });
  assert.equal(String(await collector.collect(chunksOf('1234567890'))), '1234567890');
});

test('an answer that was given up never mixes into the one that is read now', async () => {
  const collector = new BodyCollector(100);
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const late = collector.collect(
    (async function* () {
      yield Buffer.from('old');
      yield await promise;
    })(),
  );
  const read = await collector.collect(chunksOf('new'));
  resolve(Buffer.from(' and late'));
  await assert.rejects(late);
  assert.equal(String(read), 'new');
});

test('an error of the answer is the error of the collection', async () => {
  const collector = new BodyCollector(100);
  const broken = async function* (): AsyncGenerator<Buffer> {
    await Promise.resolve();
    throw new Error('ECONNRESET');
  };
  await assert.rejects(collector.collect(broken()), /ECONNRESET/);
});
