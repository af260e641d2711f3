/** The registration of the simulated cluster. */
import { clusterId, type ClusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';

/** The name under which it is registered. */
export const CLUSTER = clusterId('alpha');

/** The role of its watcher. */
export const SENDER = 'AROAWATCHER';

/** What the functions show to its API server: it may stand nowhere but in the registration (S11). */
export const CREDENTIAL = 'not-a-secret-but-marked-as-one';

/** A registration that allows everything. */
export function registrationOf(clusterUid: ClusterUid): ClusterRegistration {
  return {
    id: CLUSTER,
    clusterUid,
    mode: 'takeover',
    isFrozen: false,
    configVersion: 1,
    senderRoleId: SENDER,
    server: 'https://127.0.0.1:6443',
    authentication: { kind: 'bearer', token: CREDENTIAL },
    labels: {},
  };
}
