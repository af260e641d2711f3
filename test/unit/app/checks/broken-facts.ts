/** DoctorFacts in which one thing is wrong, and the finding that names it. */
import assert from 'node:assert/strict';
import { checked, type ObservedFact } from '../../../../src/app/checks/needs.ts';
import type { FindingLevel } from '../../../../src/app/checks/finding-codes.ts';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../../../src/core/model/registration.ts';
import type { ClusterMeta } from '../../../../src/core/model/view-items.ts';
import type { EndpointFacts } from '../../../../src/ports/cluster/cluster-inspection.ts';
import { DOCTOR_NOW_MS, healthyFacts, takenOver } from '../../../support/doctor-facts.ts';
import type { DoctorFacts } from '../../../support/doctor-facts.ts';

/** One minute. */
export const MINUTE_MS = 60_000;
/** A cluster that is only looked at. */
export const observed: ClusterRegistration = {
  ...takenOver,
  mode: 'observe',
  authentication: { kind: 'none' },
};
/** A cluster that sends its tokens itself. */
export const boundToken: ClusterRegistration = {
  ...takenOver,
  authentication: { kind: 'bound-token', renewerRoleId: 'AROA2' },
};

/** One beside the built-in controller. */
export const copilot: ClusterRegistration = { ...boundToken, mode: 'copilot' };

const NOBODY: ObservedFact = { total: 0, behind: [], followed: [], rollingUpdate: [] };
const inCopilot = (standing: Partial<ObservedFact>, listed: readonly string[]): DoctorFacts =>
  with_(
    { observed: checked({ ...NOBODY, total: 9, ...standing }), listed: checked(listed) },
    healthyFacts(copilot),
  );

const withRegistration = (changes: Partial<ClusterRegistration>): DoctorFacts =>
  healthyFacts({ ...takenOver, ...changes });
const withEndpoint = (changes: Partial<EndpointFacts>, step?: keyof EndpointFacts): DoctorFacts => {
  const facts = healthyFacts();
  assert.ok(facts.endpoint.kind === 'checked');
  const order = ['address', 'name', 'connection', 'tls', 'answer'] as const;
  const kept = order.slice(0, step === undefined ? undefined : order.indexOf(step) + 1);
  const all = { ...facts.endpoint.value, ...changes };
  const value = Object.fromEntries(kept.map((one) => [one, all[one]])) as unknown as EndpointFacts; // as many steps as were reached
  return { ...facts, endpoint: checked(value) };
};
/** Healthy facts with another META. */
export const withMeta = (changes: Partial<ClusterMeta>, base = healthyFacts()): DoctorFacts => {
  assert.ok(base.meta.kind === 'checked' && base.meta.value !== undefined);
  return { ...base, meta: checked({ ...base.meta.value, ...changes }) };
};
/** Healthy facts with something else in them. */
export const with_ = (changes: Partial<DoctorFacts>, base = healthyFacts()): DoctorFacts => ({
  ...base,
  ...changes,
});
/** One refused message of the watcher. */
export const refusal = (code: string, ageMinutes: number): DoctorFacts['refusals'] =>
  checked([
    {
      queue: 'ingest',
      code,
      atMs: DOCTOR_NOW_MS - ageMinutes * MINUTE_MS,
      senderRoleId: 'AROA9',
      detail: 'uid-2',
    },
  ]);
const long = 3 * 60 * MINUTE_MS;
const queue = (waiting: number) => ({ kind: 'found', waiting, inFlight: 0 }) as const;
/** One that is not granted. */
export const missingRight = { group: 'apps', resource: 'daemonsets', verb: 'get' };

/** One thing that is wrong, and what is found. */
export interface Case {
  readonly code: string;
  readonly level: FindingLevel;
  readonly facts: DoctorFacts;
  readonly says?: RegExp;
}

const FROZEN = { by: 'ann', why: 'bad kernel', atMs: 1 };

