/** Runs a suite against an implementation: starts it, gives each check the same bench, stops it. */
import { after, before, describe } from 'node:test';
import { skipWithoutTools } from '../../support/require-tool.ts';
import { registerChecks } from './check.ts';
import { fifoChecks } from './fifo-checks.ts';
import type { Implementation } from './implementations.ts';
import { QueueBench } from './queue-bench.ts';
import { queueChecks } from './queue-checks.ts';
import type { RunningServer } from './reference-servers.ts';
import { TableBench } from './table-bench.ts';
import { tableChecks } from './table-checks.ts';

interface Closable {
  close(): void;
}

function describeSuite<Bench extends Closable>(
  implementation: Implementation,
  open: (endpoint: string) => Bench,
  register: (bench: () => Bench) => void,
): void {
  const { name, tools, start } = implementation;
  describe(name, { skip: skipWithoutTools(tools) }, () => {
    let server: RunningServer | undefined;
    let bench: Bench | undefined;
    before(async () => {
      server = await start();
      bench = open(server.endpoint);
    });
    after(async () => {
      bench?.close();
      await server?.stop();
    });
    register(() => {
      if (bench === undefined) throw new Error(`${name} is not running`);
      return bench;
    });
  });
}

/** The queue suite against one implementation of SQS. */
export function describeQueues(implementation: Implementation): void {
  describeSuite(
    implementation,
    (endpoint) => new QueueBench(endpoint),
    (bench) => {
      registerChecks([...fifoChecks, ...queueChecks], implementation.differences, bench);
    },
  );
}

/** The table suite against one implementation of DynamoDB. */
export function describeTables(implementation: Implementation): void {
  describeSuite(
    implementation,
    (endpoint) => new TableBench(endpoint),
    (bench) => {
      registerChecks(tableChecks, implementation.differences, bench);
    },
  );
}
