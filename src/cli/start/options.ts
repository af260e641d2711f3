/**
 * The command line of `npm start`: parsed, checked, nothing done yet.
 *
 * Refusals name the option and say what to pass instead; they leave with exit code 2.
 */
import { defined } from '@rollcall/base/defined.ts';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { FLEET_DEFAULTS, FLEET_FAILURES, choosePlan, type FleetPlan } from './fleet-plan.ts';
import { INJECTED_FAILURES, type InjectedFailure } from './injection.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import { EXIT, usageError, type CommandError } from '../process/exit-codes.ts';
import type { KubeconfigPlace } from '../reach/open-kubeconfig.ts';
import { parseSeconds } from '../command-line/cluster-arguments.ts';
import { PAGE_PORT, PORT_MAX } from '../ui/serve-ui.ts';
import { refuseOptionsAsValues } from '../command-line/refuse-options-as-values.ts';

/** Which clusters: those of a kubeconfig, or local ones that live and end with this process. */
export type ClusterChoice =
  | ({ readonly kind: 'kubeconfig' } & KubeconfigPlace)
  | {
      readonly kind: 'local';
      readonly clusterCount: number;
      readonly nodesPerCluster: number;
      /** Of the first API server; 0: free ones. */
      readonly port: number;
      /** Nodes are NotReady until their CNI DaemonSet runs. */
      readonly isCold: boolean;
      /** A bad rollout that is played once they have settled. */
      readonly inject?: InjectedFailure;
      /** One FleetDaemonSet is rolled out over all of them, in stages. */
      readonly fleet?: FleetPlan;
    };

export interface StartOptions {
  readonly choice: ClusterChoice;
  readonly mode: ClusterMode;
  /** Where queues, tables and local clusters live between runs; in memory when absent. */
  readonly dataDir?: string;
  /** Hand the cluster back to the built-in controller, and leave. */
  readonly shouldRelease: boolean;
  readonly shouldTakeLease: boolean;
  readonly shouldExitWhenSettled: boolean;
  readonly settleTimeoutMs: number;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
  /** Of the page; 0: a free one; absent: the usual one, or a free one. */
  readonly pagePort?: number;
}

/** Either options, or everything was said already (help, version). */
export type ParsedStart =
  | { readonly kind: 'run'; readonly options: StartOptions }
  | { readonly kind: 'done'; readonly exitCode: number };

/** About 70 MB each, with twelve nodes. */
const CLUSTERS_MAX = 40;
const NODES_MAX = 5000;
const DEFAULT_CLUSTERS = 2;
const DEFAULT_NODES = 12;
const DEFAULT_TIMEOUT_S = 300;
/** Of one cluster, and of a fleet; some are of both. */
const FAILURES = [...new Set<string>([...INJECTED_FAILURES, ...FLEET_FAILURES])];

/** How the person called it: `npm start` in a clone, `rollcall start` from the installed package. */
export type CalledAs = 'npm start' | 'rollcall start';

const examples = (calledAs: CalledAs): string => {
  const isNpm = calledAs === 'npm start';
  const call = isNpm ? 'npm start --' : 'rollcall start';
  const [alone, silent] = isNpm ? ['npm start', 'npm start --silent --'] : [call, call];
  const line = (text: string, meaning: string): string => `  ${text.padEnd(63)}${meaning}`;
  return `
Without --kubeconfig, local clusters run inside this process: an API server that kubectl can talk to,
a scheduler, and simulated nodes. Rollcall places their DaemonSets through the deployed handlers.

Examples:
${line(alone, 'two local clusters of twelve nodes')}
${line(`${call} --cold`, 'nodes wait for their CNI DaemonSet')}
${line(`${call} --nodes 200 --data ./data`, 'larger, and kept between runs')}
${line(`${call} --inject bad-image`, 'a bad rollout, and how it is halted')}
${line(`${call} --clusters 12 --fleet`, 'one DaemonSet for twelve clusters: canary, three, the rest')}
${line(`${call} --fleet --inject kernel --on-halt rollback`, 'a bad one, halted in its first ring')}
${line(`${call} --kubeconfig ~/.kube/config`, 'look only: changes no workload')}
${line(`${call} --kubeconfig admin.conf --mode takeover`, 'keep its DaemonSets')}
${line(`${call} --kubeconfig admin.conf --release`, 'hand them back; no pod is restarted')}
  ${silent} --exit-when-settled --json

Takeover of a real cluster needs its built-in DaemonSet loop off
(kube-controller-manager --controllers=*,-daemonset-controller); a probe checks that first.

With --fleet a FleetDaemonSet is applied everywhere once, then rolled out in stages. The function that does it runs each minute in a
deployment, each second here. With --inject it is done when the rollout is halted in its first ring, and failed when it goes through.

Exit codes: 0 done, 1 failed, 2 usage, 3 refused for safety, 4 not settled in time.`;
};

