/**
 * As whom the parts of Rollcall appear in a cluster, for reviews of what they may do there.
 *
 * By their names alone: whoever reviews needs no credential of theirs.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { RightsOf } from '../../ports/cluster/cluster-inspection.ts';
import { FUNCTIONS_ACCOUNTS, subjectOf } from '../../ports/stores/credential-store.ts';
import type { TokenPurpose } from '../../ports/stores/credential-store.ts';

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:rollcall-system'];
const AUTHENTICATED = 'system:authenticated';
/** The watcher of a cluster. */
export const WATCHER: RightsOf = {
  user: 'system:serviceaccount:rollcall-system:rollcall-watcher',
  groups: [...ACCOUNTS, AUTHENTICATED],
};

/** As whom the functions appear: on EKS by their access entry, elsewhere by their service account. */
export function functionsIdentity(
  { authentication }: Pick<ClusterRegistration, 'authentication'>,
  purpose: TokenPurpose,
): RightsOf {
  const name = FUNCTIONS_ACCOUNTS[purpose];
  if (authentication.kind === 'eks') return { user: name, groups: [name, AUTHENTICATED] };
  return { user: subjectOf(purpose), groups: [...ACCOUNTS, AUTHENTICATED] };
}
