/** What the checks of a table work with: a client for one DynamoDB endpoint, and a table for each check. */
import { randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createTables } from '@rollcall/local-aws/deployment/create-tables.ts';

/** A client for one endpoint. */
export class TableBench {
  readonly client: DynamoDBDocumentClient;
  readonly #raw: DynamoDBClient;

  constructor(endpoint: string) {
    this.#raw = new DynamoDBClient({
      endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId: 'ROLLCALLTESTKEY1', secretAccessKey: 'none' },
      maxAttempts: 1,
    });
    this.client = DynamoDBDocumentClient.from(this.#raw);
  }

  /** Ends the client's connections. */
  close(): void {
    this.#raw.destroy();
  }

  /** A new table with the keys of infra/tables.yml. */
  async table(): Promise<string> {
    const name = `t-${randomUUID()}`;
    await createTables(this.#raw, [
      {
        id: 'Table',
        name,
        attributeDefinitions: [
          { AttributeName: 'pk', AttributeType: 'S' },
          { AttributeName: 'sk', AttributeType: 'S' },
        ],
        keySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      },
    ]);
    return name;
  }
}
