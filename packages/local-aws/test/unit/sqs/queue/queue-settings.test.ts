/** Queue attributes: defaults, bounds, and refusal of what SQS would refuse. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { attributesDigest, bodyDigest } from '../../../../src/sqs/queue/digest.ts';
import { parseQueueSettings } from '../../../../src/sqs/queue/queue-settings.ts';

describe('queue attributes', () => {
  it('have the defaults of SQS', () => {
    assert.deepEqual(parseQueueSettings('q', {}), {
      isFifo: false,
      contentBasedDeduplication: false,
      deduplicationScope: 'queue',
      delaySeconds: 0,
      visibilityTimeoutSeconds: 30,
      receiveWaitSeconds: 0,
      retentionSeconds: 345_600,
      maximumMessageBytes: 1_048_576,
      redrive: undefined,
    });
  });

  it('are refused when unknown or out of bounds', () => {
    const refused: [string, Record<string, string>][] = [
      ['q', { VisibilityTimout: '30' }],
      ['q', { VisibilityTimeout: '43201' }],
      ['q', { DelaySeconds: '901' }],
      ['q', { DelaySeconds: 'soon' }],
      ['q', { FifoQueue: 'true' }],
      ['q', { DeduplicationScope: 'queue' }],
      ['q.fifo', {}],
      ['q.fifo', { FifoQueue: 'true', DeduplicationScope: 'group' }],
      ['q', { RedrivePolicy: '{' }],
      ['q', { RedrivePolicy: '{"deadLetterTargetArn":"a","maxReceiveCount":1001}' }],
    ];
    for (const [name, attributes] of refused) {
      assert.throws(
        () => parseQueueSettings(name, attributes),
        { name: 'SqsError' },
        JSON.stringify(attributes),
      );
    }
  });
});

describe('digests', () => {
  it('are those of AWS', () => {
    assert.equal(bodyDigest('hello'), '5d41402abc4b2a76b9719d911017c592');
    assert.equal(attributesDigest(undefined), undefined);
    // Computed with the digest algorithm of the AWS documentation, independently of this code.
    assert.equal(
      attributesDigest({
        k: { DataType: 'String', StringValue: 'é' },
        b: { DataType: 'Binary', BinaryValue: Buffer.from([1, 2]).toString('base64') },
      }),
      '84f17c2ebf28ead2a881ba05fc37206e',
    );
  });
});