function parseWhole(bounds: { readonly min: number; readonly max: number }) {
  return (value: string): number => {
    const number = Number(value);
    if (!Number.isInteger(number) || number < bounds.min || number > bounds.max) {
      throw new InvalidArgumentError(
        `Pass a whole number from ${String(bounds.min)} to ${String(bounds.max)}.`,
      );
    }
    return number;
  };
}

function helpOf(calledAs: CalledAs): string {
  return `${calledAs}${calledAs === 'npm start' ? ' --' : ''} --help`;
}

function buildCommand(calledAs: CalledAs): Command {
  const command = new Command('rollcall start')
    .description(
      'Keeps the DaemonSets of clusters from this one process: local ones, or a real one.',
    )
    .option(
      '--clusters <n>',
      `how many local clusters (default: ${String(DEFAULT_CLUSTERS)}, with --fleet ${String(FLEET_DEFAULTS.clusters)})`,
      parseWhole({ min: 1, max: CLUSTERS_MAX }),
    )
    .option(
      '--nodes <n>',
      `nodes of each local cluster (default: ${String(DEFAULT_NODES)}; with --fleet ${String(FLEET_DEFAULTS.nodes)}, and 24 of the first)`,
      parseWhole({ min: 1, max: NODES_MAX }),
    )
    .option(
      '--port <port>',
      'port of the first local API server, the others follow (default: free ones)',
      parseWhole({ min: 0, max: PORT_MAX }),
    )
    .option('--cold', 'local nodes are NotReady until the CNI DaemonSet runs on them')
    .addOption(
      new Option(
        '--inject <failure>',
        `play a rollout of this kind on the first local cluster, in stages that halt it (with --fleet: ${FLEET_FAILURES.join(', ')})`,
      ).choices(FAILURES),
    )
    .option(
      '--fleet',
      'roll one DaemonSet out over all local clusters, a ring of them after the other',
    )
    .addOption(
      new Option(
        '--on-halt <what>',
        'with --fleet: stand still, or go back to what was good (default: halt)',
      ).choices(['halt', 'rollback']),
    )
    .option('--kubeconfig <file>', 'manage the cluster of this kubeconfig instead')
    .option('--context <name>', 'context of that kubeconfig (default: its current context)')
    .addOption(
      new Option(
        '--mode <mode>',
        'observe: look only. copilot: time rollouts beside the built-in controller. takeover: create, replace and delete pods (default: takeover of local clusters, observe with --kubeconfig)',
      ).choices(['observe', 'copilot', 'takeover']),
    )
    .option(
      '--data <dir>',
      'keep queues, tables and local clusters there, and go on from it at the next start (survives a kill, not a power cut)',
    )
    .option(
      '--release',
      'with --kubeconfig: leave the cluster’s DaemonSets to the built-in controller, and exit',
      false,
    )
    .option('--take-lease', 'from another installation, which then is blind until this one ends')
    .addHelpText('after', examples(calledAs))
    .exitOverride()
    .allowExcessArguments(false)
    .showHelpAfterError(`Run \`${helpOf(calledAs)}\` to see all options.`);
  return declareEnding(command);
}

/** How it is seen, and how it ends; below what it runs in --help. */
function declareEnding(command: Command): Command {
  return command
    .option('--exit-when-settled', 'leave with 0 once there is nothing left to do', false)
    .option(
      '--settle-timeout <seconds>',
      `with --exit-when-settled: leave with 4 after this long (default: ${String(DEFAULT_TIMEOUT_S)}, with --fleet ${String(FLEET_DEFAULTS.timeoutSeconds)})`,
      parseSeconds,
    )
    .option(
      '--page-port <port>',
      `port of the page on 127.0.0.1 (default: ${String(PAGE_PORT)}, or a free one; with --exit-when-settled there is no page)`,
      parseWhole({ min: 0, max: PORT_MAX }),
    )
    .option('--json', 'print one JSON document on stdout when leaving, and nothing else', false)
    .option('--verbose', 'print every log line on stderr', false);
}

interface RawOptions {
  readonly clusters?: number;
  readonly nodes?: number;
  readonly port?: number;
  readonly cold?: true;
  readonly inject?: string;
  readonly fleet?: true;
  readonly onHalt?: FleetPlan['onHalt'];
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly mode?: ClusterMode;
  readonly data?: string;
  readonly release: boolean;
  readonly takeLease?: true;
  readonly exitWhenSettled: boolean;
  readonly settleTimeout?: number;
  readonly json: boolean;
  readonly verbose: boolean;
  readonly pagePort?: number;
}

