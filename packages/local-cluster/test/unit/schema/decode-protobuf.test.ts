/**
 * Protobuf bodies against what kube-apiserver v1.36.3 wrote of the same objects in both formats (recorded-protobuf.json).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { createSchema } from '../../../src/schema/create-schema.ts';
import { decodeProtobuf } from '../../../src/schema/decode-protobuf.ts';

interface RecordedBody {
  readonly title: string;
  /** base64 */
  readonly body: string;
  readonly object: JsonObject & { readonly apiVersion: string; readonly kind: string };
}

const recorded = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'recorded-protobuf.json'), 'utf8'),
) as readonly RecordedBody[];

function withoutManagedFields(object: JsonObject): JsonObject {
  const { managedFields: _, ...metadata } = object['metadata'] as JsonObject;
  return { ...object, metadata };
}

describe('a protobuf body', () => {
  for (const { title, body, object } of recorded) {
    test(`${title} is read as its JSON`, () => {
      const outcome = decodeProtobuf(Buffer.from(body, 'base64'));
      assert.equal(outcome.kind, 'decoded');
      const [left = '', right] = object.apiVersion.split('/');
      const kind = { group: right === undefined ? '' : left, version: right ?? left };
      const decoded = createSchema().decode({ ...kind, kind: object.kind }, outcome.object);
      assert.equal(decoded.kind, 'decoded');
      assert.deepEqual(decoded.unknownFields, []);
      assert.deepEqual(withoutManagedFields(decoded.object), withoutManagedFields(object));
    });
  }

  test('that is cut off anywhere is refused or shorter, and never throws', () => {
    for (const { body } of recorded.slice(0, 3)) {
      const bytes = Buffer.from(body, 'base64');
      for (let length = 0; length < bytes.length; length += 7) {
        const outcome = decodeProtobuf(bytes.subarray(0, length));
        assert.ok(outcome.kind === 'malformed' || outcome.kind === 'decoded');
      }
    }
  });

  test('of delete options keeps the grace period, whose number an embedded kind has too', () => {
    const graceOf30Seconds = '6b3873000a130a027631120d44656c6574654f7074696f6e731202081e';
    const outcome = decodeProtobuf(Buffer.from(graceOf30Seconds, 'hex'));
    assert.deepEqual(outcome, {
      kind: 'decoded',
      object: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 30 },
    });
  });

  test('without the prefix, or of a kind that is not served, is refused', () => {
    assert.equal(decodeProtobuf(Buffer.from('{}')).kind, 'malformed');
    const gateway = Buffer.from('6b3873000a0d0a0276311207476174657761791200', 'hex');
    assert.deepEqual(decodeProtobuf(gateway), {
      kind: 'malformed',
      message: 'no kind "Gateway" is registered for version "v1"',
    });
  });
});
