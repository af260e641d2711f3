/**
 * As much of the SDK's document client as the stores use, over tables in this process: for a tenth of its CPU.
 *
 * Nothing is sent, signed or repeated; test/integration/dynamodb has the stores over the real client.
 */
import { ConditionalCheckFailedException, type AttributeValue } from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { defined } from '@rollcall/base/defined.ts';
import type { Tables } from '@rollcall/local-aws/dynamodb/tables.ts';
import { TableError } from '@rollcall/local-aws/dynamodb/values.ts';

type Perform = (...request: Parameters<Tables['perform']>) => object | Promise<object>;

/** One whose requests these are; throws what `perform` throws, as the SDK names it. */
export function documentClientOf(perform: Perform): DynamoDBDocumentClient {
  const send = async (command: { readonly input: object }): Promise<unknown> => {
    const name = command.constructor.name.replace(/Command$/, '');
    const operation = /^(Get|Put|Update|Delete|BatchGet)$/.test(name) ? `${name}Item` : name;
    try {
      const answer = await perform(operation, mapped(defined(command.input), wireField));
      return { ...mapped(answer, plainField), $metadata: { attempts: 1 } };
    } catch (error) {
      throw error instanceof TableError ? asClientError(error) : error;
    }
  };
  return { send } as unknown as DynamoDBDocumentClient; // the stores ask for no other member
}

function asClientError({ type, message, item }: TableError): Error {
  const name = type.slice(type.indexOf('#') + 1);
  if (name !== 'ConditionalCheckFailedException') {
    return Object.assign(new Error(message), { name });
  }
  const Item = item as Record<string, AttributeValue> | undefined; // texts are read of it, which are the same
  return new ConditionalCheckFailedException({
    message,
    $metadata: { attempts: 1 },
    ...defined({ Item }),
  });
}

type Members = Readonly<Record<string, unknown>>;

function mapped(of: object, change: (member: unknown, name: string) => unknown): Members {
  const entries = Object.entries(of) as readonly (readonly [string, unknown])[];
  return Object.fromEntries(entries.map(([name, member]) => [name, change(member, name)]));
}

/** A field of a request, whose values get their types. */
function wireField(value: unknown, name: string): unknown {
  if (/^(Key|Item|ExclusiveStartKey|ExpressionAttributeValues)$/.test(name)) return wireItem(value);
  if (name === 'Keys') return (value as readonly unknown[]).map(wireItem);
  if (name === 'RequestItems') {
    return mapped(value as object, (asked) => mapped(asked as object, wireField));
  }
  if (name !== 'Statements') return value;
  return (value as readonly { readonly Parameters: readonly unknown[] }[]).map((statement) => ({
    ...statement,
    Parameters: statement.Parameters.map(wireValue),
  }));
}

function wireItem(item: unknown): Members {
  return mapped(defined(item as Members), wireValue);
}

function wireValue(value: unknown): Members {
  if (typeof value === 'string') return { S: value };
  if (typeof value === 'number') return { N: String(value) };
  if (typeof value === 'boolean') return { BOOL: value };
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') };
  if (value === null) return { NULL: true };
  return Array.isArray(value) ? { L: value.map(wireValue) } : { M: wireItem(value) };
}

/** A field of an answer, whose values lose them. */
function plainField(value: unknown, name: string): unknown {
  if (name === 'Item' || name === 'LastEvaluatedKey') return mapped(value as object, plainValue);
  const itemsOf = (items: unknown): unknown =>
    (items as readonly object[]).map((item) => mapped(item, plainValue));
  if (name === 'Items') return itemsOf(value);
  // Those of statements have no items.
  return name === 'Responses' && !Array.isArray(value) ? mapped(value as object, itemsOf) : value;
}

function plainValue(value: unknown): unknown {
  const [[type = '', held] = []] = Object.entries(value as Members);
  switch (type) {
    case 'N':
      return Number(held);
    case 'B':
      return Buffer.from(held as string, 'base64');
    case 'NULL':
      return null;
    case 'L':
      return (held as readonly unknown[]).map(plainValue);
    case 'M':
      return mapped(held as object, plainValue);
    default:
      return held;
  }
}
