/**
 * Hand-back: leaving a cluster's DaemonSets to the built-in controller, with no pod restarted.
 *
 *   freeze ──▶ wait until nothing of ours can still arrive ──▶ mode observe ──▶ clean up
 *
 * Repeating goes on from any crash; a change of the registration meanwhile makes this fail. It touches no pod, no
 * revision and no counter: all is as the built-in controller would have made it, under other names.
 */
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { isPaused, withoutPauseNotice } from '../../core/status/pause-notice.ts';
import type { HandBackAccess } from '../../ports/cluster/hand-back-access.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';
import { awaitSilence, type SilenceDependencies } from '../clusters/await-silence.ts';
import { changeRegistration } from '../clusters/change-stored.ts';
import { removeSentinel } from './takeover-probe.ts';

export interface HandBackDependencies extends SilenceDependencies {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>;
  readonly access: HandBackAccess;
}

/** What came of it. */
export type HandBackResult =
  | {
      readonly kind: 'handed-back';
      /** False if the cluster was only observed, or never registered here. */
      readonly wasTakenOver: boolean;
      readonly waitedMs: number;
      /** DaemonSets that had said that Rollcall has stopped. */
      readonly clearedNotices: number;
    }
  | {
      readonly kind: 'failed';
      readonly step: 'freeze' | 'wait' | 'leave' | 'clean-up';
      readonly message: string;
    };

const WRITES_MAX = 5;

/** Hands a cluster back. A cluster that this registry does not know is waited for and cleaned up. */
export async function handBack(
  cluster: ClusterId,
  dependencies: HandBackDependencies,
): Promise<HandBackResult> {
  const { clock, onProgress } = dependencies;
  const found = await dependencies.registry.readCluster(cluster);
  const startedMs = clock.monotonicMs();
  if (found?.mode !== 'observe') {
    const left = await leave(cluster, found, dependencies);
    if (left !== undefined) return left;
  }
  const waitedMs = clock.monotonicMs() - startedMs;
  onProgress?.('removing the sentinel and notices …');
  const clearedNotices = await cleanUp(dependencies);
  if (typeof clearedNotices !== 'number') return clearedNotices;
  const wasTakenOver = found?.mode === 'takeover';
  return { kind: 'handed-back', wasTakenOver, waitedMs, clearedNotices };
}

type Failure = Extract<HandBackResult, { kind: 'failed' }>;

const fail = (step: Failure['step'], message: string): Failure => ({
  kind: 'failed',
  step,
  message,
});

/** Undefined: it is left, or was never registered here. */
async function leave(
  cluster: ClusterId,
  found: ClusterRegistration | undefined,
  dependencies: HandBackDependencies,
): Promise<Failure | undefined> {
  const frozen = found && (await freeze(cluster, dependencies));
  if (frozen === 'lost') return fail('freeze', 'the registration never stood still; try again');
  if (!(await awaitSilence(frozen?.registration.clusterUid, dependencies))) {
    return fail('wait', 'something still acts on this cluster; its freeze stays');
  }
  return frozen && writeLeft(frozen, dependencies);
}

interface Frozen {
  /** As it stands now, with the version that it has. */
  readonly registration: ClusterRegistration;
  readonly wasFrozen: boolean;
}

async function freeze(
  cluster: ClusterId,
  { registry, onProgress }: HandBackDependencies,
): Promise<Frozen | undefined | 'lost'> {
  onProgress?.('freezing …');
  let wasFrozen = false;
  // Written also where it stands frozen: the version has to rise.
  const registration = await changeRegistration(registry, cluster, (stored) => {
    wasFrozen = stored.isFrozen;
    return { ...stored, isFrozen: true };
  });
  if (registration === 'missing') return undefined;
  return registration === 'lost' ? registration : { registration, wasFrozen };
}

async function writeLeft(
  { registration, wasFrozen }: Frozen,
  { registry }: HandBackDependencies,
): Promise<Failure | undefined> {
  const stored = await registry.readCluster(registration.id);
  if (stored?.configVersion !== registration.configVersion) {
    return fail('leave', 'the registration was changed meanwhile; try again');
  }
  const { takeoverProbedAtMs: _probed, sentinel: _sentinel, ...rest } = stored;
  const left: ClusterRegistration = { ...rest, mode: 'observe', isFrozen: wasFrozen };
  const written = await registry.writeCluster(left, rest.configVersion);
  if (written === 'written') return undefined;
  return fail('leave', 'the registration was changed meanwhile; try again');
}

async function cleanUp({ access }: HandBackDependencies): Promise<number | Failure> {
  const removed = await removeSentinel(access);
  // A DaemonSet of that name that is not Rollcall's stays where it is.
  if (removed.kind === 'failed') return fail('clean-up', removed.message);
  const listed = await access.listDaemonSets();
  if (listed.kind !== 'found') {
    const why = listed.kind === 'unavailable' ? listed.message : 'there is no such list';
    return fail('clean-up', `the DaemonSets could not be listed: ${why}`);
  }
  const paused = listed.object.filter(({ status }) => isPaused(status));
  for (const daemonSet of paused) {
    const problem = await clearNotice(daemonSet, access);
    if (problem !== undefined) return fail('clean-up', problem);
  }
  return paused.length;
}

/** Why the notice could not be taken away; undefined when it is gone. */
async function clearNotice(
  daemonSet: DaemonSetObject,
  access: HandBackAccess,
): Promise<string | undefined> {
  const { namespace = '', name } = daemonSet.metadata;
  let current = daemonSet;
  for (let attempt = 0; attempt < WRITES_MAX; attempt += 1) {
    const { status } = current;
    if (status === undefined || !isPaused(status)) return undefined;
    const { conditions = [] } = withoutPauseNotice(status);
    const write = await access.replaceConditions(current, conditions);
    if (write.kind === 'written') return undefined;
    if (write.kind === 'failed') {
      return `the status of ${namespace}/${name} could not be written: ${write.message}`;
    }
    const read = await access.getDaemonSet({ namespace, name });
    if (read.kind === 'missing') return undefined;
    if (read.kind === 'unavailable') return `${namespace}/${name} is unreadable: ${read.message}`;
    current = read.object;
  }
  return `the status of ${namespace}/${name} never stood still`;
}
