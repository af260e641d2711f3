/**
 * The queue that the watcher sends to, over TLS as in AWS, and what arrives in it.
 *
 * The engine's own queue server, behind a TLS connection of its own: a watcher in a cluster loads all root
 * certificates for its queue, which costs megabytes. Messages are read and judged as ingest would read them.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import type { WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import { parseWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { startSqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import { makeTestCertificate } from '../../support/test-certificate.ts';

/** A queue with a reader. */
export interface EventsQueue {
  /** What a watcher's process needs to send to it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Everything that has arrived, in order. */
  readonly messages: readonly WatcherMessage[];
  readonly bodyBytes: () => number;
  readonly close: () => Promise<void>;
}

const REGION = 'eu-central-1';
const QUEUE_NAME = 'events.fifo';

/** Opens it; files that the watcher needs go to `directory`. */
export async function openEventsQueue(directory: string): Promise<EventsQueue> {
  const server = await startSqsServer({
    clock: createSystemClock(),
    newId: randomUUID,
    region: REGION,
  });
  const front = await openTlsFront(Number(new URL(server.endpoint).port));
  const certificatePath = join(directory, 'queue-authority.pem');
  writeFileSync(certificatePath, front.certificatePem);
  const client = new SQSClient({
    region: REGION,
    endpoint: server.endpoint,
    credentials: { accessKeyId: 'READER', secretAccessKey: 'local' },
  });
  const created = await client.send(
    new CreateQueueCommand({
      QueueName: QUEUE_NAME,
      Attributes: { FifoQueue: 'true', MaximumMessageSize: '1048576' },
    }),
  );
  const queueUrl = created.QueueUrl ?? '';
  const messages: WatcherMessage[] = [];
  let bodyBytes = 0;
  let isClosing = false;
  const read = async (): Promise<void> => {
    const request = { QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
    while (!isClosing) {
      const { Messages = [] } = await client.send(new ReceiveMessageCommand(request));
      for (const { Body = '', ReceiptHandle } of Messages) {
        const parsed = parseWatcherMessage(Body);
        if (parsed.kind === 'refused') throw new Error(`a message was refused: ${parsed.code}`);
        messages.push(parsed.message);
        bodyBytes += Body.length;
        await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
      }
    }
  };
  const reading = read();
  return {
    environment: {
      ROLLCALL_SQS_ENDPOINT: front.endpoint,
      ROLLCALL_EVENTS_QUEUE_URL: `${front.endpoint}${new URL(queueUrl).pathname}`,
      NODE_EXTRA_CA_CERTS: certificatePath,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: 'WATCHER',
      AWS_SECRET_ACCESS_KEY: 'local',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    messages,
    bodyBytes: () => bodyBytes,
    close: async () => {
      isClosing = true;
      await reading;
      client.destroy();
      await front.close();
      await server.stop();
    },
  };
}

interface TlsFront {
  readonly endpoint: string;
  readonly certificatePem: string;
  readonly close: () => Promise<void>;
}

/** Takes TLS connections and leads what is in them to a port of this machine. */
async function openTlsFront(port: number): Promise<TlsFront> {
  const { certificatePem, keyPem } = makeTestCertificate();
  const server = createServer({ cert: certificatePem, key: keyPem }, (outside) => {
    const inside = connect(port, '127.0.0.1');
    const end = (): void => {
      outside.destroy();
      inside.destroy();
    };
    outside.on('error', end).on('close', end);
    inside.on('error', end).on('close', end);
    outside.pipe(inside).pipe(outside);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
    });
  return { endpoint, certificatePem, close };
}
