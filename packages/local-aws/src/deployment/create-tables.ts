// Creates the tables that a template declares, through the SDK, on any DynamoDB endpoint.
//
// A table that is there already is left as it is: with data on disk that is the ordinary case. Only keys and billing
// mode are taken from the declaration; recovery, protection, encryption and a time to live mean nothing to an emulator:
// a reader of items that expire leaves out those that have.
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  CreateTableCommand,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { TableDeclaration } from '../template/service.ts';

/** Creates each table unless it exists, and waits until it can be used. */
export async function createTables(
  client: DynamoDBClient,
  tables: readonly TableDeclaration[],
): Promise<void> {
  for (const table of tables) {
    try {
      await client.send(
        new CreateTableCommand({
          TableName: table.name,
          BillingMode: 'PAY_PER_REQUEST',
          AttributeDefinitions: [...table.attributeDefinitions],
          KeySchema: [...table.keySchema],
        }),
      );
    } catch (error) {
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    // The first look comes at once, so an emulator costs no wait.
    await waitUntilTableExists(
      { client, maxWaitTime: 20, minDelay: 1, maxDelay: 1 },
      { TableName: table.name },
    );
  }
}
