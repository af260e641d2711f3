/** What a failed send means. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { createEventQueue, classifySendFailure } from '../../../../src/adapters/sqs/event-queue.ts';
import { messageOf } from './watcher-message-samples.ts';

interface Failure {
  readonly name?: string;
  readonly code?: string;
  readonly status?: number;
  readonly retryAfter?: string;
}

function failure({ name = 'Error', code, status, retryAfter }: Failure): Error {
  return Object.assign(new Error('message text decides nothing: InvalidMessageContents'), {
    name,
    ...(code === undefined ? {} : { code }),
    ...(status === undefined ? {} : { $metadata: { httpStatusCode: status } }),
    ...(retryAfter === undefined ? {} : { $response: { headers: { 'retry-after': retryAfter } } }),
  });
}

const table: readonly (readonly [Failure, string])[] = [
  [{ code: 'ECONNREFUSED' }, 'unsent'],
  [{ code: 'ENOTFOUND' }, 'unsent'],
  [{ name: 'CredentialsProviderError' }, 'unsent'],
  [{ code: 'ECONNRESET' }, 'ambiguous'],
  [{ name: 'TimeoutError' }, 'ambiguous'],
  [{ name: 'AbortError' }, 'ambiguous'],
  [{ name: 'InternalFailure', status: 500 }, 'ambiguous'],
  [{ name: 'ServiceUnavailable', status: 503 }, 'ambiguous'],
  [{ name: 'ThrottlingException', status: 400 }, 'unsent'],
  [{ name: 'RequestThrottled', status: 403 }, 'unsent'],
  [{ name: 'Throttling', status: 503 }, 'unsent'],
  [{ name: 'AccessDeniedException', status: 403 }, 'unsent'],
  [{ name: 'QueueDoesNotExist', status: 400 }, 'unsent'],
  [{ name: 'InvalidMessageContents', status: 400 }, 'refused'],
  [{ name: 'InvalidParameterValue', status: 400 }, 'refused'],
  [{ name: 'Unknown', status: 413 }, 'refused'],
];

describe('classifySendFailure', () => {
  for (const [input, kind] of table) {
    it(`calls ${JSON.stringify(input)} ${kind}`, () => {
      assert.equal(classifySendFailure(failure(input)).kind, kind);
    });
  }

  it('keeps Retry-After', () => {
    const outcome = classifySendFailure(
      failure({ name: 'ThrottlingException', status: 429, retryAfter: '3' }),
    );
    assert.equal(outcome.kind === 'unsent' && outcome.retryAfterMs, 3000);
  });

  it('takes what is no error for ambiguous', () => {
    assert.equal(classifySendFailure('boom').kind, 'ambiguous');
  });
});

describe('event queue', () => {
  it('refuses a body beyond 256 KiB without sending it', async () => {
    // Only `send` is used, and it must not be.
    const client = { send: () => assert.fail('sent') } as unknown as SQSClient;
    const queue = createEventQueue({ client, queueUrl: 'https://queue' });
    const frozen = queue.freeze(messageOf({ kind: 'changes', deltas: [] }));
    const outcome = await queue.send({ ...frozen, sizeBytes: 256 * 1024 + 1 });
    assert.equal(outcome.kind, 'refused');
  });

  it('counts bytes, not characters', () => {
    const client = {} as unknown as SQSClient; // not used by freeze
    const queue = createEventQueue({ client, queueUrl: 'https://queue' });
    const body = { kind: 'announcement', sliceCount: 1, reason: 'start', requestId: 'ü' } as const;
    const frozen = queue.freeze(messageOf(body));
    assert.equal(frozen.sizeBytes, frozen.body.length + 1);
  });
});
