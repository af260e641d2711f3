/** Bytes of a watch into frames (aws-facts 8; faults row 36). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  LineSplitter,
  parseWatchFrame,
} from '../../../../../src/adapters/kubernetes/watch/watch-frames.ts';

test('lines come out whole however the bytes are cut, multi-byte characters included', () => {
  const line = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\n'));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat({ max: 20 })), (lines, cuts) => {
      const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
      const splitter = new LineSplitter();
      const seen: string[] = [];
      let start = 0;
      for (const length of [...cuts, bytes.length]) {
        const cut = splitter.split(bytes.subarray(start, start + length)) ?? assert.fail();
        seen.push(...cut.map(String));
        start += length;
      }
      assert.deepEqual(seen, lines);
    }),
    { numRuns: 300 },
  );
});

test('a line longer than any object is given up', () => {
  const splitter = new LineSplitter();
  const megabyte = Buffer.alloc(1024 * 1024, 0x61);
  const results = Array.from({ length: 17 }, () => splitter.split(megabyte));
  assert.deepEqual(results[0], []);
  assert.equal(results[16], undefined);
});

test('events, bookmarks and errors are told apart', () => {
  const metadata = { name: 'n', resourceVersion: '7' };
  const frame = (event: unknown): string => parseWatchFrame(JSON.stringify(event)).kind;
  assert.equal(frame({ type: 'ADDED', object: { metadata } }), 'added');
  assert.equal(frame({ type: 'MODIFIED', object: { metadata } }), 'modified');
  assert.equal(frame({ type: 'DELETED', object: { metadata } }), 'deleted');
  assert.deepEqual(parseWatchFrame(JSON.stringify({ type: 'BOOKMARK', object: { metadata } })), {
    kind: 'bookmark',
    resourceVersion: '7',
    isInitialEventsEnd: false,
  });
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  assert.deepEqual(
    parseWatchFrame(
      JSON.stringify({ type: 'BOOKMARK', object: { metadata: { ...metadata, annotations } } }),
    ),
    { kind: 'bookmark', resourceVersion: '7', isInitialEventsEnd: true },
  );
  const gone = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
  const expired = parseWatchFrame(JSON.stringify({ type: 'ERROR', object: gone }));
  assert.equal(expired.kind === 'failed' && expired.failure.kind, 'expired');
  const busy = { kind: 'Status', code: 429, details: { retryAfterSeconds: 3 } };
  const throttled = parseWatchFrame(JSON.stringify({ type: 'ERROR', object: busy }));
  assert.equal(throttled.kind === 'failed' && throttled.failure.retryAfterMs, 3000);
});

test('whatever a line holds, reading it never throws', () => {
  const odd = ['', '{', 'null', '[]', '{"type":"ADDED"}', '{"type":"ADDED","object":{}}'];
  odd.push(
    '{"type":"BOOKMARK","object":{"metadata":{}}}',
    '{"type":"constructor","object":{"metadata":{}}}',
  );
  for (const line of odd) assert.equal(parseWatchFrame(line).kind, 'undecodable', line);
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (line) => {
      parseWatchFrame(line);
    }),
    { numRuns: 500 },
  );
});
