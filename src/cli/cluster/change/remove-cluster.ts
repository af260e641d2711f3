/**
 * `rollcall cluster remove`: forgets a cluster, and leaves it working.
 *
 *   hand back (takeover only) ─▶ registration ─▶ sealed token ─▶ view
 *
 * In takeover that is refused unless the cluster is handed back (`--release`) or the operator insists
 * (`--force`). Each step may be the last one: what is left harms nothing, and the same command goes on.
 */
import { defined } from '@rollcall/base/defined.ts';
import { logOrder } from '../../../app/log/log-order.ts';
import { callerOf } from '../../command-line/caller.ts';
import { forgetView } from '../../../app/clusters/forget-view.ts';
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import {
  CLUSTER_ARGUMENT,
  OPERATOR_OPTIONS,
  excludeEachOther,
  parseClusterId,
  requireRegistration,
} from '../../command-line/cluster-arguments.ts';
import { defineCommand, flagOption } from '../../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
  OptionsOf,
} from '../../command-line/command-module.ts';
import { refusal } from '../../process/exit-codes.ts';
import type { Stack } from '../../reach/stack.ts';
import { changeMode, COPILOT_STAYS, type ModeChange } from './change-mode.ts';
import { rolesStackName } from '../roles/roles.ts';
import { changedMeanwhile } from './changes.ts';

const OPTIONS = {
  release: flagOption('--release', 'in takeover: hand it back first, which needs a kubeconfig'),
  force: flagOption('--force', 'forget it although it was not handed back'),
  keepView: flagOption('--keep-view', 'leave what the view holds of it'),
  ...OPERATOR_OPTIONS,
};

type RemoveOptions = OptionsOf<typeof OPTIONS>;

/** The command. */
export const removeClusterCommand: CommandModule = defineCommand({
  path: ['cluster', 'remove'],
  documents: ['ClusterRemoval'],
  summary: 'forget a cluster, and leave its pods as they are',
  about: [
    'It removes the registration, the sealed token and the view, and says what is left to delete in the cluster and in its account.',
    'You may repeat it from any step.',
  ],
  exits: { refused: 'the cluster is in takeover, and neither --release nor --force is given' },
  examples: ['cluster remove prod-eu-1', 'cluster remove prod-eu-1 --release --context prod-eu-1'],
  interruption: 'orderly',
  args: [CLUSTER_ARGUMENT],
  options: OPTIONS,
  run: async ({ args, options }, context) => {
    excludeEachOther({ '--release': options.release, '--force': options.force });
    const id = parseClusterId(args[0] ?? '');
    const stack = await context.openStack();
    const found = await stack.registry.readCluster(id);
    if (found === undefined) return finishEarlierRemoval(id, stack);
    const left = await leave({ registration: found, options, stack, context });
    const removal = await stack.registry.removeCluster(id, left.configVersion);
    if (removal === 'lost') throw changedMeanwhile(left);
    await stack.credentials.removeTokens(id);
    await logRemoval(id, stack, context);
    const daemonSets = options.keepView === true ? undefined : await forget(left, stack, context);
    return present(found, stack, { daemonSets, isForced: options.force === true });
  },
});

/** Among what happened to the stack: entries of the cluster, as that of its mode, are shown by no command any more. */
async function logRemoval(id: ClusterId, stack: Stack, context: CommandContext): Promise<void> {
  const by = await callerOf(context, stack);
  const atMs = context.clock.nowMs();
  const entry = { kind: 'order', order: 'remove-cluster', atMs, by, removed: id } as const;
  const lost = await logOrder(stack, { subject: { kind: 'stack' } }, entry);
  if (lost !== undefined) context.say(lost);
}

type Leaving = Omit<ModeChange, 'mode'> & { readonly options: RemoveOptions };

/** Leaves takeover as asked; the registration as it stands then. */
async function leave(leaving: Leaving): Promise<ClusterRegistration> {
  const { registration, options } = leaving;
  if (registration.mode !== 'takeover' || options.force === true) return registration;
  if (options.release !== true) {
    throw refusal(
      `${registration.id} is in takeover: once it is forgotten, no controller looks after its DaemonSets.`,
      'Pass --release to hand it back to the built-in controller first; --force if the cluster is gone.',
    );
  }
  return (await changeMode({ ...leaving, mode: 'observe' })).registration;
}

async function forget(
  { clusterUid }: ClusterRegistration,
  { view }: Stack,
  context: CommandContext,
): Promise<number> {
  context.say('deleting what the view holds of it …');
  return forgetView(view, clusterUid);
}

