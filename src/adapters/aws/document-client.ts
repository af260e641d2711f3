/**
 * The DynamoDB client as Rollcall configures it: one per process, for both tables.
 *
 * Retries and back-off for throttles are the SDK's; beyond them a call rejects and no decision is
 * made on it (spec faults 32). Undefined members are left out, as JSON does. Where the tables are and
 * which credentials apply is the composition root's business.
 */
import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CALL_LIMITS, createAwsClient, type CallLimits } from './create-client.ts';

/** A document client for the stores, under the limits of a function unless said. Close it with `destroy()`. */
export function createDocumentClient(
  config: DynamoDBClientConfig = {},
  limits: CallLimits = CALL_LIMITS.function,
): DynamoDBDocumentClient {
  const client = createAwsClient(DynamoDBClient, limits, {
    ...config,
    base64Decoder: decodeBase64,
  });
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true, convertEmptyValues: false },
  });
}

/**
 * Bodies as bytes. The SDK's own looks at each character by a regular expression first: of a view of thousands of pods that takes
 * longer than the decoding. What is no base64, which no table answers, is noticed where the body is opened (item-codec.ts).
 */
function decodeBase64(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}
