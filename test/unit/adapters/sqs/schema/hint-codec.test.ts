/** The codec of hints and timers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clusterId, clusterUid } from '../../../../../src/core/model/identifiers.ts';
import type { Hint, Timer } from '../../../../../src/core/model/hint.ts';
import {
  encodeHint,
  encodeTimer,
  parseHint,
  parseTimer,
} from '../../../../../src/adapters/sqs/schema/hint-codec.ts';

const hint: Hint = {
  schema: 1,
  key: { cluster: clusterId('west-1'), namespace: 'agents', name: 'collector' },
  clusterUid: clusterUid('uid-1'),
  reason: 'changed',
};
const timer: Timer = { schema: 1, hint, timerId: 'abc123', dueAtMs: 1_767_225_600_000, hops: 2 };

describe('codec of hints and timers', () => {
  it('carries both there and back', () => {
    assert.deepEqual(parseHint(encodeHint(hint)), { kind: 'hint', hint });
    assert.deepEqual(parseTimer(encodeTimer(timer)), { kind: 'timer', timer });
  });

  it('refuses with a code and the field', () => {
    const refusedHint = (change: object): unknown =>
      parseHint(JSON.stringify({ ...hint, ...change }));
    const refused = (code: string, field: string): unknown => ({ kind: 'refused', code, field });
    assert.deepEqual(parseHint('{'), refused('undecodable', ''));
    assert.deepEqual(parseHint(' '.repeat(9000)), refused('oversized', ''));
    assert.deepEqual(refusedHint({ schema: 2 }), refused('unsupported-schema', 'schema'));
    assert.deepEqual(refusedHint({ schema: 'x' }), refused('invalid', 'schema'));
    assert.deepEqual(refusedHint({ extra: 1 }), refused('invalid', 'extra'));
    assert.deepEqual(refusedHint({ reason: 'because' }), refused('invalid', 'reason'));
    const key = { ...hint.key, name: 'a\nb' };
    assert.deepEqual(refusedHint({ key }), refused('invalid', 'key.name'));
    const nested = { ...timer, hint: { ...hint, key } };
    assert.deepEqual(parseTimer(JSON.stringify(nested)), refused('invalid', 'hint.key.name'));
    assert.deepEqual(
      parseTimer(JSON.stringify({ ...timer, dueAtMs: -1 })),
      refused('invalid', 'dueAtMs'),
    );
    assert.deepEqual(parseTimer(encodeHint(hint)).kind, 'refused');
  });

  it('never throws, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), (body) => {
        assert.equal(parseHint(body).kind, 'refused');
        assert.equal(parseTimer(body).kind, 'refused');
      }),
      { numRuns: 1000 },
    );
  });
});
