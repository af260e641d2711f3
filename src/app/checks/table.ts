/**
 * Every check: what it is of, what it needs to know, and who judges that.
 *
 * `cluster doctor`, `cluster show` and `stack check` print their parts of it.
 */
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { Finding } from './finding.ts';
import {
  judgeAccessEntries,
  judgeAdmission,
  judgeCredential,
  judgeFunctionsRights,
  judgeRequestsRights,
  judgeWatcherRights,
} from './judge-credential.ts';
import { judgeClock, judgeEndpoint, judgeIdentity } from './judge-endpoint.ts';
import { judgeCopilot, judgeFleets } from './judge-fleets.ts';
import { judgeIssuer } from './judge-issuer.ts';
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
import { judgeConcurrency, judgeRegistryTable, judgeTriggers, judgeTurns } from './judge-stack.ts';
import {
  judgeBreaker,
  judgeFreshness,
  judgeLease,
  judgeRival,
  judgeStandBy,
  judgeView,
  judgeWatcher,
} from './judge-view.ts';
import type { Facts, Need, Read } from './needs.ts';

/** `account`: what `stack check` asks AWS. `stack`, `cluster`: the doctor's, the latter of one cluster. */
export type CheckOf = 'account' | 'stack' | 'cluster';

export interface Check {
  readonly of: CheckOf;
  /** Beside the registration, for those of a cluster. */
  readonly needs: readonly Need[];
  readonly judge: (facts: Facts) => Judged;
}

type Judged = Finding | undefined | readonly (Finding | undefined)[];

/** Checks in the order in which findings are shown. */
const CHECKS: readonly Check[] = [
  of('account', ['concurrency'], judgeConcurrency),
  of('account', ['registryTable', 'stack'], judgeRegistryTable),
  // Where there is no registry to ask, another row says so.
  of('account', ['freeze'], (facts) =>
    facts.freeze.kind === 'checked' ? judgeStackFreeze(facts) : undefined,
  ),
  of('account', ['switchedOff', 'standing'], judgeTriggers),
  of('account', ['switchedOff', 'standing'], judgeTurns),
  of('stack', ['registration'], judgeRegistration),
  of('stack', ['freeze'], (facts) => judgeStackFreeze(facts, { namesMax: 5 })),
  ofCluster([], judgeFreeze),
  ofCluster([], judgeMode),
  of('stack', ['deployment'], judgeDeployment),
  of('stack', ['standing', 'missed'], judgeFunctions),
  ofCluster(['endpoint'], judgeEndpoint),
  ofCluster(['identity'], judgeIdentity),
  ofCluster(['credential', 'token', 'refusals'], judgeCredential),
  ofCluster(['accessEntries', 'namesakes'], judgeAccessEntries),
  ofCluster(['functionsRights'], judgeFunctionsRights),
  ofCluster(['requestsRights'], judgeRequestsRights),
  ofCluster(['watcherRights'], (_, facts) => judgeWatcherRights(facts)),
  ofCluster(['admission', 'deployment'], judgeAdmission),
  ofCluster(['lease'], (_, facts) => judgeLease(facts)),
  ofCluster(['watcher', 'lease', 'deployment'], (_, facts) => judgeWatcher(facts)),
  ofCluster(['issuer', 'deployment'], (_, facts) => judgeIssuer(facts)),
  ofCluster(['meta'], judgeStandBy),
  of('stack', ['eventsQueue'], judgeEventsQueue),
  of('stack', ['deadLetterQueues'], judgeDeadLetters),
  ofCluster(['sender'], judgeSender),
  ofCluster(['refusals', 'meta'], judgeRefusals),
  ofCluster(['meta'], (_, facts) => judgeFreshness(facts)),
  ofCluster(['meta'], judgeView),
  ofCluster(['meta'], (_, facts) => judgeBreaker(facts)),
  ofCluster(['sentinel', 'observed'], judgeRival),
  ofCluster(['observed', 'listed', 'fleets'], judgeCopilot),
  ofCluster(['fleets', 'fleetRights', 'deployment'], judgeFleets),
  ofCluster(['endpoint'], (_, facts) => judgeClock(facts)),
];

function of<N extends Need>(
  what: CheckOf,
  needs: readonly N[],
  judge: (facts: Facts<N>) => Judged,
): Check {
  return { of: what, needs, judge };
}

/** Nothing is found where there is no registration to compare with. */
function ofCluster<N extends Need>(
  needs: readonly N[],
  judge: (registration: ClusterRegistration, facts: Facts<N>) => Judged,
): Check {
  return of('cluster', [...needs, 'registration' as const], (facts) => {
    const { registration: known } = facts;
    if (known.kind === 'unchecked' || known.value.kind !== 'found') return undefined;
    return judge(known.value.registration, facts);
  });
}

/** The checks of these, in their order. */
export function checksOf(...parts: readonly CheckOf[]): readonly Check[] {
  return CHECKS.filter((check) => parts.includes(check.of));
}

/** Reads everything that the checks need, side by side. `nowMs` is asked for once all of it is there. */
export async function readFacts(
  checks: readonly Check[],
  read: Read,
  nowMs: () => number,
): Promise<Facts> {
  const needs = [...new Set(checks.flatMap((check) => check.needs))];
  const facts = await Promise.all(needs.map(async (need) => [need, await read(need)] as const));
  // Entries cannot say that each need has its own value; a judge gets no more than its row names.
  return { nowMs: nowMs(), ...Object.fromEntries(facts) } as Facts;
}

/** What the checks find. `facts` are at least what they need. */
export function judgeAll(
  checks: readonly Check[],
  facts: Facts<never> & Partial<Facts>,
): readonly Finding[] {
  return checks.flatMap(({ judge }) => judge(facts as Facts)).filter((one) => one !== undefined);
}
