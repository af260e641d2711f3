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
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import { createDynamoFreezeStore } from '../../adapters/dynamodb/single-item-stores.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { createDynamoViewStore } from '../../adapters/dynamodb/view-store.ts';
import { defined } from '@rollcall/base/defined.ts';
import type { Finding } from '../../app/checks/finding.ts';
import { CONCURRENCY_NEEDED } from '../../app/checks/judge-stack.ts';
import { checked, known, openReader, unchecked } from '../../app/checks/needs.ts';
import type { Checked, Facts, Needs, Read, Readers } from '../../app/checks/needs.ts';
import { checksOf, judgeAll, readFacts } from '../../app/checks/table.ts';
import { outagesOfStack, readStanding } from '../../app/why/standing.ts';
import { defineCommand } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { EXIT } from '../process/exit-codes.ts';
import { findStack, readStackOutputs } from '../reach/describe-stack.ts';
import { MAPPED_FUNCTIONS, SCHEDULED_FUNCTIONS, openTriggers } from './triggers.ts';
import type { TriggersOf, KnownTrigger } from './triggers.ts';
import { resolveAwsConfig } from '../reach/open-stack.ts';
import { NOT_LOCAL, type AwsClientConfig, type StackOutputs } from '../reach/stack.ts';

/** The command. */
export const checkStackCommand: CommandModule = defineCommand({
  path: ['stack', 'check'],
  documents: ['StackCheck'],
  summary: 'check quotas, the registry and stopped functions, before and after a deployment',
  about: [
    'It only reads, and needs no deployed stack.',
    'docs/reference/findings.md lists the findings.',
  ],
  exits: { failed: 'something has to be done first' },
  examples: ['stack check', 'stack check --stage prod --region eu-central-1'],
  run: async (_invocation, { globals, environment, clock }) => {
    const aws = await resolveAwsConfig({ ...globals, environment });
    const stackName = `rollcall-${globals.stage}`;
    const { stackOutputs: file } = globals;
    const told = file === undefined ? undefined : await readStackOutputs(file);
    const question = { aws, stackName, environment, clock };
    const readers =
      told?.FleetScheduleName === NOT_LOCAL
        ? localReaders(question, told)
        : await awsReaders(question, told);
    return presentCheck(await readFacts(CHECKS, openReader(readers), () => clock.nowMs()));
  },
});

type Stores = Partial<Pick<Needs, 'freeze' | 'standing'>>;
type Question = Pick<TriggersOf, 'aws' | 'stackName' | 'environment' | 'clock'>;

const CHECKS = checksOf('account');

type AccountNeed =
  'stack' | 'concurrency' | 'registryTable' | 'switchedOff' | 'freeze' | 'standing';

/** Of a stack inside `npm start`: no account, no quota, nothing to switch off. */
function localReaders(question: Question, told: StackOutputs): Readers<AccountNeed> {
  return {
    stack: known({ name: question.stackName, isDeployed: true }),
    concurrency: known('none' as const),
    registryTable: known('protected' as const),
    switchedOff: known({ queues: [], schedules: [] }),
    ...storeReaders(() => readStores(question, told)),
  };
}

/** Each is what AWS says. CloudFormation is not asked for outputs that were told. */
async function awsReaders(question: Question, told?: StackOutputs): Promise<Readers<AccountNeed>> {
  const { aws, stackName } = question;
  const outputs = told ?? (await readOutputs(aws, stackName));
  return {
    stack: known({ name: stackName, isDeployed: outputs !== undefined }),
    concurrency: ['', async () => checked(await readConcurrency(aws))],
    registryTable: ['', async () => checked(await readRegistry(aws, `${stackName}-registry`))],
    switchedOff: [
      '',
      async () =>
        checked(await listOff(outputs === undefined ? undefined : { ...question, outputs })),
    ],
    ...storeReaders(async (read) => {
      const table = await read('registryTable');
      const isThere = table.kind === 'checked' && table.value !== 'missing';
      return isThere ? readStores(question, outputs) : {};
    }),
  };
}

