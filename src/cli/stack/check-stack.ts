/**
 * `rollcall stack check`: what AWS would refuse or take away, before a first deployment and after every one.
 *
 * Only reads: quotas of the account, the registry table, what is frozen, mappings and schedules. A stack need not be there yet. Leaves with 1 when
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
import { createDynamoFreezeStore } from '../../adapters/dynamodb/single-item-stores.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createDynamoViewStore } from '../../adapters/dynamodb/view-store.ts';
import { outagesOfStack, readStanding } from '../../app/explain/standing.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { EXIT } from '../process/exit-codes.ts';
import { findStack, readStackOutputs } from '../reach/describe-stack.ts';
import { CONCURRENCY_NEEDED, judgeStack } from './judge-stack.ts';
import type { StackFacts } from './judge-stack.ts';
import { MAPPED_FUNCTIONS } from './mappings.ts';
import { openTriggers } from './open-triggers.ts';
import type { TriggersOf } from './open-triggers.ts';
import { SCHEDULED_FUNCTIONS } from './schedules.ts';
import type { KnownTrigger } from './triggers.ts';
import { resolveAwsConfig } from '../reach/open-stack.ts';
import { NOT_LOCAL } from '../reach/stack.ts';
import type { AwsClientConfig, StackOutputs } from '../reach/stack.ts';

/** The command. */
export const checkStackCommand: CommandModule = defineCommand({
  path: ['stack', 'check'],
  summary: 'what AWS would refuse or take away: quotas, the registry, stopped functions',
  run: async (_invocation, { globals, environment, clock }) => {
    const aws = await resolveAwsConfig({ ...globals, environment });
    const stackName = `rollcall-${globals.stage}`;
    const { stackOutputs: file } = globals;
    const told = file === undefined ? undefined : await readStackOutputs(file);
    const question = { aws, stackName, environment, clock };
    const isInProcess = told?.FleetScheduleName === NOT_LOCAL;
    return present(await (isInProcess ? gatherLocal : gatherFacts)(question, told));
  },
});

type Question = Pick<TriggersOf, 'aws' | 'stackName' | 'environment' | 'clock'>;

/** Of a stack inside `npm start`: no account, no quota, nothing to switch off. What is frozen is all that can be in the way. */
async function gatherLocal(question: Question, told?: StackOutputs): Promise<StackFacts> {
  const { stackName, clock } = question;
  const found = await readStores(question, told);
  const facts = { stackName, isDeployed: true, registry: 'protected', ...found } as const;
  return { ...facts, nowMs: clock.nowMs(), stopped: [], stoppedSchedules: [] };
}

/** Asks AWS; throws its errors. CloudFormation is not asked for outputs that were told. */
async function gatherFacts(question: Question, told?: StackOutputs): Promise<StackFacts> {
  const { aws, stackName } = question;
  const outputs = told ?? (await readOutputs(aws, stackName));
  const isDeployed = outputs !== undefined;
  const [concurrency, registry, stopped] = await Promise.all([
    readConcurrency(aws),
    readRegistry(aws, `${stackName}-registry`),
    isDeployed ? listStopped({ ...question, outputs }) : [],
  ]);
  const frozen = registry === 'missing' ? {} : await readStores(question, outputs);
  const namesOf = (kind: KnownTrigger['kind']): readonly KnownTrigger[] =>
    stopped.filter((trigger) => trigger.kind === kind);
  return {
    ...{ stackName, isDeployed, concurrency, registry, ...frozen, nowMs: question.clock.nowMs() },
    stopped: namesOf('queue').map(({ source }) => source),
    stoppedSchedules: namesOf('schedule').map(({ functionName }) => functionName),
  };
}

/** Undefined: not deployed. A stack that holds nothing but its bucket yet counts as that, having no outputs of ours. */
async function readOutputs(
  aws: AwsClientConfig,
  stackName: string,
): Promise<Readonly<Record<string, string>> | undefined> {
  const stack = await ask(CloudFormationClient, aws, (client) => findStack(client, stackName));
  const outputs = (stack?.Outputs ?? []).map(
    ({ OutputKey: key = '', OutputValue: value = '' }) => [key, value] as const,
  );
  return outputs.some(([key]) => key === 'Release') ? Object.fromEntries(outputs) : undefined;
}

async function readConcurrency(aws: AwsClientConfig): Promise<Required<StackFacts>['concurrency']> {
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

/** Rejects as AWS does; a freeze that is none counts as frozen, and so it is said. */
async function readStores(
  { aws, stackName }: Question,
  outputs: Readonly<Record<string, string>> | undefined,
): Promise<Pick<StackFacts, 'freeze' | 'standing'>> {
  const client = createDocumentClient({ ...aws }, CALL_LIMITS.command);
  const random = createSystemRandom();
  const freezes = createDynamoFreezeStore({ client, random, tableName: `${stackName}-registry` });
  const viewTable = outputs?.['ViewTableName'];
  const view =
    viewTable === undefined
      ? { readWalk: () => Promise.resolve(undefined) }
      : createDynamoViewStore({ client, random, tableName: viewTable });
  try {
    const standing = await readStanding({ freezes, view });
    return { standing, freeze: await freezes.readFreeze() };
  } catch (error) {
    if (error instanceof ItemUnreadableError) return { freeze: 'unreadable' };
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

async function listStopped(of: Omit<TriggersOf, 'credentials'>): Promise<readonly KnownTrigger[]> {
  const { aws, stackName } = of;
  const client = createAwsClient(LambdaClient, CALL_LIMITS.command, { ...aws });
  const control = openTriggers({ ...of, credentials: () => client.config.credentials() });
  try {
    const functions = [...MAPPED_FUNCTIONS, ...SCHEDULED_FUNCTIONS];
    const found = await Promise.all(functions.map((name) => control.list(`${stackName}-${name}`)));
    return found.flat().filter(({ state }) => state === 'Disabled' || state === 'Disabling');
  } finally {
    control.close();
    client.destroy();
  }
}

function present(facts: StackFacts): CommandResult {
  const findings = judgeStack(facts);
  const { freeze, standing = {}, nowMs } = facts;
  const outages = outagesOfStack(standing, {
    nowMs,
    ...(freeze === undefined || freeze === 'unreadable' ? {} : { freeze }),
  });
  return {
    document: {
      ...{ kind: 'StackCheck', ...facts, concurrencyNeeded: CONCURRENCY_NEEDED },
      ...{ outages, findings },
    },
    lines:
      findings.length === 0
        ? [`Nothing stands in the way: ${placesOf(facts)}.`]
        : findings.flatMap(({ code, message, remedy }) => [`${code}: ${message}`, `  ${remedy}`]),
    exitCode: findings.length === 0 ? EXIT.ok : EXIT.failed,
  };
}

function placesOf({ concurrency }: StackFacts): string {
  if (concurrency === undefined) return 'this stack runs inside npm start, in no account of AWS';
  const { total, unreserved } = concurrency;
  return `${total} places for functions (${unreserved} unreserved) of ${CONCURRENCY_NEEDED} that may be needed`;
}
