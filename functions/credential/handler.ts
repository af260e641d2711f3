/**
 * `credential`: takes the sealed tokens that clusters send, for the functions that connect to them.
 *
 * Who sent a message is what SQS says (S6). Records are handled on their own: what must come again is
 * reported one by one, and a refused message is finished business.
 */
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { readTokenClaims } from '../../src/adapters/kubernetes/credentials/token-claims.ts';
import { parseCredentialMessage } from '../../src/adapters/sqs/schema/credential-message-schema.ts';
import { identifySender } from '../../src/adapters/sqs/queue-ids.ts';
import { acceptCredential, refuseCredential } from '../../src/app/credential/accept-credential.ts';
import { composition } from '../composition.ts';
import { makeKmsSeal } from '../kms-seal.ts';
import { createHandler, type HandlerContext } from '../middleware.ts';
import { handleRecords } from '../records.ts';

/** The Lambda handler of the credentials queue. */
export const handler = createHandler<SQSEvent, SQSBatchResponse>({
  name: 'credential',
  makeSeal: makeKmsSeal,
  handle: (event, context) =>
    handleRecords(event, {
      order: 'unordered',
      context,
      handle: (record) => handleRecord(record, context),
    }),
});

async function handleRecord(record: SQSRecord, context: HandlerContext): Promise<void> {
  const { log, metrics } = context;
  const { registry, credentials, seal, clock } = composition(context);
  const { SenderId, SentTimestamp } = record.attributes;
  const origin = {
    messageId: record.messageId,
    sentAtMs: Number(SentTimestamp),
    senderRoleId: identifySender(SenderId),
  };
  const parsed = parseCredentialMessage(record.body);
  if (parsed.kind === 'refused') {
    const { code, field } = parsed;
    await refuseCredential({ code, field }, origin, { registry, log, metrics });
    return;
  }
  await acceptCredential(parsed.message, origin, {
    registry,
    credentials,
    seal,
    readClaims: readTokenClaims,
    clock,
    log,
    metrics,
  });
}
