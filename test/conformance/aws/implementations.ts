/**
 * Which implementations the suites run against, and where each is known to differ from SQS or DynamoDB.
 *
 * Our own servers have no entry: they must pass everything. A known difference must still be there: when a new
 * release of a reference repairs it, its test fails and the entry is removed.
 */
import { randomUUID } from 'node:crypto';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { startDynamoDbServer } from '@rollcall/local-aws/dynamodb/server.ts';
import { startSqsServer } from '@rollcall/local-aws/sqs/server/server.ts';
import { TOOLS, type ToolRequirement } from '../../support/require-tool.ts';
import type { KnownDifferences } from './check.ts';
import {
  startDynamoDbLocal,
  startElasticMq,
  startMiniStack,
  type RunningServer,
} from './reference-servers.ts';

export interface Implementation {
  readonly name: string;
  readonly tools: readonly ToolRequirement[];
  readonly start: () => Promise<RunningServer>;
  readonly differences: KnownDifferences;
}

/** Our own queue server. */
export const ownQueues: Implementation = {
  name: 'the own SQS server',
  tools: [],
  start: () => startSqsServer({ clock: createSystemClock(), newId: randomUUID }),
  differences: {},
};

/** Our own table server. */
export const ownTables: Implementation = {
  name: 'the own table server',
  tools: [],
  start: () => startDynamoDbServer(),
  differences: {},
};

/** SQS of others. */
export const queueReferences: readonly Implementation[] = [
  {
    name: 'ElasticMQ 1.7.1',
    tools: [TOOLS.java, TOOLS.maven],
    start: startElasticMq,
    differences: {
      'deduplication counts per message group where that is the scope':
        'DeduplicationScope is accepted and ignored, deduplication stays queue-wide',
      'the receive that moves the head to the dead-letter queue delivers the next message':
        'that receive comes back empty, the next one delivers',
      'SenderId tells senders apart': 'SenderId is the address of the client',
      'an empty batch is refused': 'an empty batch is accepted and does nothing',
      'attributes of a queue are shown as they were set':
        'DeduplicationScope, FifoThroughputLimit and the retention period are not shown',
    },
  },
  {
    name: 'MiniStack 1.5.33 (SQS)',
    tools: [TOOLS.python],
    start: startMiniStack,
    differences: {
      'a delay beyond 900 s is refused': 'a delay of 901 s is accepted',
      'SenderId tells senders apart': 'SenderId is the account id',
    },
  },
];

/** DynamoDB of others. */
export const tableReferences: readonly Implementation[] = [
  {
    name: 'DynamoDB Local 3.3.1',
    tools: [TOOLS.java, TOOLS.maven],
    start: startDynamoDbLocal,
    differences: {},
  },
  {
    name: 'MiniStack 1.5.33 (DynamoDB)',
    tools: [TOOLS.python],
    start: startMiniStack,
    differences: {},
  },
];
