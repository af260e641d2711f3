/**
 * Keeps a credential that an API server echoes out of what is said about its answers (S11, faults 68).
 *
 * A server, or a proxy before it, may repeat the token that it was sent; its refusals are shown to
 * people. Texts are looked through after they were parsed: in JSON a letter can be written in several
 * ways. A server that disguises the token further tells its own secret, and is not stopped from it.
 */
import type { Json } from '@rollcall/base/json.ts';

const CONCEALED = '[redacted]';

/** The text without the token. */
export function concealToken(text: string, token: string | undefined): string {
  return token === undefined || token === '' ? text : text.replaceAll(token, CONCEALED);
}

/** Parses the body of a refusal; undefined when it is no JSON, or nested beyond reason. */
export function parseRefusalBody(text: string, token: string | undefined): Json | undefined {
  try {
    return JSON.parse(text, (_key, value: Json) =>
      typeof value === 'string' ? concealToken(value, token) : value,
    ) as Json;
  } catch {
    // A proxy's page: it is judged by its status alone.
    return undefined;
  }
}
