/**
 * Calls to an AWS that accepts and never answers end by themselves: row F10 of the rules of AWS.
 *
 * A server here takes connections, reads what comes, and says nothing, or only the first line of an answer. Each kind
 * of client that is made anywhere is tried, the limits shortened so that nobody waits; what they add up to is held
 * against the functions' time-outs by arithmetic.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { EKSClient, ListClustersCommand } from '@aws-sdk/client-eks';
import { GetUserCommand, IAMClient } from '@aws-sdk/client-iam';
import { KMSClient, ListKeysCommand } from '@aws-sdk/client-kms';
import { ListQueuesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { TIMEOUT_RESERVE_MS } from '../../../../functions/middleware.ts';
import {
  CALL_LIMITS,
  createAwsClient,
  worstCallMs,
} from '../../../../src/adapters/aws/create-client.ts';
import type { CallLimits } from '../../../../src/adapters/aws/create-client.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';

/** A server that accepts, and says no more than `greeting`. */
class SilentServer {
  readonly #greeting: string;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  requests = 0;

  constructor(greeting = '') {
    this.#greeting = greeting;
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        this.requests += 1;
        if (this.#greeting !== '') socket.write(this.#greeting);
      });
      socket.resume();
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const SERVERLESS_FILE = new URL('../../../../serverless.yml', import.meta.url).pathname;
const STALLED_BODY =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{';
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

/** The same limits, a fortieth as long. */
function shortened(limits: CallLimits): CallLimits {
  return { ...limits, requestTimeoutMs: limits.requestTimeoutMs / 40 };
}

interface Settings {
  readonly endpoint: string;
  readonly region: string;
  readonly credentials: typeof CREDENTIALS;
}

type Call = (limits: CallLimits, settings: Settings) => Promise<unknown>;

const CALLS: Readonly<Record<string, Call>> = {
  sqs: (limits, settings) =>
    createAwsClient(SQSClient, limits, settings).send(new ListQueuesCommand({})),
  dynamodb: (limits, settings) =>
    createAwsClient(DynamoDBClient, limits, settings).send(new ListTablesCommand({})),
  kms: (limits, settings) =>
    createAwsClient(KMSClient, limits, settings).send(new ListKeysCommand({})),
  sts: (limits, settings) =>
    createAwsClient(STSClient, limits, settings).send(new GetCallerIdentityCommand({})),
  iam: (limits, settings) =>
    createAwsClient(IAMClient, limits, settings).send(new GetUserCommand({})),
  eks: (limits, settings) =>
    createAwsClient(EKSClient, limits, settings).send(new ListClustersCommand({})),
  cloudformation: (limits, settings) =>
    createAwsClient(CloudFormationClient, limits, settings).send(new DescribeStacksCommand({})),
};

/** What the error says, through its causes. */
function isTimeout(error: unknown): boolean {
  let current: unknown = error;
  while (current instanceof Error) {
    if (current.name === 'TimeoutError' || /timed out|timeout/iu.test(current.message)) return true;
    current = current.cause;
  }
  return false;
}

describe('an AWS that accepts and never answers (F10)', () => {
  const silent = new SilentServer();
  const stalled = new SilentServer(STALLED_BODY);
  let endpoints: readonly string[];
  before(async () => {
    endpoints = await Promise.all([silent.start(), stalled.start()]);
  });
  after(async () => {
    await Promise.all([silent.stop(), stalled.stop()]);
  });

  for (const [service, call] of Object.entries(CALLS)) {
    it(`${service}: the call fails by itself, at no answer and at half an answer`, async () => {
      const limits = shortened(CALL_LIMITS.function);
      for (const endpoint of endpoints) {
        const settings = { endpoint, region: 'eu-west-1', credentials: CREDENTIALS };
        await assert.rejects(call(limits, settings), isTimeout);
      }
    });
  }

  it('tries as often as the limits say, and no more', async () => {
    for (const limits of Object.values(CALL_LIMITS)) {
      const server = new SilentServer();
      const settings = { endpoint: await server.start(), region: 'eu-west-1' };
      const client = createAwsClient(SQSClient, shortened(limits), {
        ...settings,
        credentials: CREDENTIALS,
      });
      await assert.rejects(client.send(new ListQueuesCommand({})), isTimeout);
      assert.equal(server.requests, limits.attemptsMax);
      await server.stop();
    }
  });

  it('binds the clients that the SDK makes for credentials as well', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-silent-'));
    const file = path.join(directory, 'token');
    writeFileSync(file, 'e30.e30.e30');
    const server = new SilentServer();
    Object.assign(process.env, {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ROLE_ARN: 'arn:aws:iam::111122223333:role/watcher',
      AWS_ENDPOINT_URL_STS: await server.start(),
    });
    const client = createAwsClient(SQSClient, shortened(CALL_LIMITS.watcher), {
      region: 'eu-west-1',
      endpoint: endpoints[0] ?? '',
    });
    await assert.rejects(client.send(new ListQueuesCommand({})));
    assert.equal(server.requests, 3);
    await server.stop();
    rmSync(directory, { recursive: true });
  });
});

describe('what the limits add up to', () => {
  it('is less than what the shortest function has before its early end (F10)', () => {
    const { functions } = readService(SERVERLESS_FILE, 'local');
    const shortestMs = Math.min(...functions.map(({ timeoutMs }) => timeoutMs));
    assert.ok(worstCallMs(CALL_LIMITS.function) < shortestMs - TIMEOUT_RESERVE_MS);
  });

  it('is the longest that a silent call takes', () => {
    assert.equal(
      worstCallMs({ connectionTimeoutMs: 1, requestTimeoutMs: 2000, attemptsMax: 4 }),
      8700,
    );
  });
});
