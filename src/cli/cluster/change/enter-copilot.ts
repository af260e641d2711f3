/**
 * Entering copilot: one compare-and-set, since nothing has to be probed and nothing in the cluster changes by it.
 *
 * What is said on leaving is here as well: what stays is the same whether the mode is left or the cluster forgotten.
 */
import { counted } from '@rollcall/base/counted.ts';
import { wakeCluster } from '../../../app/clusters/wake-cluster.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { POLICY_ANNOTATION } from '../../../core/policy/rollout-policy.ts';
import type { CommandContext } from '../../command-line/command-module.ts';
import type { Stack } from '../../reach/stack.ts';
import { changedMeanwhile } from './changes.ts';

/** Enters copilot from observe; nothing is created, deleted or restarted by that. */
export async function enterCopilot({
  registration,
  stack,
}: {
  readonly registration: ClusterRegistration;
  readonly stack: Stack;
  readonly context: CommandContext;
}): Promise<{ readonly registration: ClusterRegistration; readonly notes: readonly string[] }> {
  const { configVersion, rival: _rival, ...rest } = registration;
  const wanted = { ...rest, configVersion, mode: 'copilot' } as const;
  const written = await stack.registry.writeCluster(wanted, configVersion);
  if (written !== 'written') throw changedMeanwhile(registration);
  const entered = { ...wanted, configVersion: configVersion + 1 };
  return {
    registration: entered,
    notes: [...enteredNotes(entered), ...(await wake(entered, stack))],
  };
}

function enteredNotes({ id, isFrozen }: ClusterRegistration): readonly string[] {
  return [
    `The built-in controller goes on in ${id}; nothing was restarted. Rollcall times deletions of DaemonSets with strategy ` +
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

/** What stays in a cluster that is left, and what would follow from changing it. */
export const COPILOT_STAYS =
  'The built-in controller looks after its DaemonSets, as before. Those with strategy OnDelete stay so: their updates ' +
  'happen only where somebody deletes pods. Set back to RollingUpdate, the built-in controller replaces at once, within ' +
  'maxUnavailable, every pod that is not of the newest template.';

/** What is said when copilot was left. */
export function copilotLeftNotes(id: string): readonly string[] {
  return [
    `Nothing of Rollcall acts in ${id} any more; every pod was left as it is.`,
    COPILOT_STAYS,
  ];
}
