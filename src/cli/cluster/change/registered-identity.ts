/**
 * Which cluster answers at a registered endpoint, asked with the registered credential (S6, row 90).
 *
 * The connector compares kube-system's UID before anything else, so its refusal says what was found. A
 * bound token is not opened here: it was made by the old cluster, and a rebuilt one does not accept it.
 */
import { createClusterConnector } from '../../../adapters/kubernetes/api/cluster-connector.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { clusterUid } from '../../../core/model/identifiers.ts';
import type { ClusterUid } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import { egressPolicy } from '../../../../functions/egress-policy.ts';
import type { Stack } from '../../reach/stack.ts';

/** What was found. */
export type RegisteredIdentity =
  | { readonly kind: 'found'; readonly clusterUid: ClusterUid }
  | { readonly kind: 'unknown'; readonly message: string };

/** As the connector shows a UID that it would not repeat. */
const UID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Asks the endpoint who it is. */
export async function readRegisteredIdentity(
  registration: ClusterRegistration,
  stack: Pick<Stack, 'stage' | 'awsCredentials'>,
): Promise<RegisteredIdentity> {
  const connector = createClusterConnector({
    clock: createSystemClock(),
    awsCredentials: () => stack.awsCredentials(),
    egress: egressPolicy({ ROLLCALL_STAGE: stack.stage }),
  });
  try {
    const answer = await connector.connect(registration);
    if (answer.kind === 'connected') return { kind: 'found', clusterUid: registration.clusterUid };
    const { refusal } = answer;
    switch (refusal.kind) {
      case 'wrong-cluster':
        return UID_PATTERN.test(refusal.foundUid)
          ? { kind: 'found', clusterUid: clusterUid(refusal.foundUid) }
          : { kind: 'unknown', message: 'its kube-system UID has no usual form' };
      case 'no-credential':
        return { kind: 'unknown', message: 'there is no credential that could be used from here' };
      case 'no-token':
        return { kind: 'unknown', message: `there is no usable token: ${refusal.fault}` };
      case 'egress-refused':
        return { kind: 'unknown', message: `${refusal.field} is refused: ${refusal.reason}` };
      case 'unavailable':
        return { kind: 'unknown', message: refusal.message };
    }
  } finally {
    connector.forget(registration.id);
  }
}
