/** Hints that fail in a lane (L3, L4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SQSRecord } from 'aws-lambda';
import { leaveGroup, type GroupFailure } from '../../../functions/reconcile/take-batch.ts';
import { hintGroupId } from '../../../src/adapters/sqs/queue-ids.ts';
import { clusterId, clusterUid } from '../../../src/core/model/identifiers.ts';
import type { Hint } from '../../../src/core/model/hint.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { RecordingHintQueue } from '../../support/recording-hint-queue.ts';

const key = { cluster: clusterId('west-1'), namespace: 'agents', name: 'collector' };
const hint: Hint = { schema: 1, key, clusterUid: clusterUid('uid'), reason: 'changed' };

function failureIn(group: string, queue: RecordingHintQueue): GroupFailure {
  const attributes = { MessageGroupId: group } as SQSRecord['attributes'];
  const error = new Error('poison');
  return { record: { messageId: 'm1', attributes }, hint, error, queue, log: new MemoryLog() };
}

describe('a hint whose run failed', () => {
  it('leaves its lane: poison holds no other key of its cluster (L4)', async () => {
    const queue = new RecordingHintQueue();
    await leaveGroup(failureIn('west-1/lane-03', queue));
    assert.deepEqual(queue.sends, [{ prefix: 'alone/m1', keys: ['west-1/agents/collector'] }]);
  });

  it('fails as ever when it is alone: redelivery, and in the end the dead letters', async () => {
    const queue = new RecordingHintQueue();
    await assert.rejects(leaveGroup(failureIn(hintGroupId(key), queue)), /poison/);
    assert.deepEqual(queue.sends, []);
  });

  it('comes again when it cannot be sent on', async () => {
    const queue = new RecordingHintQueue();
    queue.failNext(1);
    await assert.rejects(leaveGroup(failureIn('west-1/lane-03', queue)), /injected/);
  });
});