/** Every finding but those of broken-fleets.ts. */
export const CASES: readonly Case[] = [
  {
    code: 'registration-missing',
    level: 'failed',
    facts: with_({ registration: checked({ kind: 'missing' }) }),
  },
  {
    code: 'registration-unreadable',
    level: 'failed',
    facts: with_({
      registration: checked({ kind: 'unreadable', message: 'is no registration: mode' }),
    }),
    says: /counts as frozen/,
  },
  {
    code: 'frozen',
    level: 'warning',
    facts: withRegistration({ isFrozen: true, frozen: FROZEN }),
    says: /frozen by ann \(bad kernel\)/,
  },
  {
    code: 'stack-frozen',
    level: 'warning',
    facts: with_({ freeze: checked({ version: 1, all: FROZEN, daemonSets: {} }) }),
    says: /frozen by ann \(bad kernel\).*any cluster/,
  },
  {
    code: 'daemon-set-frozen',
    level: 'warning',
    facts: with_({ freeze: checked({ version: 1, daemonSets: { 'ns/agent': FROZEN } }) }),
    says: /by ann.*ns\/agent/,
  },
  {
    code: 'freeze-unreadable',
    level: 'failed',
    facts: with_({ freeze: checked('unreadable') }),
    says: /counts as frozen/,
  },
  {
    code: 'mode-without-credential',
    level: 'failed',
    facts: withRegistration({ authentication: { kind: 'none' } }),
  },
  {
    code: 'mode-never-probed',
    level: 'failed',
    facts: healthyFacts((({ takeoverProbedAtMs: _never, ...rest }) => rest)(takenOver)),
  },
  {
    code: 'deployment-other-release',
    level: 'warning',
    facts: with_({ deployment: checked({ release: '0.9.0', ownRelease: '1.0.0' }) }),
  },
  {
    code: 'address-refused',
    level: 'failed',
    facts: withEndpoint(
      { address: { kind: 'egress-refused', field: 'server', reason: 'private' } },
      'address',
    ),
    says: /private-range/,
  },
  {
    code: 'name-unresolved',
    level: 'failed',
    facts: withEndpoint({ name: { kind: 'failed', code: 'ENOTFOUND' } }, 'name'),
  },
  {
    code: 'connection-failed',
    level: 'failed',
    facts: withEndpoint({ connection: { kind: 'failed', code: 'ETIMEDOUT' } }, 'connection'),
  },
  {
    code: 'connection-unchecked',
    level: 'unknown',
    facts: withEndpoint(
      {
        address: { kind: 'judged', host: 'cluster.internal', port: 443, isPrivate: true },
        connection: { kind: 'failed', code: 'ETIMEDOUT' },
      },
      'connection',
    ),
  },
  ...(
    ['untrusted', 'other-name', 'expired', 'not-yet-valid', 'unreadable-ca', 'other'] as const
  ).map((fault): Case => ({
    code: `tls-${fault}`,
    level: 'failed',
    facts: withEndpoint({ tls: { kind: 'failed', fault, code: 'X' } }, 'tls'),
  })),
  {
    code: 'tls-ends-soon',
    level: 'warning',
    facts: withEndpoint({ tls: { kind: 'trusted', validUntilMs: DOCTOR_NOW_MS + 86_400_000 } }),
  },
  {
    code: 'api-server-silent',
    level: 'failed',
    facts: withEndpoint({ answer: { kind: 'failed', code: 'ETIMEDOUT' } }),
  },
  {
    code: 'api-server-other',
    level: 'failed',
    facts: withEndpoint({ answer: { kind: 'answered', status: 200, isKubernetes: false } }),
  },
  {
    code: 'clock-skewed',
    level: 'warning',
    facts: withEndpoint({
      answer: { kind: 'answered', status: 200, isKubernetes: true, clockAheadMs: -90_000 },
    }),
    says: /90 s behind/,
  },
  {
    code: 'cluster-rebuilt',
    level: 'failed',
    facts: with_({ identity: checked({ uid: 'uid-2', by: 'registration' }) }),
    says: /cluster reset c1/,
  },
  {
    code: 'credential-refused',
    level: 'failed',
    facts: with_({ credential: checked('unauthorized') }),
  },
  {
    code: 'credential-without-rights',
    level: 'failed',
    facts: with_({ credential: checked('forbidden') }),
  },
  {
    code: 'credential-missing',
    level: 'failed',
    facts: with_({ token: checked({ kind: 'missing' }) }, healthyFacts(boundToken)),
  },
  ...(
    [
      ['credential-expired', -1, 'failed'],
      ['credential-ends-soon', MINUTE_MS, 'warning'],
    ] as const
  ).map(([code, leftMs, level]): Case => ({
    code,
    level,
    facts: with_(
      {
        token: checked({
          kind: 'found',
          clusterUid: takenOver.clusterUid,
          issuedAtMs: DOCTOR_NOW_MS - 3_600_000,
          expiresAtMs: DOCTOR_NOW_MS + leftMs,
        }),
      },
      healthyFacts(boundToken),
    ),
  })),
  {
    code: 'credential-other-cluster',
    level: 'failed',
    facts: with_(
      {
        token: checked({
          kind: 'found',
          clusterUid: clusterUid('uid-0'),
          issuedAtMs: 1,
          expiresAtMs: DOCTOR_NOW_MS + 3_600_000,
        }),
      },
      healthyFacts(boundToken),
    ),
  },
  {
    code: 'functions-rights-missing',
    level: 'failed',
    facts: with_({
      functionsRights: checked({
        required: 9,
        missing: [missingRight],
        missingIn: [],
        by: 'registration',
      }),
    }),
    says: /1 of 9 rights are missing: get apps daemonsets/,
  },
  {
    code: 'functions-rights-missing',
    level: 'failed',
    says: /nodes.* Write the taint into infra\/start-up\/admission\.yaml/,
    facts: with_({
      functionsRights: checked({
        required: 9,
        missing: [{ group: '', resource: 'nodes', verb: 'patch' }],
        missingIn: [],
        by: 'registration',
      }),
    }),
  },
  {
    code: 'functions-rights-by-namespace',
    level: 'warning',
    facts: with_({
      functionsRights: checked({ required: 9, missing: [], missingIn: ['b'], by: 'kubeconfig' }),
    }),
  },
  {
    code: 'requests-rights-missing',
    level: 'failed',
    facts: {
      ...healthyFacts(boundToken),
      requestsRights: checked({
        required: 3,
        missing: [missingRight],
        missingIn: [],
        by: 'kubeconfig',
      }),
    },
  },
  {
    code: 'watcher-rights-missing',
    level: 'failed',
    facts: with_({
      watcherRights: checked({
        required: 9,
        missing: [missingRight],
        missingIn: [],
        by: 'kubeconfig',
      }),
    }),
  },
  {
    code: 'admission-missing',
    level: 'warning',
    facts: with_({ admission: checked({ missing: ['rollcall-pods'] }) }),
  },
  {
    code: 'admission-missing',
    level: 'warning',
    says: /a start-up taint stays, .* Write the taint into infra\/start-up\/admission\.yaml/,
    facts: with_({
      admission: checked({
        missing: ['ValidatingAdmissionPolicy rollcall-start-up for that taint'],
      }),
    }),
  },
  { code: 'lease-missing', level: 'failed', facts: with_({ lease: checked({ kind: 'missing' }) }) },
  {
    code: 'lease-stale',
    level: 'failed',
    facts: with_({
      lease: checked({
        kind: 'found',
        holder: 'i1',
        renewedAtMs: DOCTOR_NOW_MS - 81_000,
        durationMs: 40_000,
      }),
    }),
  },
  {
    code: 'watcher-not-installed',
    level: 'warning',
    facts: with_({ watcher: checked({ kind: 'missing', what: 'deployment' }) }),
    says: /and yet a watcher holds the Lease/,
  },
  {
    code: 'watcher-not-ready',
    level: 'failed',
    facts: with_({
      watcher: checked({ kind: 'found', wanted: 1, ready: 0, trouble: 'CrashLoopBackOff' }),
    }),
  },
  {
    code: 'events-queue-missing',
    level: 'failed',
    facts: with_({ eventsQueue: checked({ kind: 'missing' }) }),
  },
  {
    code: 'events-queue-backlog',
    level: 'warning',
    facts: with_({ eventsQueue: checked(queue(5000)) }),
  },
  {
    code: 'dead-letters-waiting',
    level: 'warning',
    facts: with_({ deadLetterQueues: checked([{ name: 'delay', fact: queue(2) }]) }),
    says: /2 in delay/,
  },
  {
    code: 'sender-differs',
    level: 'failed',
    facts: with_({ sender: checked({ roleName: 'r', roleId: 'AROANEW' }) }),
  },
  {
    code: 'sender-missing',
    level: 'failed',
    facts: with_({ sender: checked({ roleName: 'r', roleId: undefined }) }),
  },
  ...['wrong-cluster-uid', 'wrong-sender', 'wrong-group', 'unknown-cluster'].map((code): Case => ({
    code: `refused-${code}`,
    level: 'failed',
    facts: withMeta(
      { lastSentAtMs: DOCTOR_NOW_MS - 10 * MINUTE_MS },
      with_({ refusals: refusal(code, 2) }),
    ),
    says: code === 'wrong-cluster-uid' ? /\(uid-2\)/ : /AROA9/,
  })),
  {
    code: 'refused-unreadable',
    level: 'failed',
    facts: withMeta(
      { lastSentAtMs: DOCTOR_NOW_MS - 10 * MINUTE_MS },
      with_({ refusals: refusal('unsupported-schema', 2) }),
    ),
  },
  {
    code: 'refused-wrong-sender',
    level: 'warning',
    facts: with_({ refusals: refusal('wrong-sender', 2) }),
    says: /and it is over/,
  },
  { code: 'never-heard', level: 'failed', facts: with_({ meta: checked(undefined) }) },
  {
    code: 'cluster-silent',
    level: 'failed',
    facts: withMeta({ lastSentAtMs: DOCTOR_NOW_MS - long }),
  },
  {
    code: 'stream-silent',
    level: 'failed',
    facts: withMeta({ heardAtMs: { Pod: DOCTOR_NOW_MS - long } }),
    says: /Pod/,
  },
  {
    code: 'view-incomplete',
    level: 'warning',
    facts: withMeta({
      isComplete: false,
      incompleteReason: 'seq-skipped',
      snapshotRequestedAtMs: DOCTOR_NOW_MS - MINUTE_MS,
    }),
    says: /seq-skipped.*was asked for/,
  },
  {
    code: 'view-awaits-snapshot',
    level: 'warning',
    facts: withRegistration({ takeoverProbedAtMs: 9 }),
  },
  {
    code: 'view-stuck',
    level: 'failed',
    facts: withMeta({
      isComplete: false,
      incompleteReason: 'set-hash',
      snapshotRequestedAtMs: DOCTOR_NOW_MS - long,
    }),
  },
  {
    code: 'breaker-open',
    level: 'failed',
    facts: withMeta({
      breaker: {
        version: 1,
        failures: 0,
        openings: 2,
        open: { untilMs: DOCTOR_NOW_MS + 1000, delayMs: 2000 },
      },
    }),
  },
  {
    code: 'conflict-noted',
    level: 'failed',
    facts: withRegistration({ rival: { seenAtMs: 1, evidence: 'it was seen' } }),
    says: /it was seen/,
  },
  { code: 'sentinel-touched', level: 'failed', facts: with_({ sentinel: checked('touched') }) },
  { code: 'sentinel-missing', level: 'failed', facts: with_({ sentinel: checked('missing') }) },
  {
    code: 'built-in-loop-off',
    level: 'warning',
    facts: with_(
      { observed: checked({ ...NOBODY, total: 3, behind: ['kube-system/logs'] }) },
      healthyFacts(observed),
    ),
    says: /kube-system\/logs/,
  },
  {
    code: 'built-in-loop-unknown',
    level: 'unknown',
    facts: with_({ observed: checked({ ...NOBODY, total: 0 }) }, healthyFacts(observed)),
  },
  {
    code: 'copilot-rolling-update',
    level: 'warning',
    facts: inCopilot({ rollingUpdate: ['net/cni'] }, []),
    says: /RollingUpdate.*net\/cni.*OnDelete/,
  },
  {
    code: 'copilot-not-named',
    level: 'warning',
    facts: inCopilot({ followed: ['net/cni', 'ops/logs'] }, ['net/cni']),
    says: /wait: ops\/logs .*copilot-policy/,
  },
  {
    code: 'copilot-named-too-many',
    level: 'warning',
    facts: inCopilot({ followed: ['net/cni'] }, ['net/cni', 'ops/logs']),
    says: /do not opt in: ops\/logs/,
  },
];
