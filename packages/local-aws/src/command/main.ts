#!/usr/bin/env node
/**
 * The command `local-aws`: starts an SQS server, says where it is and how it is called, and stays until Ctrl-C.
 *
 * Exit codes: 0 stopped, 1 it could not start, 2 the arguments cannot be followed.
 */
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { untilInterrupted } from '@rollcall/base/system/until-interrupted.ts';
import { startSqsServer } from '../sqs/server/server.ts';
import { HELP, parseCommand } from './options.ts';
import type { CommandOptions } from './options.ts';

async function run({ port, region, dataDirectory }: CommandOptions): Promise<number> {
  const interrupted = untilInterrupted();
  const random = createSystemRandom();
  let server;
  try {
    server = await startSqsServer({
      clock: createSystemClock(),
      newId: () => random.uniqueId(),
      region,
      port,
      dataDirectory,
    });
  } catch (cause) {
    process.stderr.write(`local-aws: it could not start: ${String(cause)}\n`);
    return 1;
  }
  process.stdout.write(
    `SQS answers at ${server.endpoint} (${region})\n` +
      `  AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws --endpoint-url ${server.endpoint} ` +
      `--region ${region} sqs create-queue --queue-name mine\nCtrl-C stops it.\n`,
  );
  await interrupted;
  await server.stop();
  return 0;
}

async function main(argv: readonly string[]): Promise<number> {
  const parsed = parseCommand(argv);
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(HELP);
      return 0;
    case 'refused':
      process.stderr.write(`local-aws: ${parsed.message}\nlocal-aws --help\n`);
      return 2;
    case 'run':
      return run(parsed.options);
  }
}

process.exitCode = await main(process.argv.slice(2));
