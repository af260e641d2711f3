/**
 * What an operator can do to the tables behind Rollcall's back: delete one and make it again, copy its items
 * and put them back, spoil an item. Straight through the SDK, as whoever deploys.
 */
import {
  BatchWriteItemCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DynamoDBClient,
  ScanCommand,
  UpdateItemCommand,
  waitUntilTableNotExists,
} from '@aws-sdk/client-dynamodb';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { LocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import { createTables } from '@rollcall/local-aws/deployment/create-tables.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';
import { SERVERLESS_FILE, STAGE } from '../../../src/engine/engine-stores.ts';

/** A table, by its logical id in infra/tables.yml. */
export type TableId = 'ViewTable' | 'RegistryTable';

/** Every item of a table. */
export type Backup = readonly Item[];

type Item = Readonly<Record<string, AttributeValue>>;

export interface OperatorTables {
  readonly drop: (id: TableId) => Promise<void>;
  /** Makes it again, empty, as it was declared. */
  readonly make: (id: TableId) => Promise<void>;
  readonly copy: (id: TableId) => Promise<Backup>;
  /** Exactly these items are in it afterwards. */
  readonly restore: (id: TableId, backup: Backup) => Promise<void>;
  /** Replaces one attribute of the registration of a cluster by what is none. */
  readonly spoilRegistration: (clusterId: string) => Promise<void>;
  readonly close: () => void;
}

const BATCH_MAX = 25;
const WAIT_SECONDS_MAX = 60;

export function openTables(aws: LocalAws): OperatorTables {
  const client = new DynamoDBClient({
    endpoint: aws.dynamodbEndpoint,
    region: aws.region,
    credentials: aws.operator,
  });
  const nameOf = (id: TableId): string => aws.tableNames[id] ?? '';
  const copy = async (id: TableId): Promise<Backup> => {
    const items: Item[] = [];
    let after: Item | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName: nameOf(id),
          ConsistentRead: true,
          ...(after === undefined ? {} : { ExclusiveStartKey: after }),
        }),
      );
      items.push(...(page.Items ?? []));
      after = page.LastEvaluatedKey;
    } while (after !== undefined);
    return items;
  };
  return {
    drop: async (id) => {
      await client.send(new DeleteTableCommand({ TableName: nameOf(id) }));
      await waitUntilTableNotExists(
        { client, maxWaitTime: WAIT_SECONDS_MAX, minDelay: 1, maxDelay: 1 },
        { TableName: nameOf(id) },
      );
    },
    make: async (id) => {
      const { tables } = readService(SERVERLESS_FILE, STAGE);
      await createTables(
        client,
        tables.filter((table) => table.id === id),
      );
    },
    copy,
    restore: async (id, backup) => {
      const TableName = nameOf(id);
      const kept = new Set(backup.map(keyText));
      for (const item of await copy(id)) {
        if (kept.has(keyText(item))) continue;
        await client.send(new DeleteItemCommand({ TableName, Key: keyOf(item) }));
      }
      for (let from = 0; from < backup.length; from += BATCH_MAX) {
        const requests = backup
          .slice(from, from + BATCH_MAX)
          .map((Item) => ({ PutRequest: { Item } }));
        await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }));
      }
    },
    spoilRegistration: async (clusterId) => {
      await client.send(
        new UpdateItemCommand({
          TableName: nameOf('RegistryTable'),
          Key: { pk: { S: `CLUSTER#${clusterId}` }, sk: { S: 'CLUSTER' } },
          UpdateExpression: 'SET #registration.isFrozen = :none',
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeNames: { '#registration': 'registration' },
          ExpressionAttributeValues: { ':none': { S: 'perhaps' } },
        }),
      );
    },
    close: () => {
      client.destroy();
    },
  };
}

function keyOf({ pk, sk }: Item): Record<string, AttributeValue> {
  if (pk === undefined || sk === undefined) throw new Error('an item without key');
  return { pk, sk };
}

function keyText(item: Item): string {
  return JSON.stringify(keyOf(item));
}
