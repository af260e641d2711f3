/**
 * Changing the mode of a registered cluster; for takeover by a person with a kubeconfig.
 *
 * Takeover is entered through the probe (src/app/takeover/takeover-probe.ts), and left through the hand-back
 * (src/app/takeover/hand-back.ts). Copilot is one write, and left by a hand-back that finds nothing of
 * ours in the cluster. Each says what now happens there and what is left to do.
 */
import { logOrder } from '../../../app/log/log-order.ts';
import { callerOf } from '../../command-line/caller.ts';
import { counted } from '@rollcall/base/counted.ts';
import { wakeCluster } from '../../../app/clusters/wake-cluster.ts';
import { handBack } from '../../../app/takeover/hand-back.ts';
import { defaultReconcileOptions } from '../../../app/reconcile/process/dependencies.ts';
import { enterTakeover } from '../../../app/takeover/takeover-probe.ts';
import type { ClusterMode, ClusterRegistration } from '../../../core/model/registration.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import { FUNCTION_MAX_MS } from '../../../core/pod/request-life.ts';
import { describeFreeze } from '../../../core/may-act/freeze.ts';
import { SENTINEL_KEY } from '../../../core/may-act/takeover-sentinel.ts';
import type { HandBackAccess } from '../../../ports/cluster/hand-back-access.ts';
import { requireRegistration } from '../../command-line/cluster-arguments.ts';
import type { CommandContext } from '../../command-line/command-module.ts';
import { failure, refusal, type CommandError } from '../../process/exit-codes.ts';
import type { Stack } from '../../reach/stack.ts';
import { writeChange } from './changes.ts';
import { requireSameCluster, withOperator } from '../../reach/operator-access.ts';
import type { OperatorCluster, OperatorOptions } from '../../reach/operator-access.ts';

export interface ModeChange {
  readonly registration: ClusterRegistration;
  readonly mode: ClusterMode;
  readonly options: OperatorOptions & { readonly withoutCluster?: true };
  readonly stack: Stack;
  readonly context: CommandContext;
}

export interface ChangedMode {
  readonly registration: ClusterRegistration;
  readonly notes: readonly string[];
}

/** Refuses (3) what could not work: acting without a credential. */
export function refuseMode(registration: ClusterRegistration, mode: ClusterMode): void {
  if (mode === 'observe' || registration.authentication.kind !== 'none') return;
  throw refusal(
    `${registration.id} has no credential, so nothing could be done there in ${mode}.`,
    'Give it one first: --eks-cluster and --eks-region, or --renewer-role-id.',
  );
}

/**
 * Refuses (3) to enter a mode while the whole stack is frozen: takeover would probe the cluster by a DaemonSet of its own, and
 * an entered mode would begin to act with another user's thaw. A mode may be left: that stops actions only.
 */
export async function refuseWhileFrozen(
  registration: ClusterRegistration,
  mode: ClusterMode,
  { freezes }: Pick<Stack, 'freezes'>,
): Promise<void> {
  if (mode === 'observe' || isEntered(registration, mode)) return;
  const { all } = await freezes.readFreeze();
  if (all === undefined) return;
  throw refusal(
    `${describeFreeze({ scope: 'stack', note: all })}; ${mode} of ${registration.id} is not entered, and nothing was changed.`,
    'Thaw first, if that is meant: rollcall thaw --yes',
  );
}

/** Enters or leaves a mode; nothing where it is so already and no other controller was seen. */
export async function changeMode(change: ModeChange): Promise<ChangedMode> {
  const { registration, mode } = change;
  if (isEntered(registration, mode) || (mode === 'observe' && registration.mode === 'observe')) {
    return { registration, notes: [] };
  }
  const changed = await changeTo(mode, change);
  await logMode(changed.registration, change);
  return changed;
}

function changeTo(mode: ClusterMode, change: ModeChange): Promise<ChangedMode> {
  switch (mode) {
    case 'takeover':
      return enter(change);
    case 'observe':
      return leave(change);
    case 'copilot':
      return change.registration.mode === 'takeover'
        ? leaveForCopilot(change)
        : enterCopilot(change);
  }
}

