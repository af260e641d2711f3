/** How many bytes of an item are there for what happened (ADR 0082): those of an item of the log, and what its entries add to a state. */
import { decodeBody, encodeBody, keyIn } from '../../../src/adapters/dynamodb/item-codec.ts';
import { sizeOfItem } from '@rollcall/local-aws/dynamodb/values.ts';
import type { WireItem } from '@rollcall/local-aws/dynamodb/values.ts';

/** Bytes of an item of a table, as DynamoDB counts them. */
export function logBytesOf(item: WireItem): number {
  const { pk, sk, body } = item as Readonly<Record<string, { S?: string; B?: string } | undefined>>;
  if (pk?.S?.startsWith('LOG#') === true) return sizeOfItem(item);
  if (sk?.S !== 'STATE' || body?.B === undefined) return 0;
  const stored = Buffer.from(body.B, 'base64');
  const key = keyIn({ pk: pk?.S, sk: sk.S });
  const { log, ...rest } = decodeBody(key, stored) as { readonly log?: unknown };
  return log === undefined ? 0 : stored.byteLength - encodeBody(key, rest).byteLength;
}
