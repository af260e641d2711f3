/**
 * PutEvents over HTTP, and what a bus delivered: for our own server from itself, elsewhere by a rule whose target is a queue.
 *
 * No client of the SDK: the product has none either, and its signed requests are what is to be understood.
 */
import { createEventBridgeBus } from '../../../src/adapters/eventbridge/event-bus.ts';
import type { EventBus } from '../../../src/ports/fleet-notifier.ts';

/** An answer, whatever it is. */
export interface EventAnswer {
  readonly status: number;
  readonly body: {
    readonly __type?: string;
    readonly FailedEntryCount?: number;
    readonly Entries?: readonly { readonly EventId?: string; readonly ErrorCode?: string }[];
  };
}

export type Envelope = Readonly<Record<string, unknown>>;

export type ReadBack = (source: string) => Promise<readonly Envelope[]>;

const HEADERS = {
  'content-type': 'application/x-amz-json-1.1',
  authorization: 'AWS4-HMAC-SHA256 Credential=test/20261125/us-east-1/events/aws4_request',
};

export async function askAws(
  endpoint: string,
  target: string,
  body: object,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { ...HEADERS, 'x-amz-target': target };
  const answer = await fetch(endpoint, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, body: await answer.json() };
}

export class EventBench {
  readonly #endpoint: string;
  readonly read: ReadBack;

  constructor(endpoint: string, read: ReadBack) {
    this.#endpoint = endpoint;
    this.read = read;
  }

  async put(entries: readonly object[]): Promise<EventAnswer> {
    const answer = await askAws(this.#endpoint, 'AWSEvents.PutEvents', { Entries: entries });
    return answer as unknown as EventAnswer;
  }

  /** The product's own. */
  get bus(): EventBus {
    return createEventBridgeBus({
      busName: 'default',
      region: 'us-east-1',
      endpoint: this.#endpoint,
      credentials: () => Promise.resolve({ accessKeyId: 'test', secretAccessKey: 'test' }),
      nowMs: Date.now,
    });
  }

  close(): void {
    // Nothing is kept open.
  }
}
