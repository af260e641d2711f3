/** Reads that may lag cost half; what is written through the same client is what was asked for (ADR 0034). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchGetCommand, GetCommand, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { withLaggingReads } from '../../../../src/adapters/dynamodb/lagging-reads.ts';

const Key = { pk: 'p', sk: 's' };
const TableName = 't';

function recording() {
  const sent: unknown[] = [];
  const strict = {
    send(command: unknown) {
      assert.equal(this, strict, 'called on the client that was given');
      sent.push(command);
      return Promise.resolve({});
    },
  };
  return { client: withLaggingReads(strict as unknown as DynamoDBDocumentClient), sent };
}

describe('reads that may lag', () => {
  it('ask for no strong consistency: of one item, of many in both tables, of a page', async () => {
    const { client, sent } = recording();
    await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }));
    const asked = { Keys: [Key], ConsistentRead: true };
    await client.send(new BatchGetCommand({ RequestItems: { t: asked, u: asked } }));
    await client.send(new QueryCommand({ TableName, ConsistentRead: true, Limit: 8 }));
    const [single, many, page] = sent;
    assert.ok(single instanceof GetCommand && many instanceof BatchGetCommand);
    assert.ok(page instanceof QueryCommand);
    assert.deepEqual(single.input, { TableName, Key, ConsistentRead: false });
    const lagging = { Keys: [Key], ConsistentRead: false };
    assert.deepEqual(many.input, { RequestItems: { t: lagging, u: lagging } });
    assert.deepEqual(page.input, { TableName, ConsistentRead: false, Limit: 8 });
  });

  it('leave a write as it is, and do not change the command of whoever asks', async () => {
    const { client, sent } = recording();
    const write = new PutCommand({ TableName, Item: Key, ConditionExpression: 'version = :v' });
    await client.send(write);
    assert.equal(sent[0], write);
    const read = new GetCommand({ TableName, Key, ConsistentRead: true });
    await client.send(read);
    assert.equal(read.input.ConsistentRead, true);
  });
});
