/** How much structure a text has is told without parsing it (faults row 67, L3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import {
  isTooStructured,
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { messageOf, pod } from '../watcher-message-samples.ts';

/** Separators and depth of a value, by walking it. */
function measure(value: unknown): { readonly separators: number; readonly depth: number } {
  if (typeof value !== 'object' || value === null) return { separators: 0, depth: 0 };
  const members = Object.values(value).map(measure);
  const own = members.length === 0 ? 1 : members.length;
  const colons = Array.isArray(value) ? 0 : members.length;
  return {
    separators: members.reduce((sum, member) => sum + member.separators, own + colons),
    depth: 1 + Math.max(0, ...members.map((member) => member.depth)),
  };
}

test('row 67: counts exactly what stands outside of strings, whatever the strings hold', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const text = Buffer.from(JSON.stringify(value));
      const { separators, depth } = measure(value);
      const exact = { separatorsMax: separators, depthMax: depth };
      assert.equal(isTooStructured(text, exact), false);
      if (depth === 0) return;
      assert.equal(isTooStructured(text, { ...exact, separatorsMax: separators - 1 }), true);
      assert.equal(isTooStructured(text, { ...exact, depthMax: depth - 1 }), true);
    }),
  );
  const text = Buffer.from(JSON.stringify(String.raw`"[{,:\"\\`.repeat(1000)));
  assert.equal(isTooStructured(text, { separatorsMax: 0, depthMax: 0 }), false);
  for (const broken of ['"', '"\\', '"abc\\"', ']]]]', '']) {
    assert.equal(isTooStructured(Buffer.from(broken), { separatorsMax: 0, depthMax: 0 }), false);
  }
});

test('row 67: a kilobyte that unpacks to millions of values is refused before it is parsed', () => {
  const { body: _body, ...header } = messageOf({ kind: 'changes', deltas: [] });
  const bombs = ['{},', '[],', '[', '"a":0,'].map((part) => {
    const inner = `{"kind":"changes","deltas":[${part.repeat(7_000_000 / part.length)}{}]}`;
    return JSON.stringify({ ...header, payload: `z${zstdCompressSync(inner).toString('base64')}` });
  });
  const began = process.cpuUsage();
  for (const bomb of bombs) {
    const parsed = parseWatcherMessage(bomb);
    assert.equal(parsed.kind === 'refused' && parsed.code, 'oversized');
  }
  const nested = parseWatcherMessage(`{"payload":${'['.repeat(500_000)}`);
  assert.equal(nested.kind === 'refused' && nested.code, 'oversized');
  // Parsed, they took seconds each. Processor time: that of others on the machine does not count.
  assert.ok(process.cpuUsage(began).user < 8e6);
});

test('row 67: a message as full as any fits by far', () => {
  const objects = Array.from({ length: 10_000 }, (_, index) => ({ object: pod(index), hash: 1 }));
  const slices = [{ set: 'pods/u' as const, index: 0, objects }];
  const body = encodeWatcherMessage(messageOf({ kind: 'slices', slices }));
  assert.ok(JSON.stringify(slices).length > 4_000_000);
  assert.equal(parseWatcherMessage(body).kind, 'message');
});
