/**
 * The command line of `npm start`: parsed, checked, nothing done yet.
 *
 * Refusals name the option and say what to pass instead; they leave with exit code 2.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ClusterMode } from '../../core/model/registration.ts';
import { CommandError, EXIT } from '../exit-codes.ts';

/** What `npm start` was asked to do. */
export interface StartOptions {
  readonly kubeconfig: string;
  readonly context?: string;
  readonly mode: ClusterMode;
  /** Where queues and tables live between runs; in memory when absent. */
  readonly dataDir?: string;
  readonly shouldExitWhenSettled: boolean;
  readonly settleTimeoutMs: number;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

/** Either options, or everything was said already (help, version). */
export type ParsedStart =
  | { readonly kind: 'run'; readonly options: StartOptions }
  | { readonly kind: 'done'; readonly exitCode: number };

const EXAMPLES = `
Examples:
  npm start -- --kubeconfig ~/.kube/config                       look only: changes no workload
  npm start -- --kubeconfig admin.conf --mode takeover           keep its DaemonSets
  npm start --silent -- --kubeconfig admin.conf --exit-when-settled --json

Takeover needs a cluster whose built-in DaemonSet loop is off
(kube-controller-manager --controllers=*,-daemonset-controller); a probe checks that first.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused for safety, 4 not settled in time.`;

function parseSeconds(value: string): number {
  const seconds = Number(value);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new InvalidArgumentError('Pass a positive number of seconds.');
  }
  return seconds;
}

function buildCommand(): Command {
  return new Command('rollcall start')
    .description('Keeps (or observes) the DaemonSets of a cluster from this one process.')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster to manage')
    .option('--context <name>', 'context of that kubeconfig (default: its current context)')
    .addOption(
      new Option('--mode <mode>', 'observe: look only. takeover: create, replace and delete pods')
        .choices(['observe', 'takeover'])
        .default('observe'),
    )
    .option(
      '--data <dir>',
      'keep queues and tables there, and go on from it at the next start (survives a kill, not a power cut)',
    )
    .option('--exit-when-settled', 'leave with 0 once there is nothing left to do', false)
    .option(
      '--settle-timeout <seconds>',
      'with --exit-when-settled: leave with 4 after this long',
      parseSeconds,
      300,
    )
    .option('--json', 'print one JSON document on stdout when leaving, and nothing else', false)
    .option('--verbose', 'print every log line on stderr', false)
    .addHelpText('after', EXAMPLES)
    .exitOverride()
    .allowExcessArguments(false)
    .showHelpAfterError('Run `npm start -- --help` to see all options.');
}

interface RawOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly mode: ClusterMode;
  readonly data?: string;
  readonly exitWhenSettled: boolean;
  readonly settleTimeout: number;
  readonly json: boolean;
  readonly verbose: boolean;
}

/**
 * Parses the arguments after the program's name. Throws CommandError (exit code 2) when no cluster
 * is named.
 */
export function parseStartOptions(argv: readonly string[]): ParsedStart {
  const command = buildCommand();
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'done', exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage };
  }
  const raw = command.opts<RawOptions>();
  if (raw.kubeconfig === undefined) {
    throw new CommandError({
      message: 'No cluster to manage: clusters on the laptop itself come with the next release.',
      remedy:
        'Pass a kubeconfig, e.g. `npm start -- --kubeconfig ~/.kube/config` (mode observe changes no workload).',
      exitCode: EXIT.usage,
    });
  }
  return {
    kind: 'run',
    options: {
      kubeconfig: raw.kubeconfig,
      ...(raw.context === undefined ? {} : { context: raw.context }),
      mode: raw.mode,
      ...(raw.data === undefined ? {} : { dataDir: raw.data }),
      shouldExitWhenSettled: raw.exitWhenSettled,
      settleTimeoutMs: raw.settleTimeout * 1000,
      isJson: raw.json,
      isVerbose: raw.verbose,
    },
  };
}
