/**
 * What `cluster show` reads of one cluster: registration, META, its sealed token's times, its DaemonSets.
 *
 * Of a sealed token only the times leave this module.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { CredentialStore } from '../../../ports/stores/credential-store.ts';
import type { ViewStore } from '../../../ports/stores/view-store.ts';

/** Everything that is read. */
export interface ClusterDetails {
  readonly registration: ClusterRegistration;
  /** Absent: nothing was ever heard of the cluster. */
  readonly meta?: ClusterMeta;
  /** Of a bound token, if one was sent. */
  readonly token?: {
    readonly issuedAtMs: number;
    readonly expiresAtMs: number;
    /** False if it was sealed for another cluster UID than the registered one. */
    readonly isOfThisCluster: boolean;
  };
  readonly daemonSets: {
    readonly count: number;
    /** False if there are more than were counted. */
    readonly isCounted: boolean;
  };
  readonly nowMs: number;
}

/** Where it is read. */
export interface DetailSources {
  readonly view: Pick<ViewStore, 'readMeta' | 'listNames'>;
  readonly credentials: Pick<CredentialStore, 'readToken'>;
  readonly clock: Clock;
}

const NAMES_PER_PAGE = 500;
const PAGES_MAX = 20;

/** Reads the details of a registered cluster. */
export async function readDetails(
  registration: ClusterRegistration,
  sources: DetailSources,
): Promise<ClusterDetails> {
  const { view, clock } = sources;
  const [meta, token, daemonSets] = await Promise.all([
    view.readMeta(registration.clusterUid),
    readToken(registration, sources),
    countDaemonSets(registration, sources),
  ]);
  return {
    registration,
    ...defined({ meta, token }),
    daemonSets,
    nowMs: clock.nowMs(),
  };
}

async function readToken(
  { id, clusterUid, authentication }: ClusterRegistration,
  { credentials }: DetailSources,
): Promise<ClusterDetails['token']> {
  if (authentication.kind !== 'bound-token') return undefined;
  const sealed = await credentials.readToken(id, 'act');
  if (sealed === undefined) return undefined;
  const { issuedAtMs, expiresAtMs } = sealed;
  return { issuedAtMs, expiresAtMs, isOfThisCluster: sealed.clusterUid === clusterUid };
}

async function countDaemonSets(
  { clusterUid }: ClusterRegistration,
  { view }: DetailSources,
): Promise<ClusterDetails['daemonSets']> {
  let count = 0;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const listed = await view.listNames(clusterUid, {
      limit: NAMES_PER_PAGE,
      ...defined({ cursor }),
    });
    count += listed.names.length;
    ({ cursor } = listed);
    if (cursor === undefined) return { count, isCounted: true };
  }
  return { count, isCounted: false };
}