/** Both are read together, once; absent where there is no registry to ask. */
function storeReaders(
  readOnce: (read: Read) => Promise<Stores>,
): Pick<Readers<AccountNeed>, 'freeze' | 'standing'> {
  let asked: Promise<Stores> | undefined;
  const stores = (read: Read): Promise<Stores> => (asked ??= readOnce(read));
  const factOf = <T>(value: T | undefined): Checked<T> =>
    value === undefined ? unchecked('there is no registry') : checked(value);
  return {
    freeze: ['', async (read) => factOf((await stores(read)).freeze)],
    standing: ['', async (read) => factOf((await stores(read)).standing)],
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

async function readConcurrency(aws: AwsClientConfig): Promise<Needs['concurrency']> {
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
): Promise<Needs['registryTable']> {
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
): Promise<Stores> {
  const client = createDocumentClient({ ...aws }, CALL_LIMITS.command);
  const random = createSystemRandom();
  const freezes = createDynamoFreezeStore({ client, random, tableName: `${stackName}-registry` });
  const viewTable = outputs?.['ViewTableName'];
  const view =
    viewTable === undefined
      ? { readWalk: () => Promise.resolve(undefined) }
      : createDynamoViewStore({ client, random, tableName: viewTable });
  try {
    const read = await orUnreadable(async () => ({
      standing: await readStanding({ freezes, view }),
      freeze: await freezes.readFreeze(),
    }));
    return read.kind === 'read' ? read.value : { freeze: read.kind };
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

async function listOff(
  of: Omit<TriggersOf, 'credentials'> | undefined,
): Promise<Needs['switchedOff']> {
  if (of === undefined) return { queues: [], schedules: [] };
  const { aws, stackName } = of;
  const client = createAwsClient(LambdaClient, CALL_LIMITS.command, { ...aws });
  const control = openTriggers({ ...of, credentials: () => client.config.credentials() });
  try {
    const functions = [...MAPPED_FUNCTIONS, ...SCHEDULED_FUNCTIONS];
    const found = await Promise.all(functions.map((name) => control.list(`${stackName}-${name}`)));
    const off = found.flat().filter(({ state }) => state === 'Disabled' || state === 'Disabling');
    const ofKind = (kind: KnownTrigger['kind']) => off.filter((trigger) => trigger.kind === kind);
    return {
      queues: ofKind('queue').map(({ source }) => source),
      schedules: ofKind('schedule').map(({ functionName }) => functionName),
    };
  } finally {
    control.close();
    client.destroy();
  }
}

/** Every finding here is one that something has to be done about. */
export function presentCheck(facts: Facts<AccountNeed>): CommandResult {
  const findings = judgeAll(CHECKS, facts).map(wordsOf);
  const { nowMs } = facts;
  const { stack, registryTable, switchedOff } = facts;
  const concurrency = valueOf(facts.concurrency);
  const freeze = valueOf(facts.freeze);
  const standing = valueOf(facts.standing);
  const account = concurrency === 'none' ? undefined : concurrency;
  const { name: stackName, isDeployed } = valueOf(stack) ?? {};
  const { queues: stopped, schedules: stoppedSchedules } = valueOf(switchedOff) ?? {};
  const outages = outagesOfStack(standing ?? {}, {
    nowMs,
    ...(freeze === undefined || freeze === 'unreadable' ? {} : { freeze }),
  });
  return {
    document: {
      ...{ kind: 'StackCheck', stackName, isDeployed, registry: valueOf(registryTable) },
      ...defined({ concurrency: account, freeze, standing }),
      ...{ nowMs, stopped, stoppedSchedules, concurrencyNeeded: CONCURRENCY_NEEDED },
      ...{ outages, findings },
    },
    lines:
      findings.length === 0
        ? [`Nothing stands in the way: ${placesOf(account)}.`]
        : findings.flatMap(({ code, message, remedy }) => [`${code}: ${message}`, `  ${remedy}`]),
    exitCode: findings.length === 0 ? EXIT.ok : EXIT.failed,
  };
}

function valueOf<T>(fact: Checked<T>): T | undefined {
  return fact.kind === 'checked' ? fact.value : undefined;
}

/** A freeze is told here as the doctor tells it, in a whole sentence and under one code. */
function wordsOf({ link, code, seen, next = '' }: Finding) {
  if (link !== 'freeze') return { code, message: seen, remedy: next };
  const message = `${seen.charAt(0).toUpperCase()}${seen.slice(1)}.`;
  return { code: code === 'freeze-unreadable' ? code : 'frozen', message, remedy: next };
}

function placesOf(concurrency: Exclude<Needs['concurrency'], 'none'> | undefined): string {
  if (concurrency === undefined) return 'this stack runs inside npm start, in no account of AWS';
  const { total, unreserved } = concurrency;
  return `${total} places for functions (${unreserved} unreserved) of ${CONCURRENCY_NEEDED} that may be needed`;
}
