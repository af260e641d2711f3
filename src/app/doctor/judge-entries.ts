/**
 * The finding about the access entries of EKS: one for each role of the functions that connects, `fleet` among them.
 *
 * Pure. A cluster that was registered under a release that had a function less has an entry less, and nothing else says so until that
 * function is refused.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { AccessEntryFact, DoctorFacts } from './facts.ts';
import { failed, notChecked, ok } from './finding.ts';
import type { Finding } from './finding.ts';

/** Undefined but for EKS. */
export function judgeAccessEntries(
  { id, authentication }: ClusterRegistration,
  { accessEntries }: Pick<DoctorFacts, 'accessEntries'>,
): Finding | undefined {
  if (authentication.kind !== 'eks') return undefined;
  if (accessEntries.kind === 'unchecked') {
    const next = 'Pass --cluster-profile NAME of the account in which the cluster is.';
    return notChecked('access-entries', accessEntries.why, next);
  }
  const entries = accessEntries.value;
  const next = `rollcall cluster add ${id} --auth eks`;
  const missing = rolesOf(entries, ['missing']);
  if (missing.length > 0) {
    return failed('access-entries', 'access-entries-missing', {
      seen: `EKS knows these roles of the functions not, and refuses them: ${missing.join(', ')}`,
      next: `${next} makes them`,
    });
  }
  const others = rolesOf(entries, ['differs', 'outlived']);
  if (others.length > 0) {
    return failed('access-entries', 'access-entries-differ', {
      seen: `of another name or group, or older than the role, so that they let nobody in: ${others.join(', ')}`,
      next: `${next} puts them right`,
    });
  }
  return ok('access-entries', 'access-entries-ok', `all ${String(entries.length)} are there`);
}

function rolesOf(
  entries: readonly AccessEntryFact[],
  standings: readonly AccessEntryFact['standing'][],
): readonly string[] {
  return entries
    .filter(({ standing }) => standings.includes(standing))
    .map(({ principalArn }) => principalArn);
}
