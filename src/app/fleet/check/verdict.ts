/**
 * What the answer of one cluster to a server-side dry run says about a FleetDaemonSet. Pure.
 *
 * Three things keep a cluster from counting against it: it could not be asked; a webhook of it takes no dry run, so nothing is
 * known; and whoever asks has no right there, which says nothing of the rights of the functions. Where the credential is
 * the functions' own, a missing right is theirs. What an API server says is told as ports/cluster/manifest-access.ts
 * bounds it: without values of the manifest.
 */
import type { ClusterId } from '../../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ConnectRefusal } from '../../../ports/cluster/cluster-access.ts';
import type { FieldConflict, ManifestOutcome } from '../../../ports/cluster/manifest-access.ts';
import type { FleetRefusal } from '../refusals.ts';

/** What a cluster says. Only `conflict` and `refused` speak against it. */
export type CheckVerdict =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'conflict'; readonly conflicts: readonly FieldConflict[] }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'not-checked'; readonly message: string };

/** The verdict of one cluster. */
export type ClusterCheck = CheckVerdict & { readonly id: ClusterId };

/** As the API server words it (apiserver, webhook/errors). */
const NO_DRY_RUN = /does not support dry run/;
/** As RBAC is told (apiserver, handlers/responsewriters). Admission refuses with the same status, and other words. */
const NO_RIGHT = /\bcannot [a-z]+ resource\b/;

/** True of a webhook that cannot be asked: what it would say is not known. */
export function takesNoDryRun({
  status,
  message,
}: Pick<Extract<ManifestOutcome, { readonly kind: 'refused' }>, 'status' | 'message'>): boolean {
  return status === 400 && NO_DRY_RUN.test(message);
}

/** What the answer to a dry run says. */
export function verdictOf(
  outcome: ManifestOutcome,
  { authentication }: Pick<ClusterRegistration, 'authentication'>,
): CheckVerdict {
  switch (outcome.kind) {
    case 'applied':
      return { kind: 'accepted' };
    case 'conflict':
      return { kind: 'conflict', conflicts: outcome.conflicts };
    case 'changed':
      return notChecked('somebody changed it at the same time');
    case 'unavailable':
      return notChecked(outcome.message);
    case 'refused': {
      const { status, message } = outcome;
      if (takesNoDryRun(outcome)) return notChecked(message);
      const isFunctions = authentication.kind !== 'eks';
      const isRight = status === 403 && NO_RIGHT.test(message) && !isFunctions;
      return isRight ? notChecked(`you may not ask: ${message}`) : { kind: 'refused', message };
    }
  }
}

/** What it says that a cluster could not be connected to. */
export function unconnected(refusal: ConnectRefusal): CheckVerdict {
  switch (refusal.kind) {
    case 'no-credential':
      return notChecked('there is no credential for it here');
    case 'no-token':
      return notChecked(`there is no usable token for it: ${refusal.fault}`);
    case 'wrong-cluster':
      return notChecked('another cluster answers at its address');
    case 'egress-refused':
      return notChecked(
        `its address may not be connected to (${refusal.field}: ${refusal.reason})`,
      );
    case 'unavailable':
      return notChecked(refusal.message);
  }
}

/** It was not asked, and why. */
export function notChecked(message: string): CheckVerdict {
  return { kind: 'not-checked', message };
}

/** What speaks against it, by cluster and field. */
export function problemsOf(checks: readonly ClusterCheck[]): FleetRefusal['problems'] {
  return checks.flatMap((check): FleetRefusal['problems'] => {
    const { id: cluster } = check;
    if (check.kind === 'refused') return [{ cluster, field: '', message: check.message }];
    if (check.kind !== 'conflict') return [];
    return check.conflicts.map(({ manager, field }) => ({
      cluster,
      field,
      message: `is owned by ${manager}`,
    }));
  });
}
