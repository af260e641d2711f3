/**
 * Amazon EventBridge: PutEvents as a signed request, the one verb that is needed (ADR 0068).
 *
 * Ten events a request, as the service takes them; of each its own outcome. What certainly never succeeds is told apart from what may:
 * a lost answer may have been taken, and is put again under the same id. Retries are the caller's. No body and no credential is in an
 * outcome, only codes.
 */
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { BusEntry, EventBus, PutOutcome } from '../../ports/event-bus.ts';
import { chunksOf } from './entry-chunks.ts';
import { errorCodeOf, failureCodeOf, outcomeOf, outcomesOf } from './put-answer.ts';

/** What rules choose events of Rollcall by. */
const EVENT_SOURCE = 'dev.rollcall';

/** Credentials as the SDK's providers give them. */
export interface BusCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Which bus, and as whom. */
export interface EventBridgeOptions {
  readonly busName: string;
  readonly region: string;
  /** `https://events.<region>.amazonaws.com`, or an emulator's. */
  readonly endpoint: string;
  readonly credentials: () => Promise<BusCredentials>;
  readonly nowMs: () => number;
  /** Of one request; default 2,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
/** An answer names ten entries. */
const ANSWER_CHARACTERS_MAX = 64 * 1024;

/** A bus of EventBridge. */
export function createEventBridgeBus(options: EventBridgeOptions): EventBus {
  return {
    put: async (entries) => {
      const outcomes: PutOutcome[] = [];
      for (const chunk of chunksOf(entries)) outcomes.push(...(await putChunk(chunk, options)));
      return outcomes;
    },
  };
}

async function putChunk(
  chunk: readonly BusEntry[],
  options: EventBridgeOptions,
): Promise<readonly PutOutcome[]> {
  const all = (outcome: PutOutcome): readonly PutOutcome[] => chunk.map(() => outcome);
  try {
    const { status, text } = await send(bodyOf(chunk, options.busName), options);
    if (status !== 200) return all(outcomeOf(errorCodeOf(text, status)));
    return outcomesOf(text, chunk.length) ?? all({ kind: 'retry', code: 'unreadable-answer' });
  } catch (error) {
    // Whatever it was: no answer was read.
    return all({ kind: 'retry', code: failureCodeOf(error) });
  }
}

function bodyOf(chunk: readonly BusEntry[], busName: string): string {
  const Entries = chunk.map(({ type, atMs, detail }) => ({
    Source: EVENT_SOURCE,
    DetailType: type,
    Detail: detail,
    EventBusName: busName,
    Time: Math.floor(atMs / 1000),
  }));
  return JSON.stringify({ Entries });
}

async function send(
  body: string,
  { region, endpoint, credentials, nowMs, timeoutMs = TIMEOUT_MS }: EventBridgeOptions,
): Promise<{ readonly status: number; readonly text: string }> {
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
        'x-amz-target': 'AWSEvents.PutEvents',
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
