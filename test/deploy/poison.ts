/**
 * Makes one DaemonSet unreadable to the deployed release, and readable again.
 *
 * Its state item gets a body of a format that this release does not know, as after a roll-back from a newer one. The
 * reconcile function refuses to guess and throws; the hint is delivered five times, a minute apart, and given up. No
 * setting of the deployment is changed for it.
 */
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { daemonSetKey } from '../../src/adapters/dynamodb/item-keys.ts';
import type { DaemonSetRef } from '../../src/ports/view-store.ts';

/** First byte of a body: a format that no release has yet. */
const UNKNOWN_FORMAT = 0x7f;

/** Spoils the state; returns what mends it. */
export async function poisonState(
  client: DynamoDBDocumentClient,
  tableName: string,
  ref: DaemonSetRef,
): Promise<() => Promise<void>> {
  const Key = daemonSetKey(ref, 'STATE');
  const item = await client.send(
    new GetCommand({ TableName: tableName, Key, ConsistentRead: true }),
  );
  const body: unknown = item.Item?.['body'];
  if (!(body instanceof Uint8Array)) throw new Error('the DaemonSet has no state yet');
  const write = async (bytes: Uint8Array): Promise<void> => {
    await client.send(
      new UpdateCommand({
        TableName: tableName,
        Key,
        UpdateExpression: 'SET body = :body',
        ConditionExpression: 'attribute_exists(body)',
        ExpressionAttributeValues: { ':body': bytes },
      }),
    );
  };
  const spoiled = Uint8Array.from(body);
  spoiled[0] = UNKNOWN_FORMAT;
  await write(spoiled);
  return () => write(body);
}
