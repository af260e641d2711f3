/**
 * One signed request to Amazon EventBridge: an action, its body, and the answer as it is (ADR 0066).
 *
 * Few actions are needed, of which none needs more than this. Who asks says what an answer means, and repeats. Rejects when no answer was
 * read; no body and no credential is in what it throws.
 */
import { SignatureV4 } from '@smithy/signature-v4';
import { Sha256 } from '@rollcall/base/system/sha256.ts';

/** Credentials as the SDK's providers give them. */
export interface EventsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface EventsOptions {
  readonly region: string;
  /** `https://events.<region>.amazonaws.com`, or an emulator's. */
  readonly endpoint: string;
  readonly credentials: () => Promise<EventsCredentials>;
  readonly nowMs: () => number;
  /** Of one request; default 2,000. */
  readonly timeoutMs?: number;
}

export interface EventsAnswer {
  readonly status: number;
  /** Bounded: what is longer is cut. */
  readonly text: string;
}

const TIMEOUT_MS = 2_000;
/** An answer names ten entries, or one rule. */
const ANSWER_CHARACTERS_MAX = 64 * 1024;

export async function sendToEvents(
  action: string,
  body: string,
  { region, endpoint, credentials, nowMs, timeoutMs = TIMEOUT_MS }: EventsOptions,
): Promise<EventsAnswer> {
  const url = new URL(endpoint);
  const signer = new SignatureV4({
    ...{ service: 'events', region, sha256: Sha256 },
    credentials: await credentials(),
  });
  const { headers } = await signer.sign(
    {
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port === '' ? {} : { port: Number(url.port) }),
      path: '/',
      headers: {
        host: url.host,
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSEvents.${action}`,
      },
      body,
    },
    { signingDate: new Date(nowMs()) },
  );
  const answer = await fetch(url, {
    ...{ method: 'POST', headers, body },
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const text = await answer.text();
  return { status: answer.status, text: text.slice(0, ANSWER_CHARACTERS_MAX) };
}
