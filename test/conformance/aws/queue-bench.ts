/**
 * What the checks of a queue work with: a client for one SQS endpoint, and shorthand for what every check does.
 *
 * Every queue gets a name of its own, so checks share a server and leave nothing for each other.
 */
import { randomUUID } from 'node:crypto';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';

export interface ReceiveOptions {
  readonly countMax?: number;
  readonly waitSeconds?: number;
  readonly visibilitySeconds?: number;
}

/** What may be said about a sent message. */
export interface SendOptions {
  readonly group?: string;
  readonly id?: string;
  readonly delaySeconds?: number;
}

export interface QueueUnderTest {
  readonly url: string;
  readonly isFifo: boolean;
}

export class QueueBench {
  readonly client: SQSClient;
  readonly #endpoint: string;

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
    this.client = this.clientFor('ROLLCALLTESTKEY1');
  }

  /** A client that signs as somebody; it must be destroyed by whoever asked for it. */
  clientFor(accessKeyId: string): SQSClient {
    return new SQSClient({
      endpoint: this.#endpoint,
      region: 'us-east-1',
      credentials: { accessKeyId, secretAccessKey: 'none' },
      // An emulator may name itself by a host name that is not ours to resolve.
      useQueueUrlAsEndpoint: false,
      maxAttempts: 1,
    });
  }

  /** Ends the client's connections. */
  close(): void {
    this.client.destroy();
  }

  /** A new FIFO queue in high-throughput mode. */
  async fifo(attributes: Record<string, string> = {}): Promise<QueueUnderTest> {
    return this.#create('.fifo', {
      FifoQueue: 'true',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      VisibilityTimeout: '300',
      ...attributes,
    });
  }

  /** A new standard queue. */
  async standard(attributes: Record<string, string> = {}): Promise<QueueUnderTest> {
    return this.#create('', { VisibilityTimeout: '300', ...attributes });
  }

  async #create(suffix: string, attributes: Record<string, string>): Promise<QueueUnderTest> {
    const answer = await this.client.send(
      new CreateQueueCommand({ QueueName: `q-${randomUUID()}${suffix}`, Attributes: attributes }),
    );
    return { url: answer.QueueUrl ?? '', isFifo: suffix !== '' };
  }

  /** The attributes of a queue. */
  async attributesOf({ url }: QueueUnderTest): Promise<Record<string, string>> {
    const answer = await this.client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
    );
    return answer.Attributes ?? {};
  }

  /** Sends a message; on a FIFO queue to group "g" under a new id, unless told otherwise. */
  async send(queue: QueueUnderTest, body: string, options: SendOptions = {}): Promise<string> {
    const answer = await this.client.send(
      new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: body,
        DelaySeconds: options.delaySeconds,
        ...(queue.isFifo && {
          MessageGroupId: options.group ?? 'g',
          MessageDeduplicationId: options.id ?? randomUUID(),
        }),
      }),
    );
    return answer.MessageId ?? '';
  }

  /** Receives once; ten messages at most and no waiting, unless told otherwise. */
  async receive(queue: QueueUnderTest, options: ReceiveOptions = {}): Promise<Message[]> {
    const answer = await this.client.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: options.countMax ?? 10,
        WaitTimeSeconds: options.waitSeconds ?? 0,
        VisibilityTimeout: options.visibilitySeconds,
        MessageSystemAttributeNames: ['All'],
        MessageAttributeNames: ['All'],
      }),
    );
    return answer.Messages ?? [];
  }

  /** The bodies of one receive. */
  async bodies(queue: QueueUnderTest, options: ReceiveOptions = {}): Promise<string[]> {
    const messages = await this.receive(queue, options);
    return messages.map((message) => message.Body ?? '');
  }

  /** Deletes a received message. */
  async remove(queue: QueueUnderTest, message: Message | undefined): Promise<void> {
    const ReceiptHandle = message?.ReceiptHandle;
    await this.client.send(new DeleteMessageCommand({ QueueUrl: queue.url, ReceiptHandle }));
  }
}
