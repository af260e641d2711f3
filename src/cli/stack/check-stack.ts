/**
 * `rollcall stack check`: what AWS would refuse or take away, before a first deployment and after every one.
 *
 * Only reads: quotas of the account, the registry table, what is frozen, mappings. A stack need not be there yet. Leaves with 1 when
 * something has to be done first.
 */
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
} from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import { createDocumentClient } from '../../adapters/aws/document-client.ts';
import { ItemUnreadableError } from '../../adapters/dynamodb/item-codec.ts';
import { createDynamoFreezeStore } from '../../adapters/dynamodb/registry/freeze-store.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { Freeze } from '../../core/takeover/freeze.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { EXIT } from '../process/exit-codes.ts';
import { findStack } from '../reach/describe-stack.ts';
import { CONCURRENCY_NEEDED, judgeStack } from './judge-stack.ts';
import type { StackFacts } from './judge-stack.ts';
import { MAPPED_FUNCTIONS, openMappings } from './mappings.ts';
import { resolveAwsConfig } from '../reach/open-stack.ts';
import type { AwsClientConfig } from '../reach/stack.ts';

/** The command. */
export const checkStackCommand: CommandModule = defineCommand({
  path: ['stack', 'check'],
  summary: 'what AWS would refuse or take away: quotas, the registry, stopped functions',
  run: async (_invocation, { globals, environment }) => {
    const aws = await resolveAwsConfig({ ...globals, environment });
    return present(await gatherFacts(aws, `rollcall-${globals.stage}`));
  },
});

/** Asks AWS; throws its errors. */
async function gatherFacts(aws: AwsClientConfig, stackName: string): Promise<StackFacts> {
  const isDeployed = await isStackDeployed(aws, stackName);
  const [concurrency, registry, stopped] = await Promise.all([
    readConcurrency(aws),
    readRegistry(aws, `${stackName}-registry`),
    isDeployed ? listStopped(aws, stackName) : [],
  ]);
  const freeze = registry === 'missing' ? {} : { freeze: await readFreeze(aws, stackName) };
  return { stackName, isDeployed, concurrency, registry, ...freeze, stopped };
}

/** A stack that holds nothing but its bucket yet counts as not deployed: it has no outputs of ours. */
async function isStackDeployed(aws: AwsClientConfig, stackName: string): Promise<boolean> {
  const stack = await ask(CloudFormationClient, aws, (client) => findStack(client, stackName));
  return stack?.Outputs?.some(({ OutputKey: key }) => key === 'Release') ?? false;
}

async function readConcurrency(aws: AwsClientConfig): Promise<StackFacts['concurrency']> {
  const { AccountLimit: limit } = await ask(LambdaClient, aws, (client) =>
    client.send(new GetAccountSettingsCommand({})),
  );
  return {
    total: limit?.ConcurrentExecutions ?? 0,
    unreserved: limit?.UnreservedConcurrentExecutions ?? 0,
  };
}

async function readRegistry(
  aws: AwsClientConfig,
  tableName: string,
): Promise<StackFacts['registry']> {
  try {
    const { Table: table } = await ask(DynamoDBClient, aws, (client) =>
      client.send(new DescribeTableCommand({ TableName: tableName })),
    );
    return table?.DeletionProtectionEnabled === true ? 'protected' : 'unprotected';
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return 'missing';
    throw error;
  }
}

/** Rejects as AWS does; an item that is none counts as frozen, and so it is said. */
async function readFreeze(aws: AwsClientConfig, stackName: string): Promise<Freeze | 'unreadable'> {
  const client = createDocumentClient({ ...aws }, CALL_LIMITS.command);
  const tableName = `${stackName}-registry`;
  try {
    const random = createSystemRandom();
    return await createDynamoFreezeStore({ client, random, tableName }).readFreeze();
  } catch (error) {
    if (error instanceof ItemUnreadableError) return 'unreadable';
    throw error;
  } finally {
    client.destroy();
  }
}

/** Asks by a client that is let go of whatever it answers. */
async function ask<Client extends { destroy(): void }, Answer>(
  make: new (config: AwsClientConfig) => Client,
  aws: AwsClientConfig,
  question: (client: Client) => Promise<Answer>,
): Promise<Answer> {
  const client = createAwsClient(make, CALL_LIMITS.command, { ...aws });
  try {
    return await question(client);
  } finally {
    client.destroy();
  }
}

async function listStopped(aws: AwsClientConfig, stackName: string): Promise<readonly string[]> {
  const control = openMappings(aws);
  try {
    const found = await Promise.all(
      MAPPED_FUNCTIONS.map((name) => control.list(`${stackName}-${name}`)),
    );
    return found
      .flat()
      .filter(({ state }) => state === 'Disabled' || state === 'Disabling')
      .map(({ queue }) => queue);
  } finally {
    control.close();
  }
}

function present(facts: StackFacts): CommandResult {
  const findings = judgeStack(facts);
  const { total, unreserved } = facts.concurrency;
  return {
    document: { kind: 'StackCheck', ...facts, concurrencyNeeded: CONCURRENCY_NEEDED, findings },
    lines:
      findings.length === 0
        ? [
            `Nothing stands in the way: ${total} places for functions (${unreserved} unreserved) of ${CONCURRENCY_NEEDED} that may be needed.`,
          ]
        : findings.flatMap(({ code, message, remedy }) => [`${code}: ${message}`, `  ${remedy}`]),
    exitCode: findings.length === 0 ? EXIT.ok : EXIT.failed,
  };
}
