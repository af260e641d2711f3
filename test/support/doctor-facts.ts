/** Facts about a cluster in health, for tests of the doctor: each test spoils one. */
import type { Finding } from '../../src/app/checks/finding.ts';
import { checked, type Facts, type Need } from '../../src/app/checks/needs.ts';
import { checksOf, judgeAll } from '../../src/app/checks/table.ts';
import { clusterUid, uid } from '../../src/core/model/identifiers.ts';
import { NO_FREEZE } from '../../src/core/may-act/freeze.ts';
import { WATCHED_KINDS } from '../../src/core/model/projections.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { metaOf, registrationOf } from './store-suite.ts';

/** What the doctor reads; `stack check` reads the rest. */
export type DoctorFacts = Facts<
  Exclude<Need, 'stack' | 'concurrency' | 'registryTable' | 'switchedOff'>
>;

/** What `cluster doctor` finds in facts. */
export const diagnose = (facts: DoctorFacts): readonly Finding[] =>
  judgeAll(checksOf('stack', 'cluster'), facts);

/** When the doctor looks. */
export const DOCTOR_NOW_MS = Date.UTC(2026, 10, 21, 12);

/** A cluster that was taken over. */
export const takenOver: ClusterRegistration = {
  ...registrationOf('c1'),
  mode: 'takeover',
  authentication: { kind: 'bearer', token: 't' },
  takeoverProbedAtMs: 0,
  sentinel: { uid: uid('s'), createdAtMs: 1 },
};

/** Nothing is wrong. */
export function healthyFacts(registration: ClusterRegistration = takenOver): DoctorFacts {
  const nowMs = DOCTOR_NOW_MS;
  const heardAtMs = Object.fromEntries(WATCHED_KINDS.map((kind) => [kind, nowMs - 3000]));
  const rights = { required: 5, missing: [], missingIn: [], by: 'registration' } as const;
  const queue = { kind: 'found', waiting: 0, inFlight: 0 } as const;
  return {
    nowMs,
    registration: checked({ kind: 'found', registration }),
    freeze: checked(NO_FREEZE),
    standing: checked({ walkedAtMs: nowMs - 60_000 }),
    missed: checked([]),
    deployment: checked({ release: '1.0.0', ownRelease: '1.0.0' }),
    endpoint: checked({
      address: { kind: 'judged', host: 'cluster.example', port: 443, isPrivate: false },
      name: { kind: 'resolved', count: 2 },
      connection: { kind: 'connected', afterMs: 3 },
      tls: { kind: 'trusted', validUntilMs: nowMs + 90 * 86_400_000 },
      answer: { kind: 'answered', status: 401, isKubernetes: true, clockAheadMs: 400 },
    }),
    identity: checked({ uid: registration.clusterUid, by: 'registration' }),
    token: checked({
      kind: 'found',
      clusterUid: clusterUid(registration.clusterUid),
      issuedAtMs: nowMs - 600_000,
      expiresAtMs: nowMs + 3_000_000,
    }),
    credential: checked('accepted'),
    issuer: checked({
      kind: 'published',
      issuer: 'https://oidc.example.com/c1',
      keyCount: 1,
      missing: [],
    }),
    functionsRights: checked(rights),
    requestsRights: checked(rights),
    watcherRights: checked(rights),
    admission: checked({ missing: [] }),
    lease: checked({
      kind: 'found',
      holder: 'i1',
      renewedAtMs: nowMs - 5000,
      durationMs: 40_000,
    }),
    watcher: checked({ kind: 'found', wanted: 1, ready: 1 }),
    eventsQueue: checked(queue),
    deadLetterQueues: checked([{ name: 'events', fact: queue }]),
    sender: checked({ roleName: 'rollcall-dev-c1-watcher', roleId: registration.senderRoleId }),
    refusals: checked([]),
    meta: checked({
      ...metaOf(registration.clusterUid),
      isComplete: true,
      lastSentAtMs: nowMs - 3000,
      heardAtMs,
    }),
    sentinel: checked('quiet'),
    observed: checked({ total: 3, behind: [], followed: [], rollingUpdate: [] }),
    listed: checked([]),
    accessEntries: checked([]),
    namesakes: checked([]),
    fleets: checked({ placed: ['ops/agent'], unreadable: [], late: [] }),
    fleetRights: checked({ ...rights, required: 3, isOfAll: false }),
  };
}
