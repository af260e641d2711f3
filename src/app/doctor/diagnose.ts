/**
 * From facts to findings: every link once, in the order in which they depend on each other. Pure.
 *
 * Without a registration there is nothing to compare with, so only that and the stack's own links are
 * judged.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { DoctorFacts } from './facts.ts';
import { LINKS } from './finding.ts';
import type { Finding } from './finding.ts';
import {
  judgeAdmission,
  judgeCredential,
  judgeFunctionsRights,
  judgeRequestsRights,
  judgeWatcherRights,
} from './judge-credential.ts';
import { judgeCopilot } from './judge-copilot.ts';
import { judgeAccessEntries } from './judge-entries.ts';
import { judgeFleets } from './judge-fleets.ts';
import { judgeClock, judgeEndpoint, judgeIdentity } from './judge-endpoint.ts';
import {
  judgeDeadLetters,
  judgeEventsQueue,
  judgeRefusals,
  judgeSender,
} from './judge-messages.ts';
import {
  judgeDeployment,
  judgeFreeze,
  judgeFunctions,
  judgeMode,
  judgeRegistration,
  judgeStackFreeze,
} from './judge-registration.ts';
import {
  judgeBreaker,
  judgeFreshness,
  judgeLease,
  judgeRival,
  judgeStandBy,
  judgeView,
  judgeWatcher,
} from './judge-view.ts';

/** All findings about one cluster, in the order of LINKS. */
export function diagnose(facts: DoctorFacts): readonly Finding[] {
  const { registration } = facts;
  const found = [
    judgeRegistration(facts),
    ...judgeStackFreeze(facts),
    judgeDeployment(facts),
    ...judgeFunctions(facts),
    judgeEventsQueue(facts),
    judgeDeadLetters(facts),
    ...(registration.kind === 'found' ? judgeCluster(registration.registration, facts) : []),
  ].filter((one) => one !== undefined);
  // Stable: several findings of one link stay in their order.
  return found.sort((left, right) => LINKS.indexOf(left.link) - LINKS.indexOf(right.link));
}

function judgeCluster(
  registration: ClusterRegistration,
  facts: DoctorFacts,
): readonly (Finding | undefined)[] {
  return [
    judgeFreeze(registration),
    judgeMode(registration),
    ...judgeEndpoint(registration, facts),
    judgeIdentity(registration, facts),
    judgeCredential(registration, facts),
    judgeAccessEntries(registration, facts),
    judgeFunctionsRights(registration, facts),
    judgeRequestsRights(registration, facts),
    judgeWatcherRights(facts),
    judgeAdmission(registration, facts),
    judgeLease(facts),
    judgeWatcher(facts),
    judgeStandBy(registration, facts),
    judgeSender(registration, facts),
    ...judgeRefusals(registration, facts),
    judgeFreshness(facts),
    judgeView(registration, facts),
    judgeBreaker(facts),
    judgeRival(registration, facts),
    ...judgeCopilot(registration, facts),
    ...judgeFleets(registration, facts),
    judgeClock(facts),
  ];
}

/** True if a link has failed: the exit code of `cluster doctor`. */
export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === 'failed');
}
