/**
 * Finds what is stored of one DaemonSet's rollout: registration, view, state, policy. Reads only, asks no cluster.
 *
 * What is found is as new as the view. A DaemonSet of which not even an outline is known is found without its policy: nothing
 * is guessed of it.
 */
import { defined } from '@rollcall/base/defined.ts';
import { toldObject } from '../../core/model/view-items.ts';
import { readPolicyOf } from '../../core/may-act/opt-in.ts';
import { hintFor } from '../../core/model/hint.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { PolicyReading } from '../../core/policy/rollout-policy.ts';
import type { PolicyReader } from '../../ports/fleet-reader.ts';
import type { HoldingFleet } from '../fleet/rollout/holding-fleet.ts';
import { readStored, type StoredInputs } from '../reconcile/read/stored-inputs.ts';
import { refuse, type RolloutRefusal } from './refusals.ts';

/** Where to look. */
export type FindSources = Parameters<typeof readStored>[1] & {
  readonly policies: PolicyReader;
  /** The fleet that has it in a rollout that is not over. */
  readonly holderOf: (key: DaemonSetKey) => Promise<HoldingFleet | undefined>;
};

/** What was found. */
export interface FoundRollout {
  readonly kind: 'found';
  readonly key: DaemonSetKey;
  readonly stored: StoredInputs;
  readonly policy: PolicyReading;
  /** The fleet that has it in a rollout that is not over; absent: none has. */
  readonly fleet?: HoldingFleet;
}

/** Finds it. Rejects when a table fails, or the registration cannot be read. */
export async function findRollout(
  key: DaemonSetKey,
  sources: FindSources,
): Promise<FoundRollout | RolloutRefusal> {
  const registration = await sources.registry.readCluster(key.cluster);
  if (registration === undefined) return refuse('unknown-cluster', key);
  const read = await readStored(hintFor(registration, key, 'manual'), sources);
  if (read.kind === 'registry-unreadable') throw read.cause;
  if (read.kind === 'unregistered') return refuse('unknown-cluster', key);
  if (read.kind === 'absent') {
    const meta = await sources.view.readMeta(registration.clusterUid);
    return refuse(meta === undefined ? 'never-heard' : 'unknown-daemon-set', key);
  }
  const { stored } = read;
  const policy = readPolicyOf(toldObject(stored.daemonSet), sources.policies);
  const fleet = await sources.holderOf(key);
  return { kind: 'found', key, stored, policy, ...defined({ fleet }) };
}
