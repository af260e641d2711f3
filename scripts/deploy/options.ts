/**
 * The command line of `npm run deploy:local`: parsed, checked, nothing done yet.
 *
 * The endpoint must be on this machine: what is deployed here, with made-up credentials and loopback allowed, has
 * no business anywhere else. Refusals name the option and leave with exit code 2.
 */
import { isIP } from 'node:net';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { classifyAddress } from '../../src/adapters/kubernetes/egress/address-class.ts';
import { CommandError, EXIT } from '../../src/cli/process/exit-codes.ts';

/** What `npm run deploy:local` was asked to do. */
export interface DeployOptions {
  /** Where AWS is, or is to be: an http address of this machine. */
  readonly endpoint: URL;
  readonly nodeCount: number;
  /** Remove the stack and what it leaves behind, and start nothing. */
  readonly isDown: boolean;
  readonly shouldExitWhenSettled: boolean;
  readonly settleTimeoutMs: number;
  readonly isJson: boolean;
}

/** Either options, or everything was said already (help). */
export type ParsedDeploy =
  | { readonly kind: 'run'; readonly options: DeployOptions }
  | { readonly kind: 'done'; readonly exitCode: number };

const DEFAULT_ENDPOINT = 'http://127.0.0.1:4566';
const DEFAULT_NODES = 12;
const NODES_MAX = 5000;

const EPILOGUE = `
Deploys the whole stack with osls at stage local to AWS_ENDPOINT_URL (default ${DEFAULT_ENDPOINT}), starts a local
cluster and its watcher, registers it, applies the examples, and waits: the functions run inside the emulator of AWS,
reach the cluster's API server over loopback, and place the pods.

If nothing answers at the endpoint, MiniStack is started there from its registry package (needs python3, no Docker).
Ctrl-C stops everything that was started here. docs/try-it.md says what differs from AWS.

Examples:
  npm run deploy:local
  npm run deploy:local -- --nodes 50
  npm run --silent deploy:local -- --exit-when-settled --json
  npm run deploy:local -- --down           remove the stack from an emulator that goes on running

Exit codes: 0 done, 1 failed, 2 usage, 4 not settled in time.`;

interface RawOptions {
  readonly nodes: number;
  readonly down: boolean;
  readonly exitWhenSettled: boolean;
  readonly settleTimeout: number;
  readonly json: boolean;
}

/** Parses the arguments after the program's name. Throws CommandError when the endpoint cannot be used. */
export function parseDeployOptions(
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): ParsedDeploy {
  const command = buildCommand();
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'done', exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage };
  }
  const raw = command.opts<RawOptions>();
  return {
    kind: 'run',
    options: {
      endpoint: requireEndpoint(environment['AWS_ENDPOINT_URL'] ?? ''),
      nodeCount: raw.nodes,
      isDown: raw.down,
      shouldExitWhenSettled: raw.exitWhenSettled,
      settleTimeoutMs: raw.settleTimeout * 1000,
      isJson: raw.json,
    },
  };
}

function buildCommand(): Command {
  return new Command('npm run deploy:local --')
    .description('Deploys Rollcall to an emulator of AWS on this machine, and gives it a cluster.')
    .option('--nodes <n>', 'nodes of the local cluster', parseNodes, DEFAULT_NODES)
    .option('--down', 'remove the stack and its retained table from the endpoint, and exit', false)
    .option('--exit-when-settled', 'leave with 0 once there is nothing left to do', false)
    .option(
      '--settle-timeout <seconds>',
      'with --exit-when-settled: leave with 4 after this long',
      parseSeconds,
      300,
    )
    .option('--json', 'print one JSON document on stdout when leaving, and nothing else', false)
    .addHelpText('after', EPILOGUE)
    .exitOverride()
    .allowExcessArguments(false)
    .showHelpAfterError('Run `npm run deploy:local -- --help` to see all options.');
}

function parseNodes(value: string): number {
  const count = Number(value);
  if (Number.isInteger(count) && count >= 1 && count <= NODES_MAX) return count;
  throw new InvalidArgumentError(`Pass a whole number from 1 to ${String(NODES_MAX)}.`);
}

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  throw new InvalidArgumentError('Pass a positive number of seconds.');
}

function requireEndpoint(text: string): URL {
  const given = text === '' ? DEFAULT_ENDPOINT : text;
  const endpoint = URL.canParse(given) ? new URL(given) : undefined;
  const host = endpoint?.hostname.replace(/^\[(.*)\]$/, '$1') ?? '';
  const isHere =
    host === 'localhost' || (isIP(host) !== 0 && classifyAddress(host).class === 'loopback');
  if (endpoint !== undefined && endpoint.protocol === 'http:' && isHere) return endpoint;
  throw new CommandError({
    message: `AWS_ENDPOINT_URL is ${given}: this command deploys to an emulator of this machine only.`,
    remedy: `Unset it, or set it to an address such as ${DEFAULT_ENDPOINT}. To deploy to AWS: npx osls deploy.`,
    exitCode: EXIT.usage,
  });
}
