/**
 * Who holds the watcher's Lease now: the live read that tells a zombie from a restored etcd.
 *
 * A message of a lower epoch is dropped unless the Lease names its incarnation (protocol 15). Without
 * a credential nothing can be read, and nothing can be done to the cluster either: the answer is then
 * left to the silence of the stored epoch. Reading is limited in rate by META.
 */
import type { Incarnation } from '../../../core/model/identifiers.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import { withinTalkBound } from '../process/bounded-talk.ts';
import type { IngestDependencies } from '../process/dependencies.ts';

/** What a live read of the Lease says about an incarnation. */
export type LeaseAnswer = 'holder' | 'other-holder' | 'no-credential' | 'unavailable';

/** Reads the Lease live. Never rejects for an expected outcome. */
export async function readLeaseHolder(
  incarnation: Incarnation,
  registration: ClusterRegistration,
  { connector, metrics, clock }: Pick<IngestDependencies, 'connector' | 'metrics' | 'clock'>,
): Promise<LeaseAnswer> {
  const reading = read(incarnation, registration, connector);
  const answer = await withinTalkBound(reading, 'unavailable', { clock });
  metrics.count('LeaseChecks', { outcome: answer });
  return answer;
}

async function read(
  incarnation: Incarnation,
  registration: ClusterRegistration,
  connector: IngestDependencies['connector'],
): Promise<LeaseAnswer> {
  if (registration.authentication.kind === 'none') return 'no-credential';
  const connection = await connector.connect(registration);
  if (connection.kind === 'refused') {
    return connection.refusal.kind === 'no-credential' ? 'no-credential' : 'unavailable';
  }
  const lease = await connection.access.getWatcherLease();
  if (lease.kind === 'missing') return 'other-holder';
  if (lease.kind === 'unavailable') return 'unavailable';
  return isHeldBy(lease.object, incarnation) ? 'holder' : 'other-holder';
}

function isHeldBy(lease: KubernetesObject, incarnation: Incarnation): boolean {
  const spec = lease['spec'];
  return isJsonObject(spec) && spec['holderIdentity'] === incarnation;
}

/** True when the Lease may be read again for a message of a lower epoch. */
export function mayCheckLease(
  meta: ClusterMeta,
  incarnation: Incarnation,
  { clock, options }: Pick<IngestDependencies, 'clock' | 'options'>,
): boolean {
  const { leaseCheckedAtMs, leaseCheckedFor } = meta;
  if (leaseCheckedAtMs === undefined) return true;
  const sinceMs = clock.nowMs() - leaseCheckedAtMs;
  const intervalMs =
    leaseCheckedFor === incarnation ? options.leaseCheckEveryMs : options.leaseCheckOtherEveryMs;
  // A wall clock that stepped back must not hold the check for as long as it stepped.
  return sinceMs >= intervalMs || sinceMs < 0;
}
