/**
 * What requests of an engine are for: items by verb and kind, requests to an API server by verb and resource.
 *
 * A benchmark's own: it looks at commands where they are sent, and changes nothing of them.
 */
import type { ClientRequest } from 'node:http';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

interface Input {
  readonly Key?: Key;
  readonly Item?: Key;
  readonly RequestItems?: Readonly<Record<string, { readonly Keys?: readonly Key[] }>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, unknown>>;
  readonly Statements?: readonly { readonly Parameters?: readonly unknown[] }[];
}

interface Key {
  readonly pk?: unknown;
  readonly sk?: unknown;
}

/** From now on `count` hears of each item that a command touches, as `put STATE` or `get PODS`. */
export function countItems(count: (kind: string) => void): void {
  const { prototype } = DynamoDBDocumentClient;
  const original: unknown = Reflect.get(prototype, 'send');
  if (typeof original !== 'function') throw new Error('the client sends otherwise');
  Reflect.set(prototype, 'send', function (this: unknown, ...input: unknown[]): unknown {
    const command = input[0] as { readonly constructor: { readonly name: string }; input: Input };
    const verb = command.constructor.name.replace('Command', '').toLowerCase();
    for (const key of keysOf(command.input)) count(`${verb} ${kindOf(key)}`);
    return Reflect.apply(original, this, input) as unknown;
  });
}

function keysOf({ Key: key, Item: item, RequestItems: asked, ...input }: Input): readonly Key[] {
  if (key !== undefined) return [key];
  if (item !== undefined) return [item];
  if (asked !== undefined) return Object.values(asked).flatMap(({ Keys: keys = [] }) => keys);
  if (input.Statements !== undefined) {
    // Key and condition are a statement's last three (batched-writer.ts).
    return input.Statements.map(({ Parameters: given = [] }) => ({
      pk: given.at(-3),
      sk: given.at(-2),
    }));
  }
  return [{ pk: input.ExpressionAttributeValues?.[':pk'], sk: 'SLICE' }];
}

/** A slice by its set, all else by its sort key. */
function kindOf({ pk, sk }: Key): string {
  return sk === 'SLICE' ? (String(pk).split('#')[0] ?? '') : String(sk);
}

/** `POST pods`, `PATCH daemonsets/status`: names, namespaces and parameters left out. */
export function requestKind({ method, path }: ClientRequest): string {
  const [bare = ''] = path.split('?');
  const parts = bare.split('/').filter(Boolean);
  const rest = parts.slice(parts[0] === 'apis' ? 3 : 2);
  const [resource = bare, name, subresource] = rest[0] === 'namespaces' ? rest.slice(2) : rest;
  const what = [resource, ...(subresource === undefined ? [] : [subresource])].join('/');
  const isList = method === 'GET' && name === undefined;
  return `${isList ? 'LIST' : method} ${what}`;
}
