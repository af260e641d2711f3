/**
 * A document client whose reads may lag behind, for half the price (ADR 0034). Only for who decides
 * nothing by them: whatever is concluded is a hint to look again, or a write that rests on the
 * version that was read. Writes pass unchanged.
 */
import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** The same client; what it reads was written a moment ago, or a little earlier. */
export function withLaggingReads(client: DynamoDBDocumentClient): DynamoDBDocumentClient {
  // The answer is the command's own.
  const strict = client as unknown as { send(command: unknown, ...rest: unknown[]): unknown };
  const send = (command: unknown, ...rest: unknown[]): unknown =>
    strict.send(lagging(command), ...rest);
  return Object.create(client, { send: { value: send } }) as DynamoDBDocumentClient;
}

/** The same command, unless it reads. */
function lagging(command: unknown): unknown {
  if (command instanceof GetCommand) {
    return new GetCommand({ ...command.input, ConsistentRead: false });
  }
  if (command instanceof QueryCommand) {
    return new QueryCommand({ ...command.input, ConsistentRead: false });
  }
  if (!(command instanceof BatchGetCommand)) return command;
  const asked = Object.entries(command.input.RequestItems ?? {});
  const RequestItems = Object.fromEntries(
    asked.map(([table, keys]) => [table, { ...keys, ConsistentRead: false }]),
  );
  return new BatchGetCommand({ ...command.input, RequestItems });
}
