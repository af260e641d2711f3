/**
 * Registers the local cluster as a user does: `cluster add`, then `cluster set --mode takeover` with its probe.
 *
 * Two things are of this machine alone. The registration expects the account id as its sender, which is what an
 * emulator puts where SQS on AWS names a role; no check is relaxed for it. And it gets the cluster's own token in
 * between, as `npm start` does: the local cluster grants no bound ones. A registration of the same name that an earlier
 * cluster left at an emulator that went on running is removed first: that cluster ended with its process.
 */
import path from 'node:path';
import type { Stack } from '../../src/cli/reach/stack.ts';
import type { EngineCluster } from '../../src/engine/engine-options.ts';
import type { RollcallCommand } from './rollcall-command.ts';

/** What registering needs. */
export interface RegisterOptions {
  readonly cluster: EngineCluster;
  readonly kubeconfigPath: string;
  readonly stack: Stack;
  readonly rollcall: RollcallCommand;
  /** For the manifests, which a process of this machine needs not. */
  readonly directory: string;
  readonly say: (text: string) => void;
}

/** The account of MiniStack, and what it says for a sender. */
const EMULATED_SENDER = '000000000000';

/** Registers it and enters takeover; returns the cluster's UID. */
export async function registerLocalCluster(options: RegisterOptions): Promise<string> {
  const { cluster, kubeconfigPath, stack, rollcall, directory, say } = options;
  const { id } = cluster;
  if ((await stack.registry.readCluster(id)) !== undefined) {
    say(`forgetting an earlier ${id} …`);
    await forgetLocalCluster(id, rollcall);
  }
  say(`registering ${id} …`);
  const manifests = path.join(directory, `${id}-watcher.yaml`);
  await rollcall([
    ...['cluster', 'add', id, '--kubeconfig', kubeconfigPath, '--manifests', manifests],
    ...['--sender-role-id', EMULATED_SENDER, '--credentials', 'static'],
  ]);
  const added = await stack.registry.readCluster(id);
  if (added === undefined) throw new Error(`${id} was added, and is not in the registry`);
  const withToken = { ...added, authentication: cluster.functions };
  const written = await stack.registry.writeCluster(withToken, added.configVersion);
  if (written !== 'written')
    throw new Error(`the registration of ${id} was not written: ${written}`);
  say(`probing whether a built-in DaemonSet loop runs in ${id}: about 20 s …`);
  await rollcall(['cluster', 'set', id, '--mode', 'takeover', '--kubeconfig', kubeconfigPath]);
  return added.clusterUid;
}

/** Removes the registration of a local cluster, and what the view holds of it. */
export async function forgetLocalCluster(id: string, rollcall: RollcallCommand): Promise<void> {
  await rollcall(['cluster', 'remove', id, '--force']);
}
