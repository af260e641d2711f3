/**
 * `rollcall cluster move`: carries a cluster over to another stack, or calls that back.
 *
 * How, and why never two stacks may write at once, is said in src/app/clusters/move-cluster.ts. Here: the
 * two stacks, the watcher, and what to tell. Running the same command again goes on.
 */
import { defined } from '@rollcall/base/defined.ts';
import { moveBack } from '../../../app/clusters/move-back.ts';
import { moveCluster } from '../../../app/clusters/move-cluster.ts';
import type {
  MoveDependencies,
  MoveDirection,
  MoveSide,
} from '../../../app/clusters/move-types.ts';
import { wakeCluster } from '../../../app/clusters/wake-cluster.ts';
import { defaultReconcileOptions } from '../../../app/reconcile/process/dependencies.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { FUNCTION_MAX_MS } from '../../../core/pod/request-life.ts';
import { parseClusterId, parseRoleId, parseSeconds } from '../../command-line/cluster-arguments.ts';
import { defineCommand } from '../../command-line/command-module.ts';
import type { CommandContext, CommandModule } from '../../command-line/command-module.ts';
import { parseStage } from '../../command-line/global-options.ts';
import type { Stack } from '../../reach/stack.ts';
import { presentMove } from './move-report.ts';
import {
  declareOperatorOptions,
  requireSameCluster,
  withOperator,
} from '../../reach/operator-access.ts';
import type { OperatorOptions } from '../../reach/operator-access.ts';
import { describeTurn, turnWatcher } from './turn-watcher.ts';
import type { WatcherTarget } from './turn-watcher.ts';
import { usageError } from '../../process/exit-codes.ts';

/** Options of `cluster move`. */
export interface MoveOptions extends OperatorOptions {
  readonly toStage: string;
  readonly toRegion?: string;
  readonly toProfile?: string;
  readonly toStackOutputs?: string;
  readonly roleId?: string;
  readonly roleArn?: string;
  readonly renewerRoleId?: string;
  readonly renewerRoleArn?: string;
  readonly timeout: number;
  readonly back?: true;
}

const DEFAULT_TIMEOUT_SECONDS = 900;

/** The command. */
export const moveClusterCommand: CommandModule = defineCommand<MoveOptions>({
  path: ['cluster', 'move'],
  summary: 'carry a cluster over to another stack; repeat it to go on',
  interruption: 'orderly',
  configure: (command) => {
    command
      .argument('<id>', 'id of the cluster')
      .requiredOption('--to-stage <stage>', 'stage of the stack to move it to', parseStage)
      .option('--to-region <region>', 'region of that stack (default: as the old one)')
      .option('--to-profile <name>', 'AWS profile for that stack (default: as for the old one)')
      .option('--to-stack-outputs <file>', 'outputs of that stack, from a file')
      .option('--role-id <id>', 'unique id of the watcher’s role there (default: the same role)')
      .option('--role-arn <arn>', 'its ARN, for the annotation of the service account')
      .option('--renewer-role-id <id>', 'unique id of the renewer’s role there')
      .option('--renewer-role-arn <arn>', 'its ARN, for the annotation of the service account')
      .option(
        '--timeout <seconds>',
        'how long to wait for a complete view there',
        parseSeconds,
        DEFAULT_TIMEOUT_SECONDS,
      )
      .option('--back', 'call the move back, as long as it has not arrived')
      .addHelpText('after', EXPLANATION);
    declareOperatorOptions(command);
  },
  run: async ({ args, options }, context) => {
    const id = parseClusterId(args[0] ?? '');
    for (const roleId of [options.roleId, options.renewerRoleId]) {
      if (roleId !== undefined) parseRoleId(roleId);
    }
    const stacks = await openBoth(options, context);
    const registration =
      (await stacks.from.registry.readCluster(id)) ?? (await stacks.to.registry.readCluster(id));
    const dependencies = dependenciesOf({ stacks, registration, options, context });
    const move = options.back === true ? moveBack : moveCluster;
    const result = await move(id, dependencies);
    const { from, to } = dependencies;
    return presentMove({ id, result, from: from.name, to: to.name });
  },
});

const EXPLANATION = `
Freezes the cluster in the old stack, waits until nothing can be under way, registers it (frozen) in the new one, makes
the watcher send there, waits for a complete view, removes it from the old stack, and lifts the freeze. No pod is
restarted. With --kubeconfig or --context the watcher is changed for you, else the change is printed.
Before: the functions of the new stack need their access to the cluster, and the watcher's role the right to send to its
queue (rollcall cluster add --stage NEW --print … shows both).`;

type Stacks = Readonly<Record<MoveDirection, Stack>>;

async function openBoth(options: MoveOptions, context: CommandContext): Promise<Stacks> {
  const { toStage, toRegion, toProfile, toStackOutputs } = options;
  const from = await context.openStack();
  const profile = toProfile ?? context.globals.profile;
  const to = await context.openOtherStack({
    stage: toStage,
    region: toRegion ?? from.aws.region,
    ...defined({ profile, stackOutputs: toStackOutputs }),
  });
  if (sideName(from) !== sideName(to)) return { from, to };
  throw usageError('Both are the same stack.', 'Pass another --to-stage or --to-region.');
}

function sideName({ stage, aws }: Stack): string {
  return `${stage}.${aws.region}`;
}

interface Composing {
  readonly stacks: Stacks;
  readonly registration: ClusterRegistration | undefined;
  readonly options: MoveOptions;
  readonly context: CommandContext;
}

function dependenciesOf(composing: Composing): MoveDependencies {
  const { stacks, options, context } = composing;
  const { clock, signal } = context;
  const sideOf = (stack: Stack): MoveSide => ({ ...stack, name: sideName(stack) });
  return {
    from: sideOf(stacks.from),
    to: sideOf(stacks.to),
    clock,
    signal,
    requestTimeoutMs: defaultReconcileOptions.requestTimeoutMs,
    functionMaxMs: FUNCTION_MAX_MS,
    viewTimeoutMs: options.timeout * 1000,
    ...defined({ senderRoleId: options.roleId, renewerRoleId: options.renewerRoleId }),
    turnWatcher: (direction, turnId) => turn(stacks[direction], turnId, composing),
    wake: async (registration, direction) => {
      if (!registration.isFrozen) await wakeCluster(registration, stacks[direction]);
    },
    onProgress: (text) => {
      context.say(text);
    },
  };
}

/** With a kubeconfig it is done, without one it is said. */
async function turn(
  stack: Stack,
  turnId: string,
  { registration, options, context }: Composing,
): Promise<void> {
  if (registration === undefined) return;
  const { roleArn, renewerRoleArn } = options;
  const target: WatcherTarget = {
    stack,
    hasRenewer: registration.authentication.kind === 'bound-token',
    ...defined({ roleArn, renewerRoleArn }),
    turnId,
  };
  if (options.kubeconfig === undefined && options.context === undefined) {
    context.say(`Make the watcher of ${registration.id} send to ${stack.name}:`);
    for (const command of describeTurn(target)) context.say(`  ${command}`);
    return;
  }
  context.say(`making the watcher send to ${stack.name} …`);
  const open = () => context.openCluster(options);
  await withOperator(open, (operator) => {
    requireSameCluster(operator, registration);
    return turnWatcher(operator.transport, target);
  });
}
