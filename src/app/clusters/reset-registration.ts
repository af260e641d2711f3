/**
 * The registration of a cluster that was rebuilt under its old name (row 90).
 *
 * Pure. What was true of the old cluster is forgotten: its identity, takeover with its probe and sentinel,
 * a rival. What an operator decided stays: freeze, labels, endpoint, roles. Mode is observe: takeover is
 * entered anew, with its probe. It is one write, and touches nothing in any cluster.
 */
import type { ClusterUid } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';

/** The registration as it shall be; its configVersion is what it was. */
export function resetRegistration(
  registration: ClusterRegistration,
  found: { readonly clusterUid: ClusterUid; readonly caPem?: string },
): ClusterRegistration {
  const {
    rival: _rival,
    sentinel: _sentinel,
    takeoverProbedAtMs: _probed,
    caPem: oldCa,
    ...kept
  } = registration;
  const caPem = found.caPem ?? oldCa;
  return {
    ...kept,
    clusterUid: found.clusterUid,
    mode: 'observe',
    ...(caPem === undefined ? {} : { caPem }),
  };
}
