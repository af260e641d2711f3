/**
 * The finding about the access entries of EKS: one for each role of the functions that connects, `fleet` among them.
 *
 * Pure. A cluster that was registered under a release that had a function less has an entry less, and nothing else says so until that
 * function is refused.
 */
import { namesakeWarning } from '../clusters/eks-namesakes.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { AccessEntryFact, DoctorFacts } from './facts.ts';
import { failed, notChecked, ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

/** Undefined but for EKS. */
export function judgeAccessEntries(
  registration: ClusterRegistration,
  { accessEntries, namesakes }: Pick<DoctorFacts, 'accessEntries' | 'namesakes'>,
): Finding | undefined {
  const { id, authentication } = registration;
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
  const shared =
    namesakes.kind === 'checked' ? namesakeWarning(registration, namesakes.value) : undefined;
  if (shared !== undefined) {
    const way =
      'Give each cluster a name of its own in EKS, or a deployment of Rollcall of its own';
    return warning('access-entries', 'access-entries-name-shared', { seen: shared, next: way });
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
