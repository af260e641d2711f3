/**
 * The DynamoDB client as Rollcall configures it: one per process, for both tables.
 *
 * Retries and back-off for throttles are the SDK's; beyond them a call rejects and no decision is
 * made on it (spec faults 32). Undefined members are left out, as JSON does. Where the tables are and
 * which credentials apply is the composition root's business.
 */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** A document client for the stores. Close it with `destroy()`. */
export function createDocumentClient(config: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ maxAttempts: 4, retryMode: 'standard', ...config });
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true, convertEmptyValues: false },
  });
}