/**
 * Parses the arguments after the program's name. Throws CommandError (exit code 2) when options
 * contradict each other.
 */
export function parseStartOptions(
  argv: readonly string[],
  calledAs: CalledAs = 'npm start',
): ParsedStart {
  const command = buildCommand(calledAs);
  refuseOptionsAsValues(command);
  try {
    command.parse([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { kind: 'done', exitCode: error.exitCode === 0 ? EXIT.ok : EXIT.usage };
  }
  const raw = command.opts<RawOptions>();
  const choice = chooseClusters(raw);
  if (raw.release) checkRelease(raw);
  if (raw.mode === 'copilot' && choice.kind === 'local') {
    throw contradiction(
      '--mode copilot needs a built-in controller, and local clusters have none.',
    );
  }
  return {
    kind: 'run',
    options: {
      choice,
      mode: raw.mode ?? (choice.kind === 'local' ? 'takeover' : 'observe'),
      ...defined({ dataDir: raw.data, pagePort: raw.pagePort }),
      shouldRelease: raw.release,
      shouldTakeLease: raw.takeLease === true,
      shouldExitWhenSettled: raw.exitWhenSettled,
      settleTimeoutMs: (raw.settleTimeout ?? timeoutOf(raw)) * 1000,
      isJson: raw.json,
      isVerbose: raw.verbose,
    },
  };
}

function timeoutOf({ fleet }: RawOptions): number {
  return fleet === true ? FLEET_DEFAULTS.timeoutSeconds : DEFAULT_TIMEOUT_S;
}

const LOCAL_ONLY = ['clusters', 'nodes', 'port', 'cold', 'inject', 'fleet', 'onHalt'] as const;

function chooseClusters(raw: RawOptions): ClusterChoice {
  if (raw.kubeconfig === undefined) return chooseLocal(raw);
  const given = LOCAL_ONLY.find((name) => raw[name] !== undefined);
  if (given !== undefined) {
    const name = given === 'onHalt' ? 'on-halt' : given;
    throw contradiction(`--${name} is about local clusters, --kubeconfig about a real one.`);
  }
  return { kind: 'kubeconfig', file: raw.kubeconfig, ...defined({ context: raw.context }) };
}

function chooseLocal(raw: RawOptions): ClusterChoice {
  if (raw.context !== undefined) throw contradiction('--context needs --kubeconfig.');
  const fleet = choosePlan(raw);
  const isFleet = fleet !== undefined;
  const clusterCount = raw.clusters ?? (isFleet ? FLEET_DEFAULTS.clusters : DEFAULT_CLUSTERS);
  const port = raw.port ?? 0;
  if (port !== 0 && port + clusterCount - 1 > PORT_MAX) {
    throw contradiction(`${String(clusterCount)} ports from ${String(port)} on do not exist.`);
  }
  if (raw.inject !== undefined && raw.mode === 'observe') {
    throw contradiction('--inject plays a rollout, --mode observe rolls nothing.');
  }
  const nodesPerCluster = raw.nodes ?? (isFleet ? FLEET_DEFAULTS.nodes : DEFAULT_NODES);
  const isCold = raw.cold === true;
  const local = { kind: 'local', clusterCount, nodesPerCluster, port, isCold } as const;
  if (isFleet) return { ...local, fleet };
  return { ...local, ...defined({ inject: injectedFailure(raw.inject) }) };
}

function injectedFailure(text: string | undefined): InjectedFailure | undefined {
  if (text === undefined) return undefined;
  const failure = INJECTED_FAILURES.find((one) => one === text);
  if (failure === undefined)
    throw contradiction(`--inject ${text} plays over a fleet: it needs --fleet.`);
  return failure;
}

/** Releasing manages nothing, so what says how to manage has no meaning beside it. */
function checkRelease(raw: RawOptions): void {
  if (raw.kubeconfig === undefined) throw contradiction('--release needs --kubeconfig.');
  if (raw.mode !== undefined) throw contradiction('--release ends a mode, --mode chooses one.');
  if (raw.takeLease === true)
    throw contradiction('--release needs a Lease that no watcher renews.');
  if (raw.exitWhenSettled) throw contradiction('--release exits by itself.');
}

function contradiction(message: string): CommandError {
  return usageError(message, 'Leave one of them out; `npm start -- --help` shows all options.');
}