async function logMode(
  { clusterUid, mode }: ClusterRegistration,
  { stack, context }: ModeChange,
): Promise<void> {
  const by = await callerOf(context, stack);
  const about = { cluster: clusterUid, subject: { kind: 'cluster' } } as const;
  const atMs = context.clock.nowMs();
  const lost = await logOrder(stack, about, { kind: 'order', order: 'mode', atMs, by, mode });
  if (lost !== undefined) context.say(lost);
}

/** After a conflict a mode is entered anew. */
function isEntered(registration: ClusterRegistration, mode: ClusterMode): boolean {
  return registration.mode === mode && registration.rival === undefined;
}

/** The sentinel is of takeover: it goes first. No controller makes pods until the built-in one is on. */
async function leaveForCopilot(change: ModeChange): Promise<ChangedMode> {
  const left = await leave(change);
  const entered = await writeCopilot({ ...change, registration: left.registration });
  return { ...entered, notes: [...left.notes, ...entered.notes] };
}

async function enterCopilot(change: ModeChange): Promise<ChangedMode> {
  const { registration, notes } = await writeCopilot(change);
  const goesOn = `The built-in controller goes on in ${registration.id}; nothing was restarted.`;
  return { registration, notes: [goesOn, ...notes] };
}

/** One compare-and-set: nothing has to be probed, and nothing in the cluster changes by it. */
async function writeCopilot({ registration, stack }: ModeChange): Promise<ChangedMode> {
  const { rival: _rival, ...rest } = registration;
  const entered = await writeChange(registration, { ...rest, mode: 'copilot' }, stack);
  return {
    registration: entered,
    notes: [...copilotNotes(entered), ...(await wake(entered, stack))],
  };
}

function copilotNotes({ isFrozen }: ClusterRegistration): readonly string[] {
  return [
    'Rollcall times deletions of DaemonSets with strategy ' +
      `OnDelete and the annotation ${POLICY_ANNOTATION}${isFrozen ? ', once the freeze is lifted' : ''}; all others it only observes.`,
    'Its rights: kubectl apply -k infra/overlays/functions/copilot (EKS: copilot-eks). DaemonSets are named there by',
    '  kubectl get daemonsets -A -o json | node scripts/launch.mjs scripts/install/copilot-policy.ts | kubectl apply -f -',
  ];
}

/** The mode is written by then: what fails here is told, and resync does it within hours. */
async function wake(entered: ClusterRegistration, stack: Stack): Promise<readonly string[]> {
  if (entered.isFrozen) return [];
  try {
    const count = await wakeCluster(entered, stack);
    return [`${counted(count, 'DaemonSet is', 'DaemonSets are')} looked at now.`];
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return [`Its DaemonSets are looked at with their next change, or within six hours: ${why}.`];
  }
}

/** The remains in a cluster that is left, and the effects of changing it. */
export const COPILOT_STAYS =
  'The built-in controller looks after its DaemonSets, as before. Those with strategy OnDelete stay so: their updates ' +
  'happen only where pods are deleted. Set back to RollingUpdate, the built-in controller replaces at once, within ' +
  'maxUnavailable, every pod that is not of the newest template.';

function copilotLeftNotes(id: string): readonly string[] {
  return [
    `Nothing of Rollcall acts in ${id} any more; every pod was left as it is.`,
    COPILOT_STAYS,
  ];
}

function inCluster<T>(
  { options, registration, context }: ModeChange,
  use: (operator: OperatorCluster) => Promise<T>,
): Promise<T> {
  const open = () => context.openCluster(options);
  return withOperator(open, (operator) => {
    requireSameCluster(operator, registration);
    return use(operator);
  });
}

