/** Makes a table of the shape that all of ours have (infra/tables.yml): a string `pk`, a string `sk`, paid by request. */
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';

/** Makes it on any DynamoDB endpoint; rejects where one of this name is there already. */
export async function createKeyTable(client: DynamoDBClient, tableName: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
}
