/** Records of reconcile.fifo as Lambda hands them to `reconcile`. */
import type { SQSRecord } from 'aws-lambda';
import { encodeHint } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { hintGroupId } from '../../src/adapters/sqs/queue-ids.ts';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { Hint, HintReason } from '../../src/core/model/hint.ts';

/** What a record is made of; the group is the key's own unless told. */
export interface HintRecordOptions {
  readonly id: string;
  readonly cluster?: string;
  readonly name?: string;
  readonly reason?: HintReason;
  readonly clusterUid?: string;
  readonly group?: string;
  readonly receives?: number;
}

/** One record with a hint. */
export function hintRecord(options: HintRecordOptions): SQSRecord {
  const { id, cluster = 'west-1', name = 'agent', reason = 'changed', receives = 1 } = options;
  const key = { cluster: clusterId(cluster), namespace: 'agents', name };
  const uid = clusterUid(options.clusterUid ?? 'uid-1');
  const hint: Hint = { schema: 1, key, clusterUid: uid, reason };
  return {
    messageId: id,
    receiptHandle: `receipt-of-${id}`,
    body: encodeHint(hint),
    attributes: {
      MessageGroupId: options.group ?? hintGroupId(key),
      ApproximateReceiveCount: String(receives),
      SequenceNumber: '1',
    } as SQSRecord['attributes'], // what is read of them
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:eu-west-1:111111111111:reconcile.fifo',
    awsRegion: 'eu-west-1',
  };
}
