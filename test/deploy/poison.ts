/**
 * Makes one DaemonSet unreadable to the deployed release, and readable again.
 *
 * Its state item gets a body of a format that this release does not know, as after a roll-back from a newer one. The
 * reconcile function refuses to guess and throws; the hint is delivered five times, a minute apart, and given up (elsewhere
 * than at stage `local` a hundred times). The item is written as a run would write it, by its version: a run that
 * had read it before loses its write, and meets the unknown format when it reads again.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { STATE } from '../../src/adapters/dynamodb/records.ts';
import type { DaemonSetRef } from '../../src/ports/stores/view-store.ts';

/** First byte of a body: a format that no release has yet. */
const UNKNOWN_FORMAT = 0x7f;
const ATTEMPTS_MAX = 20;

/** Spoils the state; returns what mends it. */
export async function poisonState(
  client: DynamoDBDocumentClient,
  tableName: string,
  ref: DaemonSetRef,
): Promise<() => Promise<void>> {
  const Key = STATE.keyOf(ref);
  const rewrite = async (change: (body: Uint8Array) => Uint8Array): Promise<Uint8Array> => {
    for (let attempt = 1; ; attempt += 1) {
      const found = await client.send(
        new GetCommand({ TableName: tableName, Key, ConsistentRead: true }),
      );
      const { body, version } = (found.Item ?? {}) as Readonly<Record<string, unknown>>;
      if (!(body instanceof Uint8Array)) throw new Error('the DaemonSet has no state yet');
      try {
        await client.send(
          new UpdateCommand({
            TableName: tableName,
            Key,
            UpdateExpression: 'SET body = :body, version = version + :one',
            ConditionExpression: 'version = :version',
            ExpressionAttributeValues: { ':body': change(body), ':version': version, ':one': 1 },
          }),
        );
        return body;
      } catch (error) {
        // A run of the deployed function was faster.
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        if (attempt === ATTEMPTS_MAX) throw error;
      }
    }
  };
  const former = await rewrite((body) => {
    const spoiled = Uint8Array.from(body);
    spoiled[0] = UNKNOWN_FORMAT;
    return spoiled;
  });
  return async () => {
    await rewrite(() => former);
  };
}
