/**
 * Clusters whose EKS tokens open each other: a token names the cluster, and neither its account nor its region.
 *
 * A thief of the token for `prod` in one region can send it, for 15 minutes, to each cluster of that name
 * that lets the same role in (docs/security.md).
 */
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';

type Named = Pick<ClusterRegistration, 'id' | 'authentication'>;

/** Other registrations with the same name in EKS, in the order given; none of a cluster that EKS does not name. */
export function eksNamesakes(
  { id, authentication }: Named,
  registrations: Iterable<Named>,
): readonly ClusterId[] {
  if (authentication.kind !== 'eks') return [];
  return [...registrations]
    .filter(
      (other) =>
        other.id !== id &&
        other.authentication.kind === 'eks' &&
        other.authentication.clusterName === authentication.clusterName,
    )
    .map((other) => other.id);
}

/** A warning for a person; undefined: no other cluster has the name. */
export function namesakeWarning(
  { authentication }: Named,
  namesakes: readonly ClusterId[],
): string | undefined {
  if (authentication.kind !== 'eks' || namesakes.length === 0) return undefined;
  const [first = '', ...others] = namesakes;
  const more = others.length === 0 ? '' : ` and ${String(others.length)} more`;
  return (
    `EKS knows ${first}${more} as ${authentication.clusterName} too: a token for one of them opens ` +
    'the others for 15 minutes, as EKS tokens hold no account and no region'
  );
}
