/**
 * Codec of the credentials queue: small plain JSON, closed and bounded (faults row 67).
 *
 * Parsing never throws and never repeats a value: what was put into the body in place of a sealed token may be
 * a token (S11).
 */
import * as v from 'valibot';
import { CREDENTIAL_SCHEMA } from '../../../core/model/credential-message.ts';
import type { CredentialMessage } from '../../../core/model/credential-message.ts';
import { clusterIdSchema, textSchema, timeSchema, uidSchema } from './field-schemas.ts';
import { refusedField } from './refused-field.ts';

/** Why a body is no message of a renewer. */
export interface RefusedCredentialMessage {
  readonly kind: 'refused';
  readonly code: 'undecodable' | 'oversized' | 'unsupported-schema' | 'invalid';
  /** Dotted path of what was refused; empty for the whole. */
  readonly field: string;
}

/** Result of parsing a body of the credentials queue. */
export type ParsedCredentialMessage =
  { readonly kind: 'message'; readonly message: CredentialMessage } | RefusedCredentialMessage;

/** KMS makes 6,144 bytes at most of what it encrypts at once: 8,192 characters. */
const BODY_LENGTH_MAX = 10_240;

const schema = v.strictObject({
  schema: v.literal(CREDENTIAL_SCHEMA),
  cluster: clusterIdSchema,
  clusterUid: uidSchema,
  purpose: v.exactOptional(v.literal('ask')),
  ciphertext: textSchema(/^(?=.{4,8192}$)[A-Za-z0-9+/]+={0,2}$/),
  issuedAtMs: timeSchema,
  expiresAtMs: timeSchema,
});

function refuse(code: RefusedCredentialMessage['code'], field = ''): RefusedCredentialMessage {
  return { kind: 'refused', code, field };
}

/** Body of a message. */
export function encodeCredentialMessage(message: CredentialMessage): string {
  return JSON.stringify(message);
}

/** Parses a body of the credentials queue. Never throws. */
export function parseCredentialMessage(body: string): ParsedCredentialMessage {
  if (body.length > BODY_LENGTH_MAX) return refuse('oversized');
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    // The parser's message would quote the body.
    return refuse('undecodable');
  }
  const parsed = v.safeParse(schema, value, { abortEarly: true });
  if (parsed.success) {
    return { kind: 'message', message: parsed.output as unknown as CredentialMessage }; // parsed; brands are the compiler's
  }
  const field = refusedField(parsed.issues[0]);
  const isOther = field === 'schema' && typeof parsed.issues[0].input === 'number';
  return refuse(isOther ? 'unsupported-schema' : 'invalid', field);
}
