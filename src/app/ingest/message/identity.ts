/**
 * Who sent a message, checked against the registry before anything is read or written for it (S6, protocol 24, row 90).
 *
 * A registration that was read a moment ago may be believed when it agrees; a refusal rests on a fresh read. The group
 * is checked first, as it costs no read: in another cluster's group a message would hold up that one's (L3).
 */
import type { ClusterId, ClusterUid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { IngestDependencies } from '../process/dependencies.ts';
import type { IngestContext } from './result.ts';

export interface Claim {
  readonly cluster: ClusterId;
  /** Absent where the header could not be read so far. */
  readonly clusterUid: ClusterUid | undefined;
}

type IdentityRefusal = 'wrong-group' | 'unknown-cluster' | 'wrong-sender' | 'wrong-cluster-uid';

type Origin = Pick<IngestContext, 'senderRoleId' | 'groupId'>;

type Verification =
  | { readonly kind: 'verified'; readonly registration: ClusterRegistration }
  | { readonly kind: 'refused'; readonly code: IdentityRefusal };

/** Checks a claim. Rejects when the registry cannot be read: nothing is decided then. */
export async function verifySender(
  claim: Claim,
  context: Origin,
  {
    registry,
    processCache,
    clock,
    options,
  }: Pick<IngestDependencies, 'registry' | 'processCache' | 'clock' | 'options'>,
): Promise<Verification> {
  // A cluster's id is its group as it stands: queue-ids.ts hashes only what an id cannot be.
  if (context.groupId !== undefined && context.groupId !== claim.cluster) {
    return { kind: 'refused', code: 'wrong-group' };
  }
  const warm = processCache.registrations.get(claim.cluster);
  if (warm !== undefined) {
    const ageMs = clock.monotonicMs() - warm.readAtMs;
    const isYoung = ageMs >= 0 && ageMs < options.registrationAgeMaxMs;
    if (isYoung && refusalOf(claim, context, warm.registration) === undefined) {
      return { kind: 'verified', registration: warm.registration };
    }
  }
  const readAtMs = clock.monotonicMs();
  const registration = await registry.readCluster(claim.cluster);
  if (registration === undefined) {
    processCache.registrations.delete(claim.cluster);
    return { kind: 'refused', code: 'unknown-cluster' };
  }
  processCache.registrations.set(claim.cluster, { registration, readAtMs });
  const code = refusalOf(claim, context, registration);
  return code === undefined ? { kind: 'verified', registration } : { kind: 'refused', code };
}

function refusalOf(
  claim: Claim,
  context: Origin,
  registration: ClusterRegistration,
): IdentityRefusal | undefined {
  if (registration.senderRoleId !== context.senderRoleId) return 'wrong-sender';
  const { clusterUid = registration.clusterUid } = claim;
  return clusterUid === registration.clusterUid ? undefined : 'wrong-cluster-uid';
}
