// The queue that a mapping polls, with the rights of its function.
//
// Lambda's pollers are AWS's own code, and no user sees how they reach a queue: so these call the queue service
// itself, and not over HTTP. Rights, journal, long polls and refusals are those of every other caller.
import type { BatchAnswer } from '../sqs/server/batch.ts';
import type { QueueService, ReceiveAnswer } from '../sqs/server/queue-service.ts';
import type { WireMessage } from '../sqs/server/receive-request.ts';

/** Which queue is asked, and as whom. */
export interface MappedQueueOptions {
  readonly service: Pick<QueueService, 'perform' | 'receive'>;
  readonly accessKey: string;
  readonly queueUrl: string;
}

/** How many messages are wanted, how long may be waited for the first one, and until when they are wanted. */
export interface Poll {
  readonly countMax: number;
  readonly waitSeconds: number;
  readonly signal: AbortSignal;
}

/** A queue as its mapping knows it. Each call throws, or rejects with, the SqsError that any caller would get. */
export class MappedQueue {
  readonly #options: MappedQueueOptions;

  constructor(options: MappedQueueOptions) {
    this.#options = options;
  }

  /** How long a received message is left to its receiver. */
  visibilityMs(): number {
    const answer = this.#perform('GetQueueAttributes', { AttributeNames: ['VisibilityTimeout'] });
    const { Attributes: attributes } = answer as { Attributes?: Record<string, string> };
    return Number(attributes?.['VisibilityTimeout']) * 1000;
  }

  /** The next messages; none when there were none in time, or when the signal came first. */
  receive({ countMax, waitSeconds, signal }: Poll): Promise<readonly WireMessage[]> {
    const { service, accessKey, queueUrl } = this.#options;
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve([]);
        return;
      }
      const leave = (): void => {
        cancel?.();
        resolve([]);
      };
      const fields = {
        QueueUrl: queueUrl,
        MaxNumberOfMessages: countMax,
        WaitTimeSeconds: waitSeconds,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      };
      const answer = ({ Messages: messages = [] }: ReceiveAnswer): void => {
        signal.removeEventListener('abort', leave);
        resolve(messages);
      };
      const cancel = service.receive({ accessKey, fields }, answer);
      if (cancel !== undefined) signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Deletes up to ten messages; what each refusal says. */
  delete(receiptHandles: readonly string[]): readonly string[] {
    const Entries = receiptHandles.map((ReceiptHandle, index) => ({
      Id: String(index),
      ReceiptHandle,
    }));
    const { Failed } = this.#perform('DeleteMessageBatch', { Entries }) as BatchAnswer;
    return Failed.map((failed) => String((failed as { readonly Message?: string }).Message));
  }

  #perform(name: string, fields: object): object | undefined {
    const { service, accessKey, queueUrl } = this.#options;
    return service.perform({ accessKey, name, fields: { QueueUrl: queueUrl, ...fields } });
  }
}
