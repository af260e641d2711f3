/** Tables of the shape that all of ours have (infra/tables.yml): a string `pk`, a string `sk`, paid by request. */
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Tables } from '@rollcall/local-aws/dynamodb/tables.ts';

function shapeOf(TableName: string) {
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST' as const,
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' as const },
      { AttributeName: 'sk', AttributeType: 'S' as const },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' as const },
      { AttributeName: 'sk', KeyType: 'RANGE' as const },
    ],
  };
}

/** Makes it on any DynamoDB endpoint; rejects where one of this name is there already. */
export async function createKeyTable(client: DynamoDBClient, tableName: string): Promise<void> {
  await client.send(new CreateTableCommand(shapeOf(tableName)));
}

/** Tables of these names in this process. */
export function createTablesInProcess(...names: readonly string[]): Tables {
  const tables = new Tables();
  for (const name of names) tables.perform('CreateTable', shapeOf(name));
  return tables;
}