/** The registration is gone; an earlier command may have ended before the rest was. */
async function finishEarlierRemoval(id: ClusterId, stack: Stack): Promise<CommandResult> {
  const removal = await stack.registry.removeCluster(id, 0);
  const token = await stack.credentials.readToken(id, 'act');
  if (token !== undefined) await stack.credentials.removeTokens(id);
  if (removal === 'missing' && token === undefined) {
    await requireRegistration(stack.registry, id);
  }
  const notes = ['What an earlier removal had left was removed.'];
  return {
    document: { kind: 'ClusterRemoval', cluster: id, isFinished: true, notes },
    lines: [`${id} is forgotten. ${notes.join(' ')}`],
  };
}

interface Removal {
  /** Forgotten ones; undefined: the view was kept. */
  readonly daemonSets: number | undefined;
  readonly isForced: boolean;
}

function present(
  registration: ClusterRegistration,
  stack: Stack,
  { daemonSets, isForced }: Removal,
): CommandResult {
  const { id, mode } = registration;
  const { commands, notes } = leftovers(registration, stack);
  const care = whoTakesCare(mode, isForced);
  return {
    document: {
      kind: 'ClusterRemoval',
      cluster: id,
      clusterUid: registration.clusterUid,
      isFinished: true,
      wasTakenOver: mode === 'takeover',
      ...defined({ forgottenDaemonSets: daemonSets }),
      leftInCluster: commands,
      notes: [care, ...notes],
    },
    lines: [
      `${id} is forgotten; every pod was left as it is.`,
      care,
      'Left in the cluster, to delete when you like (the watcher goes first, or it sends on and is refused):',
      ...commands.map((command) => `  ${command}`),
      ...notes,
    ],
  };
}

function whoTakesCare(mode: ClusterRegistration['mode'], isForced: boolean): string {
  if (mode === 'copilot') return COPILOT_STAYS;
  if (mode === 'observe') return 'The controller that looked after its DaemonSets still does.';
  if (isForced) {
    return 'No controller looks after its DaemonSets now: switch its built-in controller on (no -daemonset-controller in --controllers).';
  }
  return 'It was handed back: switch its built-in controller on (no -daemonset-controller in --controllers).';
}

/** Cluster-wide objects that the manifests under infra/ make, by kind: a test holds the names to them. */
const CLUSTER_WIDE: readonly (readonly [string, readonly string[]])[] = [
  [
    'clusterrolebinding,clusterrole',
    ['watcher', 'functions', 'functions-namespace', 'requests', 'renewer'],
  ],
  [
    'validatingadmissionpolicybinding,validatingadmissionpolicy',
    [
      ...['pods', 'owner', 'owner-kept', 'history', 'history-owner', 'status', 'events', 'lease'],
      ...['copies', 'copies-owner', 'proven', 'proven-owner', 'proven-kept', 'fleet-fence'],
      ...[
        'copilot-pods',
        'copilot-listed',
        'copilot-daemon-sets',
        'copilot-revisions',
        'copilot-events',
      ],
    ],
  ],
];

/** The rest of Rollcall in it, and how to delete that: commands for the cluster, and sentences about the rest. */
function leftovers(
  registration: ClusterRegistration,
  stack: Pick<Stack, 'stage' | 'outputs'>,
): { readonly commands: readonly string[]; readonly notes: readonly string[] } {
  const { authentication, id } = registration;
  return {
    commands: [
      'kubectl delete namespace rollcall-system --ignore-not-found',
      'kubectl delete rolebinding,role --all-namespaces --field-selector metadata.name=rollcall-fleets',
      ...CLUSTER_WIDE.map(
        ([kinds, names]) =>
          `kubectl delete ${kinds} ${names.map((name) => `rollcall-${name}`).join(' ')} --ignore-not-found`,
      ),
      ...(authentication.kind === 'eks' ? accessEntries(authentication, stack) : []),
    ],
    notes: [
      `Its roles: the stack ${rolesStackName({ stage: stack.stage, id })} in the account of the cluster, if rollcall made it (aws cloudformation delete-stack).`,
      'In chosen namespaces: the role bindings rollcall-functions, if you made them.',
    ],
  };
}

function accessEntries(
  { clusterName, region }: { readonly clusterName: string; readonly region: string },
  { outputs }: Pick<Stack, 'outputs'>,
): readonly string[] {
  const arns = [outputs.ClusterAccessRoleArns, outputs.ClusterRequestRoleArns].join(',').split(',');
  return arns.map(
    (arn) =>
      `aws eks delete-access-entry --cluster-name ${clusterName} --region ${region} --principal-arn ${arn.trim()}`,
  );
}
