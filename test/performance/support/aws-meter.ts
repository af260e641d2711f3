/**
 * Counts what this process asks of AWS, in the units that AWS bills: requests of SQS, request units of DynamoDB,
 * invocations of Lambda by memory.
 *
 * It looks at the SDK's clients where commands pass, asks the table for the capacity that it consumed, and changes
 * nothing else. An empty receive is idle polling: billed on AWS whether or not a cluster does anything, so it is
 * counted apart. SQS bills each 64 KiB of a request as one; DynamoDB bills a write that lost its race, too.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { SQSClient } from '@aws-sdk/client-sqs';

/** What was used. */
export interface AwsUse {
  readonly sqsRequests: number;
  readonly emptyReceives: number;
  readonly readUnits: number;
  readonly writeUnits: number;
}

interface Command {
  readonly constructor: { readonly name: string };
  readonly input: Record<string, unknown>;
}

interface Capacity {
  readonly CapacityUnits?: number;
}

type Send = (this: unknown, command: Command, ...rest: unknown[]) => Promise<unknown>;

const READS = new Set(['GetCommand', 'BatchGetCommand', 'QueryCommand']);
const BILLED_BYTES = 64 * 1024;

/** The meter. */
export class AwsMeter {
  #sqsRequests = 0;
  #emptyReceives = 0;
  #readUnits = 0;
  #writeUnits = 0;

  /** Looks at every client of this process from now on. */
  install(): void {
    this.#watch(DynamoDBDocumentClient.prototype, async (command, send) => {
      command.input['ReturnConsumedCapacity'] = 'TOTAL';
      const output = await send().catch((error: unknown) => {
        this.#writeUnits += unitsOfLostWrite(error);
        throw error;
      });
      const units = consumed(output);
      if (READS.has(command.constructor.name)) this.#readUnits += units;
      else this.#writeUnits += units;
      return output;
    });
    this.#watch(SQSClient.prototype, async (command, send) => {
      const output = await send();
      const messages = (output as { readonly Messages?: readonly unknown[] }).Messages ?? [];
      const isReceive = command.constructor.name === 'ReceiveMessageCommand';
      if (isReceive && messages.length === 0) this.#emptyReceives += 1;
      else this.#sqsRequests += Math.max(1, Math.ceil(sizeOf(command, output) / BILLED_BYTES));
      return output;
    });
  }

  /** What was used so far. */
  read(): AwsUse {
    return {
      sqsRequests: this.#sqsRequests,
      emptyReceives: this.#emptyReceives,
      readUnits: this.#readUnits,
      writeUnits: this.#writeUnits,
    };
  }

  #watch(
    prototype: object,
    around: (command: Command, send: () => Promise<unknown>) => Promise<unknown>,
  ): void {
    const original = Reflect.get(prototype, 'send') as Send;
    const metered: Send = function (command, ...rest) {
      return around(command, () => original.call(this, command, ...rest));
    };
    Object.defineProperty(prototype, 'send', { value: metered, configurable: true });
  }
}

/** DynamoDB bills a write whose condition failed as one of the stored item, one unit for each KiB; its answer is none. */
function unitsOfLostWrite(error: unknown): number {
  if (!(error instanceof ConditionalCheckFailedException)) return 0;
  const stored = JSON.stringify(error.Item ?? {}, (_key, value: unknown) =>
    value instanceof Uint8Array ? 'x'.repeat(value.byteLength) : value,
  );
  return Math.max(1, Math.ceil(stored.length / 1024));
}

function consumed(output: unknown): number {
  const { ConsumedCapacity } = output as {
    readonly ConsumedCapacity?: Capacity | readonly Capacity[];
  };
  const all = Array.isArray(ConsumedCapacity) ? ConsumedCapacity : [ConsumedCapacity ?? {}];
  return (all as readonly Capacity[]).reduce(
    (sum, { CapacityUnits = 0 }) => sum + CapacityUnits,
    0,
  );
}

/** Bodies are nearly all of a request; the rest is a few hundred bytes. */
function sizeOf({ input }: Command, output: unknown): number {
  return Math.max(bodyBytes(input), bodyBytes(output));
}

function bodyBytes(value: unknown): number {
  const { MessageBody, Entries, Messages } = value as {
    readonly MessageBody?: string;
    readonly Entries?: readonly { readonly MessageBody?: string }[];
    readonly Messages?: readonly { readonly Body?: string }[];
  };
  const bodies = [
    MessageBody,
    ...(Entries ?? []).map((entry) => entry.MessageBody),
    ...(Messages ?? []).map(({ Body }) => Body),
  ];
  return bodies.reduce((sum, body = '') => sum + Buffer.byteLength(body), 0);
}
