/**
 * Codec of the credentials queue: small plain JSON, closed and bounded (faults row 67).
 *
 * Parsing never throws and never repeats a value (refused-body.ts, S11).
 */
import * as v from 'valibot';
import { CREDENTIAL_SCHEMA, type CredentialMessage } from '../../../core/model/watcher-message.ts';
import { clusterIdSchema, textSchema, timeSchema, uidSchema } from './field-schemas.ts';
import { parseSmallBody, type RefusedBody } from './refused-body.ts';

export type ParsedCredentialMessage =
  { readonly kind: 'message'; readonly message: CredentialMessage } | RefusedBody;

/** KMS makes 6,144 bytes at most of what it encrypts at once: 8,192 characters. */
const BODY_LENGTH_MAX = 10_240;

const schema = v.strictObject({
  schema: v.literal(CREDENTIAL_SCHEMA),
  cluster: clusterIdSchema,
  clusterUid: uidSchema,
  purpose: v.picklist(['act', 'ask']),
  ciphertext: textSchema(/^(?=.{4,8192}$)[A-Za-z0-9+/]+={0,2}$/),
  issuedAtMs: timeSchema,
  expiresAtMs: timeSchema,
});

/** Body of a message. */
export function encodeCredentialMessage(message: CredentialMessage): string {
  return JSON.stringify(message);
}

/** Parses a body of the credentials queue. Never throws. */
export function parseCredentialMessage(body: string): ParsedCredentialMessage {
  const parsed = parseSmallBody(schema, body, BODY_LENGTH_MAX);
  if (parsed.kind === 'refused') return parsed;
  return { kind: 'message', message: parsed.output as unknown as CredentialMessage }; // parsed; brands are the compiler's
}
