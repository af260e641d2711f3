/**
 * Packages and deploys a checkout of Rollcall to an emulator, and removes it again: by the commands that a user has.
 *
 * `npm run package` makes bundles and template; `osls deploy --package` uploads exactly those. The template is the one
 * of AWS; an emulator ignores what it lacks. `remove` leaves the registry table, as its DeletionPolicy says;
 * `removeRegistry` is for an emulator alone, where nothing that is kept would be missed.
 */
import path from 'node:path';
import { DeleteTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import { ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { repositoryRoot, runTool } from '../lib/run-tool.ts';
import { REGION, STAGE } from './aws-environment.ts';

/** What is deployed, and where to. */
export interface StackDeploymentOptions {
  /** A checkout: holds serverless.yml, sources, and node_modules. Default: this repository. */
  readonly directory?: string;
  /** From awsEnvironment. */
  readonly environment: NodeJS.ProcessEnv;
}

/** A stack at an emulator. */
export interface StackDeployment {
  readonly stackName: string;
  /** Builds functions, watcher and command line, and makes the template. */
  readonly package: () => Promise<void>;
  /** Creates or updates the stack from what was packaged. */
  readonly deploy: () => Promise<void>;
  /** Removes the stack; the registry table is retained. */
  readonly remove: () => Promise<void>;
  /** Deletes the registry table that a removed stack left behind. */
  readonly removeRegistry: () => Promise<void>;
  /** The bundled watcher of the checkout. */
  readonly watcherFile: string;
  /** The bundled command line of the checkout. */
  readonly commandFile: string;
}

/** How often osls asks for the stack's status: an emulator is done at once (spec components 6). */
const MONITORING_PERIOD_MS = '300';

/** A stack of a checkout. */
export function createStackDeployment(options: StackDeploymentOptions): StackDeployment {
  const { directory = repositoryRoot } = options;
  const environment = {
    ...options.environment,
    SLS_AWS_MONITORING_FREQUENCY: MONITORING_PERIOD_MS,
  };
  const run = (script: string, ...parameters: string[]): Promise<void> =>
    runNode({ script: path.join(directory, script), parameters, directory, environment });
  const osls = (command: string, ...parameters: string[]): Promise<void> =>
    run('node_modules/osls/bin/serverless.js', command, '--stage', STAGE, ...parameters);
  return {
    stackName: `rollcall-${STAGE}`,
    watcherFile: path.join(directory, 'dist/watcher/watcher.mjs'),
    commandFile: path.join(directory, 'dist/cli/rollcall.mjs'),
    package: () => run('scripts/build/package.ts', '--stage', STAGE, '--region', REGION),
    deploy: () => osls('deploy', '--region', REGION, '--package', '.serverless'),
    remove: () => osls('remove', '--region', REGION),
    removeRegistry: () => removeRegistry(options.environment),
  };
}

interface NodeRun {
  readonly script: string;
  readonly parameters: readonly string[];
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
}

async function runNode({ script, parameters, directory, environment }: NodeRun): Promise<void> {
  const call = { program: process.execPath, parameters: [script, ...parameters] };
  const result = await runTool({ ...call, directory, environment });
  if (result.exitCode === 0) return;
  const output = `${result.stdout}${result.stderr}`.slice(-4000);
  const name = [path.basename(script), ...parameters].join(' ');
  throw new Error(`${name} ended with ${String(result.exitCode)}:\n${output}`);
}

async function removeRegistry(environment: NodeJS.ProcessEnv): Promise<void> {
  const client = new DynamoDBClient({
    endpoint: environment['AWS_ENDPOINT_URL'] ?? '',
    region: REGION,
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const TableName = `rollcall-${STAGE}-registry`;
  try {
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: false }));
    await client.send(new DeleteTableCommand({ TableName }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  } finally {
    client.destroy();
  }
}
