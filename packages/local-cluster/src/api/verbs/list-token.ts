/**
 * The opaque continue token of a limited list: version of the list and key after which it goes on, as base64url JSON in
 * the real server's own shape.
 */
import { isJsonObject } from '@rollcall/base/json.ts';

/** What a token says. Version -1: go on at the newest version, whatever changed (offered after 410). */
export interface ListToken {
  readonly version: bigint;
  /** Exclusive: `namespace/name`, or `name`. */
  readonly afterKey: string;
}

const FORMAT = 'meta.k8s.io/v1';

/** Writes a token. */
export function formatListToken({ version, afterKey }: ListToken): string {
  const text = JSON.stringify({ v: FORMAT, rv: Number(version), start: `${afterKey}\0` });
  return Buffer.from(text, 'utf8').toString('base64url');
}

/** Reads a token; undefined when it is none of ours: a 400. */
export function parseListToken(text: string): ListToken | undefined {
  let content: unknown;
  try {
    content = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  if (!isJsonObject(content) || content.v !== FORMAT) return undefined;
  const { rv, start } = content;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) return undefined;
  if (typeof start !== 'string' || !start.endsWith('\0')) return undefined;
  return { version: BigInt(rv), afterKey: start.slice(0, -1) };
}
