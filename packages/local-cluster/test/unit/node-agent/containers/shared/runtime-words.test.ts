/** Words of the kubelet's messages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asRuntimeError,
  goDuration,
  runtimeMessage,
} from '../../../../../src/node-agent/containers/shared/runtime-words.ts';
import { RuntimeError } from '../../../../../src/runtime/cri.ts';

test('durations are written as Go writes them', () => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [340, '340ms'],
    [1000, '1s'],
    [1512, '1.512s'],
    [10_000, '10s'],
    [80_000, '1m20s'],
    [300_000, '5m0s'],
    [3_600_000, '1h0m0s'],
  ];
  for (const [durationMs, text] of cases) assert.equal(goDuration(durationMs), text);
});

test('the gRPC frame is taken off a message; a bug is no refusal', () => {
  const error = new RuntimeError('Create', 'rpc error: code = Unknown desc = no room');
  assert.equal(runtimeMessage(error), 'no room');
  assert.equal(asRuntimeError(error), error);
  assert.throws(() => asRuntimeError(new TypeError('bug')), TypeError);
});
