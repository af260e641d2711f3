/** Protobuf's wire format, read by forms: what it says, what is left out, and what is no message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  messageForm,
  readBytes,
  readMessage,
  WireError,
} from '../../../../../src/adapters/kubernetes/protobuf/message.ts';
import { bytesField, numberField, varint } from '../../../../support/encode-protobuf.ts';

const INNER = messageForm({ 1: { name: 'reason', as: 'text' } });
const FORM = messageForm({
  1: { name: 'name', as: 'text' },
  2: { name: 'count', as: 'integer' },
  3: { name: 'isIt', as: 'flag' },
  4: { name: 'at', as: 'time' },
  5: { name: 'labels', as: 'texts' },
  6: { name: 'inner', as: INNER },
  7: { name: 'names', as: 'text', isList: true },
  8: { name: 'inners', as: INNER, isList: true },
});

const read = (...parts: readonly Buffer[]): unknown => readMessage(FORM, Buffer.concat(parts));
const entry = (key: string, value: string): Buffer =>
  bytesField(5, Buffer.concat([bytesField(1, key), bytesField(2, value)]));
const timeOf = (seconds: bigint): Buffer =>
  bytesField(4, Buffer.concat([numberField(1, seconds), numberField(2, 5n)]));

test('each kind of field is read as JSON has it', () => {
  const inner = bytesField(1, 'odd ä😀');
  assert.deepEqual(
    read(
      bytesField(1, 'a'),
      numberField(2, 300n),
      numberField(3, 1n),
      timeOf(1_767_225_600n),
      entry('app', 'x'),
      entry('empty', ''),
      bytesField(6, inner),
      bytesField(7, 'one'),
      bytesField(7, ''),
      bytesField(8, inner),
      bytesField(8, ''),
    ),
    {
      name: 'a',
      count: 300,
      isIt: true,
      at: '2026-01-01T00:00:00Z',
      labels: { app: 'x', empty: '' },
      inner: { reason: 'odd ä😀' },
      names: ['one', ''],
      inners: [{ reason: 'odd ä😀' }, {}],
    },
  );
});

test('numbers are signed, and as wide as they come', () => {
  for (const value of [0, 1, 127, 128, -1, -(2 ** 31), 2 ** 31 - 1, 2 ** 40 + 5, -(2 ** 40) - 5]) {
    assert.deepEqual(read(numberField(2, BigInt(value))), { count: value });
  }
  assert.deepEqual(read(numberField(2, 2n ** 63n - 1n)), { count: 2 ** 63 });
});

test('empty text and a time that is none are left out, as in JSON', () => {
  assert.deepEqual(read(bytesField(1, ''), bytesField(4, ''), timeOf(0n)), {});
});

test('times are those of years that have four digits', () => {
  assert.deepEqual(read(timeOf(-62_135_596_800n)), { at: '0001-01-01T00:00:00Z' });
  assert.deepEqual(read(timeOf(-1n)), { at: '1969-12-31T23:59:59Z' });
  assert.deepEqual(read(timeOf(253_402_300_799n)), { at: '9999-12-31T23:59:59Z' });
  for (const seconds of [-62_135_596_801n, 253_402_300_800n, 2n ** 62n]) {
    assert.throws(() => read(timeOf(seconds)), WireError);
  }
});

test('more seconds than are remembered are all told rightly', () => {
  for (let second = 0; second < 1000; second += 1) {
    const seconds = 1_767_225_600 + second;
    const at = `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
    assert.deepEqual(read(timeOf(BigInt(seconds))), { at });
  }
});

test('what the form does not name is skipped, however it is written', () => {
  const fixed64 = Buffer.concat([varint(9n * 8n + 1n), Buffer.alloc(8, 1)]);
  const fixed32 = Buffer.concat([varint(9n * 8n + 5n), Buffer.alloc(4, 1)]);
  const far = numberField(500_000_000, -7n);
  const bytes = bytesField(20, Buffer.alloc(300, 7));
  assert.deepEqual(read(fixed64, fixed32, far, bytes, bytesField(1, 'a')), { name: 'a' });
  const inTime = bytesField(4, Buffer.concat([fixed64, numberField(1, 1n)]));
  assert.deepEqual(read(inTime), { at: '1970-01-01T00:00:01Z' });
  const inEntry = bytesField(5, Buffer.concat([fixed32, bytesField(1, 'k'), bytesField(2, 'v')]));
  assert.deepEqual(read(inEntry), { labels: { k: 'v' } });
});

test('a key that objects have by themselves is a member like any other', () => {
  const told = read(entry('__proto__', 'x'), entry('constructor', 'y')) as { labels: object };
  assert.deepEqual(Object.keys(told.labels), ['__proto__', 'constructor']);
  assert.equal(Object.getPrototypeOf(told.labels), Object.prototype);
});

test('what is no message is refused', () => {
  const odd: readonly Buffer[] = [
    Buffer.from([0x80]),
    Buffer.from([0x0a]),
    Buffer.from([0x0a, 5, 0x61]),
    Buffer.from([0x0b]),
    Buffer.concat([varint(9n * 8n + 1n), Buffer.alloc(7)]),
    Buffer.concat([varint(9n * 8n + 5n), Buffer.alloc(3)]),
    Buffer.concat([varint(1n * 8n + 2n), varint(2n ** 40n)]),
    Buffer.concat([varint(2n * 8n), Buffer.alloc(10, 0xff)]),
    numberField(1, 7n),
    bytesField(2, 'a'),
    bytesField(4, numberField(1, 7n).subarray(0, 1)),
    bytesField(5, bytesField(1, 'key').subarray(0, 3)),
    bytesField(6, bytesField(1, 'reason').subarray(0, 3)),
    bytesField(6, bytesField(20, 'reason').subarray(0, 3)),
  ];
  for (const bytes of odd) {
    assert.throws(() => readMessage(FORM, bytes), WireError, bytes.toString('hex'));
  }
  assert.throws(() => readBytes(Buffer.from([0x0a, 5, 0x61]), 1), WireError);
});

test('the bytes of one field are those of its last occurrence', () => {
  const bytes = Buffer.concat([
    bytesField(1, 'first'),
    numberField(2, 1n),
    bytesField(1, 'last'),
    bytesField(3, 'other'),
  ]);
  assert.equal(readBytes(bytes, 1)?.toString(), 'last');
  assert.equal(readBytes(bytes, 2), undefined);
  assert.equal(readBytes(bytes, 4), undefined);
});