async function enter(change: ModeChange): Promise<ChangedMode> {
  const { registration, stack, context } = change;
  const { id } = registration;
  context.say(`checking that no built-in DaemonSet loop runs in ${id}: about 20 s …`);
  const result = await inCluster(change, (operator) => {
    const connector = operator.openConnector(stack.installation);
    return enterTakeover(id, { ...stack, access: operator.access, connector });
  });
  if (result.kind === 'refused') throw refusedTakeover(id, result.reason);
  if (result.kind === 'failed') {
    throw failure(
      `Takeover of ${id} was not entered: ${result.message}.`,
      'The operator who runs this must be able to create and delete a DaemonSet in rollcall-system; then repeat it.',
    );
  }
  const snapshot = result.isSnapshotRequested
    ? 'A snapshot was asked for; pods are created and deleted once it is in.'
    : 'Pods are created and deleted once the watcher has sent a snapshot: within minutes.';
  return {
    registration: await requireRegistration(stack.registry, id),
    notes: [
      `Rollcall keeps the DaemonSets of ${id} from now on${registration.isFrozen ? ', once the freeze is lifted' : ''}.`,
      snapshot,
      'Leave the built-in loop off (kube-controller-manager --controllers=*,-daemonset-controller).',
    ],
  };
}

function refusedTakeover(
  id: string,
  reason: 'unknown-cluster' | 'built-in-controller-runs',
): CommandError {
  if (reason === 'unknown-cluster') {
    return failure(`${id} was removed meanwhile.`, 'List what there is: rollcall cluster list');
  }
  return refusal(
    `Takeover of ${id} is refused: its built-in DaemonSet loop is on, and two controllers would fight.`,
    'Start kube-controller-manager with --controllers=*,-daemonset-controller, then repeat; on a managed control plane, use --mode copilot.',
  );
}

/** An access that does nothing and finds nothing: the cluster itself is left as it is. */
const UNTOUCHED: HandBackAccess = {
  createDaemonSet: () => Promise.resolve({ kind: 'missing' }),
  getDaemonSet: () => Promise.resolve({ kind: 'missing' }),
  deleteDaemonSet: () => Promise.resolve({ kind: 'missing' }),
  listDaemonSets: () => Promise.resolve({ kind: 'found', object: [] }),
  replaceConditions: () => Promise.resolve({ kind: 'changed' }),
};

async function leave(change: ModeChange): Promise<ChangedMode> {
  const { registration, stack, context, options, mode } = change;
  const { id } = registration;
  const release = (access: HandBackAccess): ReturnType<typeof handBack> =>
    handBack(id, {
      ...stack,
      access,
      requestTimeoutMs: defaultReconcileOptions.requestTimeoutMs,
      functionMaxMs: FUNCTION_MAX_MS,
      onProgress: (text) => {
        context.say(text);
      },
    });
  const wasCopilot = registration.mode === 'copilot';
  const isUntouched = options.withoutCluster === true || wasCopilot;
  const result = isUntouched
    ? await release(UNTOUCHED)
    : await inCluster(change, ({ access }) => release(access));
  if (result.kind === 'failed') {
    throw failure(
      `${id} was not left (step ${result.step}): ${result.message}.`,
      'No pod was touched. Repeat the command; it goes on from there.',
    );
  }
  return {
    registration: await requireRegistration(stack.registry, id),
    notes: wasCopilot
      ? copilotLeftNotes(id)
      : [...leftNotes(id, mode), ...(isUntouched ? sentinelNotes() : [])],
  };
}

function leftNotes(id: string, next: ClusterMode): readonly string[] {
  const left =
    next === 'observe' ? `Nothing of Rollcall acts in ${id} any more` : `Takeover of ${id} is left`;
  return [
    `${left}; every pod was left as it is.`,
    'No controller replaces its daemon pods until the built-in controller is switched on: start kube-controller-manager',
    'without -daemonset-controller in --controllers. It goes on with the pods that are there.',
  ];
}

function sentinelNotes(): readonly string[] {
  const { namespace, name } = SENTINEL_KEY;
  return [
    'The cluster itself was left alone, so the sentinel is still there. Delete it when you can:',
    `  kubectl -n ${namespace} delete daemonset ${name} --ignore-not-found`,
  ];
}
