/** A stolen session of `reconcile`, which has the way into every cluster, leaves nothing behind in the registry (issue 40). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { isAccessError, startFunctionWorld } from '../support/rights/function-world.ts';
import type { FunctionWorld } from '../support/rights/function-world.ts';
import { readRoles } from '../support/rights/role-grants.ts';

const OF_OPERATORS = [
  'CLUSTER',
  'CLUSTER-UID',
  'DIRECTORY',
  'FREEZE',
  'FLEET',
  'FLEETS',
  'REGISTRY',
];

describe('a stolen session of reconcile', () => {
  let world: FunctionWorld;

  before(async () => {
    world = await startFunctionWorld();
  });
  after(() => (world as FunctionWorld | undefined)?.stop());

  it('writes no registration and no freeze: the note of a rival is all that it may leave (S12)', async () => {
    const { region, dynamodbEndpoint: endpoint, tableNames } = world.aws;
    const credentials = world.aws.credentialsOf('reconcile');
    const dynamo = new DynamoDBClient({ region, endpoint, credentials });
    const TableName = tableNames['RegistryTable'];
    const put = (pk: string): Promise<unknown> =>
      dynamo.send(new PutItemCommand({ TableName, Item: { pk: { S: pk }, sk: { S: 'x' } } }));
    try {
      for (const partition of OF_OPERATORS.map((prefix) => `${prefix}#00`)) {
        const Key = { pk: { S: partition }, sk: { S: 'x' } };
        await assert.rejects(put(partition), isAccessError, partition);
        const update = new UpdateItemCommand({ TableName, Key });
        await assert.rejects(dynamo.send(update), isAccessError, partition);
        const removal = new DeleteItemCommand({ TableName, Key });
        await assert.rejects(dynamo.send(removal), isAccessError, partition);
      }
      await put('RIVAL#00');
    } finally {
      dynamo.destroy();
    }
  });

  it('is no better than one of any other function: none writes a registration or a freeze', () => {
    for (const { functionName, grants } of readRoles()) {
      const written = grants
        .filter(({ resourceArn }) => resourceArn.endsWith('-registry'))
        .filter(({ action }) => !/:(GetItem|BatchGetItem|Query)$/.test(action))
        .flatMap(({ leadingKeys = ['*'] }) => leadingKeys)
        .map((pattern) => pattern.replace(/#.*/, ''));
      assert.deepEqual(
        written.filter((prefix) => prefix.startsWith('*') || OF_OPERATORS.includes(prefix)),
        [],
        functionName,
      );
    }
  });
});
