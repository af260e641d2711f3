/**
 * Facts from the cluster itself: identity, rights, Lease, Deployment, policies, sentinel.
 *
 * Two ways in: the registered credential at the registered endpoint (where this process can have it),
 * and the user's own kubeconfig at its own server. A credential goes to its own server only (S11).
 */
import type {
  CredentialAnswer,
  DoctorFacts,
  FleetsFact,
  LeaseFact,
  RightsFact,
  SentinelFact,
  WatcherFact,
} from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { neededInMode } from '../../app/doctor/required-permissions.ts';
import { defined } from '@rollcall/base/defined.ts';
import { jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { SENTINEL_KEY } from '../../core/takeover/takeover-sentinel.ts';
import type { ClusterInspection } from '../../ports/cluster/cluster-inspection.ts';
import { gatherFleetRights } from './gather-fleets.ts';
import { gatherRights } from './gather-rights.ts';
import { WATCHER, functionsIdentity } from './identities.ts';
import type { ShippedManifests } from './shipped-manifests.ts';
import { ask, whyNot } from './ways-in.ts';
import type { WaysIn } from './ways-in.ts';

const SYSTEM = 'rollcall-system';
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/rollcall-watcher`;
const DEPLOYMENT = `/apis/apps/v1/namespaces/${SYSTEM}/deployments/rollcall-watcher`;
const PODS = `/api/v1/namespaces/${SYSTEM}/pods?labelSelector=app.kubernetes.io%2Fname%3Drollcall-watcher`;
const SENTINEL = `/apis/apps/v1/namespaces/${SENTINEL_KEY.namespace}/daemonsets/${SENTINEL_KEY.name}`;
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const LISTED = `${ADMISSION}/validatingadmissionpolicies/rollcall-copilot-listed`;
const LEASE_DURATION_MS = 40_000;

type ClusterFacts = Pick<
  DoctorFacts,
  | 'identity'
  | 'credential'
  | 'functionsRights'
  | 'requestsRights'
  | 'watcherRights'
  | 'admission'
  | 'listed'
  | 'lease'
  | 'watcher'
  | 'sentinel'
  | 'fleetRights'
>;

interface ClusterQuestion {
  readonly registration: ClusterRegistration;
  readonly ways: WaysIn;
  readonly manifests: ShippedManifests;
  /** Namespaces with DaemonSets, as the view has them. */
  readonly namespaces: readonly string[];
  /** FleetDaemonSets that are placed here. */
  readonly fleets: Promise<Checked<FleetsFact>>;
}

/** What each fact is called when it cannot be had, and how it is had; `gather-facts.ts` runs them side by side. */
export const CLUSTER_FACTS: {
  readonly [Name in keyof ClusterFacts]: readonly [
    what: string,
    gather: (question: ClusterQuestion) => Promise<ClusterFacts[Name]>,
  ];
} = {
  identity: ['kube-system', gatherIdentity],
  credential: ['the credential', gatherCredential],
  functionsRights: ['the functions’ rights', gatherFunctionsRights],
  requestsRights: ['the rights of functions that only ask', gatherRequestsRights],
  watcherRights: ['the watcher’s rights', gatherWatcherRights],
  admission: ['the admission policies', gatherAdmission],
  listed: ['the DaemonSets that copilot names', gatherListed],
  lease: ['the watcher’s Lease', gatherLease],
  watcher: ['the watcher', gatherWatcher],
  sentinel: ['the sentinel', gatherSentinel],
  fleetRights: ['the rights of fleets', gatherFleetRights],
};

/** A kubeconfig that leads elsewhere is found even where the registration is in order. */
async function gatherIdentity({
  registration,
  ways,
}: ClusterQuestion): Promise<ClusterFacts['identity']> {
  const reasons: string[] = [];
  let own: ClusterFacts['identity'] | undefined;
  for (const by of ['registration', 'kubeconfig'] as const) {
    const way = ways[by];
    if ('why' in way) {
      reasons.push(way.why);
      continue;
    }
    const answer = await way.inspection.readUid();
    if (answer.kind !== 'answered') {
      reasons.push(`by the ${by}: ${whyNot(answer)}`);
      continue;
    }
    own ??= checked({ uid: answer.value, by });
    if (answer.value !== registration.clusterUid) return checked({ uid: answer.value, by });
  }
  return own ?? unchecked(reasons.join('; '));
}

async function gatherCredential({ ways }: ClusterQuestion): Promise<Checked<CredentialAnswer>> {
  const way = ways.registration;
  if ('why' in way) return unchecked(way.why);
  const answer = await way.inspection.readUid();
  if (answer.kind === 'answered') return checked('accepted');
  if (answer.kind === 'refused') {
    return checked(answer.status === 401 ? 'unauthorized' : 'forbidden');
  }
  return unchecked(whyNot(answer));
}

function gatherFunctionsRights(question: ClusterQuestion): Promise<Checked<RightsFact>> {
  const { registration, manifests } = question;
  const shipped = registration.mode === 'copilot' ? manifests.copilot : manifests.functions;
  const needed = neededInMode(shipped, registration.mode);
  return gatherRights(question, {
    needed,
    self: true,
    identity: functionsIdentity(registration, 'act'),
  });
}

function gatherRequestsRights(question: ClusterQuestion): Promise<Checked<RightsFact>> {
  const { registration, manifests } = question;
  const identity = functionsIdentity(registration, 'ask');
  return gatherRights(question, { needed: manifests.requests, self: false, identity });
}

function gatherWatcherRights(question: ClusterQuestion): Promise<Checked<RightsFact>> {
  const needed = question.manifests.watcher;
  return gatherRights(question, { needed, self: false, identity: WATCHER });
}

async function gatherAdmission({
  registration,
  ways,
  manifests,
}: ClusterQuestion): Promise<ClusterFacts['admission']> {
  // No function may read policies: only the user's own credential is asked.
  const way = ways.kubeconfig;
  if ('why' in way) return unchecked(way.why);
  const missing: string[] = [];
  const isCopilot = registration.mode === 'copilot';
  for (const { kind, name } of isCopilot ? manifests.copilotAdmission : manifests.admission) {
    const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
    const answer = await way.inspection.read(`${ADMISSION}/${plural.toLowerCase()}/${name}`);
    if (answer.kind === 'missing') missing.push(`${kind} ${name}`);
    else if (answer.kind !== 'answered') return unchecked(whyNot(answer));
  }
  return checked({ missing });
}

/** What stands in the policy of that name: quoted names, as scripts/install/copilot-policy.ts writes them. */
async function gatherListed({
  registration,
  ways,
}: ClusterQuestion): Promise<Checked<readonly string[]>> {
  if (registration.mode !== 'copilot') return unchecked('the cluster is not in copilot');
  const way = ways.kubeconfig;
  if ('why' in way) return unchecked(way.why);
  const answer = await way.inspection.read(LISTED);
  if (answer.kind === 'missing') return checked([]);
  if (answer.kind !== 'answered') return unchecked(whyNot(answer));
  const variables = jsonItems(jsonMember(jsonMember(answer.value, 'spec'), 'variables'));
  const listed = variables.find((variable) => jsonMember(variable, 'name') === 'listed');
  const text = jsonMember(listed, 'expression');
  const names = typeof text === 'string' ? text.matchAll(/'([^']+)'/g) : [];
  return checked([...names].map(([, name = '']) => name));
}

async function gatherLease({ ways }: ClusterQuestion): Promise<Checked<LeaseFact>> {
  const answer = await ask(ways, (inspection) => inspection.read(LEASE));
  if (answer.kind === 'unchecked') return answer;
  if (answer.kind === 'missing') return checked({ kind: 'missing' });
  const spec = jsonMember(answer.value, 'spec');
  const renewTime = jsonMember(spec, 'renewTime');
  const renewedAtMs = typeof renewTime === 'string' ? Date.parse(renewTime) : NaN;
  const holder = jsonMember(spec, 'holderIdentity');
  const seconds = jsonMember(spec, 'leaseDurationSeconds');
  return checked({
    kind: 'found',
    holder: typeof holder === 'string' ? holder.slice(0, 64) : 'nobody',
    durationMs: typeof seconds === 'number' ? seconds * 1000 : LEASE_DURATION_MS,
    ...(Number.isNaN(renewedAtMs) ? {} : { renewedAtMs }),
  });
}

async function gatherWatcher({ ways }: ClusterQuestion): Promise<Checked<WatcherFact>> {
  const way = ways.kubeconfig;
  if ('why' in way) return unchecked(way.why);
  const { inspection } = way;
  const answer = await inspection.read(DEPLOYMENT);
  if (answer.kind === 'missing') {
    const namespace = await inspection.read(`/api/v1/namespaces/${SYSTEM}`);
    const what = namespace.kind === 'missing' ? 'namespace' : 'deployment';
    return checked({ kind: 'missing', what });
  }
  if (answer.kind !== 'answered') return unchecked(whyNot(answer));
  const wanted = numberAt(answer.value, ['spec', 'replicas']) ?? 1;
  const ready = numberAt(answer.value, ['status', 'readyReplicas']) ?? 0;
  const trouble = ready > 0 ? undefined : await findTrouble(inspection);
  return checked({ kind: 'found', wanted, ready, ...defined({ trouble }) });
}

/** A number of `status` or `spec`; undefined where there is none. */
function numberAt(
  object: JsonObject,
  [part, name]: readonly ['spec' | 'status', string],
): number | undefined {
  const value = jsonMember(jsonMember(object, part), name);
  return typeof value === 'number' ? value : undefined;
}

/** Why the first container of its pods waits. */
async function findTrouble(inspection: ClusterInspection): Promise<string | undefined> {
  const answer = await inspection.read(PODS);
  if (answer.kind !== 'answered') return undefined;
  const items = jsonItems(jsonMember(answer.value, 'items'));
  if (items.length === 0) return 'there is no pod: see the events of its ReplicaSet';
  for (const pod of items) {
    const [first] = jsonItems(jsonMember(jsonMember(pod, 'status'), 'containerStatuses'));
    const reason = jsonMember(jsonMember(jsonMember(first, 'state'), 'waiting'), 'reason');
    if (typeof reason === 'string') return reason.slice(0, 64);
  }
  return undefined;
}

async function gatherSentinel({
  registration,
  ways,
}: ClusterQuestion): Promise<Checked<SentinelFact>> {
  const { mode, sentinel } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return checked('not-expected');
  const answer = await ask(ways, (inspection) => inspection.read(SENTINEL));
  if (answer.kind === 'unchecked') return answer;
  if (answer.kind === 'missing') return checked('missing');
  if (jsonMember(jsonMember(answer.value, 'metadata'), 'uid') !== sentinel.uid) {
    return checked('replaced');
  }
  const observed = numberAt(answer.value, ['status', 'observedGeneration']) ?? 0;
  return checked(observed > 0 ? 'touched' : 'quiet');
}
