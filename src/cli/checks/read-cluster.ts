/**
 * Reads a cluster itself: identity, rights, Lease, Deployment, policies, sentinel, endpoint.
 *
 * Two ways in: the registered credential at the registered endpoint (where this process can have it),
 * and the user's own kubeconfig at its own server. A credential goes to its own server only (S11).
 */
import { defined } from '@rollcall/base/defined.ts';
import { jsonItems, jsonMember, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { EgressPolicy } from '../../adapters/kubernetes/egress/egress.ts';
import { SocketEndpointProbe } from '../../adapters/kubernetes/transport/endpoint-probe.ts';
import { isConnectedTo } from '../../app/checks/judge-registration.ts';
import { checked, unchecked } from '../../app/checks/needs.ts';
import type { Checked, Needs, Readers } from '../../app/checks/needs.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { SENTINEL_KEY } from '../../core/may-act/takeover-sentinel.ts';
import type { ClusterInspection } from '../../ports/cluster/cluster-inspection.ts';
import type { ViewStore } from '../../ports/stores/view-store.ts';
import {
  WATCHER,
  functionsIdentity,
  neededInMode,
  readFleetRights,
  readRights,
  readShippedManifests,
} from './rights.ts';
import type { ShippedManifests } from './rights.ts';
import { askEach, openRegisteredWay, whyNot, type WayIn, type WaysIn } from './ways-in.ts';
import { readIssuer } from './read-issuer.ts';

const SYSTEM = 'rollcall-system';
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/rollcall-watcher`;
const DEPLOYMENT = `/apis/apps/v1/namespaces/${SYSTEM}/deployments/rollcall-watcher`;
const PODS = `/api/v1/namespaces/${SYSTEM}/pods?labelSelector=app.kubernetes.io%2Fname%3Drollcall-watcher`;
const SENTINEL = `/apis/apps/v1/namespaces/${SENTINEL_KEY.namespace}/daemonsets/${SENTINEL_KEY.name}`;
const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const LISTED = `${ADMISSION}/validatingadmissionpolicies/rollcall-copilot-listed`;
const LEASE_DURATION_MS = 40_000;

interface Place {
  readonly registration: ClusterRegistration;
  readonly ways: WaysIn;
  readonly manifests: ShippedManifests;
  /** Namespaces with DaemonSets, as the view has them. */
  readonly namespaces: readonly string[];
}

export interface InsideOptions {
  readonly view: Pick<ViewStore, 'listNames'>;
  readonly clock: Clock;
  readonly egress: EgressPolicy;
  /** The user's own way in, or why there is none. */
  readonly kubeconfig: WayIn;
}

type ClusterNeed =
  | 'endpoint'
  | 'identity'
  | 'credential'
  | 'functionsRights'
  | 'requestsRights'
  | 'watcherRights'
  | 'admission'
  | 'listed'
  | 'lease'
  | 'watcher'
  | 'issuer'
  | 'sentinel'
  | 'fleetRights';

/** The readers of one cluster; their opener closes them. */
export async function openClusterReaders(
  registration: ClusterRegistration,
  { view, clock, egress, kubeconfig }: InsideOptions,
): Promise<{ readonly readers: Readers<ClusterNeed>; readonly close: () => void }> {
  const isConnected = isConnectedTo(registration);
  const registered = isConnected
    ? openRegisteredWay(registration, { clock, egress })
    : { why: 'no credential is registered' };
  const [manifests, namespaces] = await Promise.all([
    readShippedManifests(),
    namespacesOf(view, registration),
  ]);
  const ways = { registration: registered, kubeconfig };
  const place = { registration, ways, manifests, namespaces };
  const { mode } = registration;
  const shipped = mode === 'copilot' ? manifests.copilot : manifests.functions;
  const ofNodes = ofNodesIn(registration, manifests)?.rights ?? [];
  const actsAs = functionsIdentity(registration, 'act');
  const asksAs = functionsIdentity(registration, 'ask');
  const rightsOf = (question: Parameters<typeof readRights>[1]) => () =>
    readRights(place, question);
  const readers: Readers<ClusterNeed> = {
    endpoint: [
      'the endpoint',
      async () =>
        isConnected
          ? checked(await new SocketEndpointProbe({ clock, egress }).probe(registration))
          : unchecked('nothing connects to it'),
    ],
    identity: ['kube-system', () => readIdentity(place)],
    credential: ['the credential', () => readCredential(place)],
    functionsRights: [
      'the functions’ rights',
      rightsOf({
        needed: [...neededInMode(shipped, mode), ...ofNodes],
        self: true,
        identity: actsAs,
      }),
    ],
    requestsRights: [
      'the rights of functions that only ask',
      rightsOf({ needed: manifests.requests, self: false, identity: asksAs }),
    ],
    watcherRights: [
      'the watcher’s rights',
      rightsOf({ needed: manifests.watcher, self: false, identity: WATCHER }),
    ],
    admission: ['the admission policies', () => readAdmission(place)],
    listed: ['the DaemonSets that copilot names', () => readListed(place)],
    lease: ['the watcher’s Lease', () => readLease(place)],
    watcher: ['the watcher', () => readWatcher(place)],
    issuer: ['the issuer of tokens', () => readIssuer(ways, { clock, egress })],
    sentinel: ['the sentinel', () => readSentinel(place)],
    fleetRights: [
      'the rights of fleets',
      async (read) => readFleetRights(place, registration, await read('fleets')),
    ],
  };
  const close = (): void => {
    for (const way of [registered, kubeconfig]) if ('inspection' in way) way.inspection.close();
  };
  return { readers, close };
}

async function namespacesOf(
  view: Pick<ViewStore, 'listNames'>,
  { clusterUid }: ClusterRegistration,
): Promise<readonly string[]> {
  try {
    const { names } = await view.listNames(clusterUid, { limit: 200 });
    return [...new Set(names.map(({ namespace }) => namespace))];
  } catch {
    // Another need says that the view cannot be read; this one only narrows down.
    return [];
  }
}

/** A kubeconfig that leads elsewhere is found even where the registration is in order. */
async function readIdentity({ registration, ways }: Place): Promise<Checked<Needs['identity']>> {
  const reasons: string[] = [];
  let own: Checked<Needs['identity']> | undefined;
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

async function readCredential({ ways }: Place): Promise<Checked<Needs['credential']>> {
  const way = ways.registration;
  if ('why' in way) return unchecked(way.why);
  const answer = await way.inspection.readUid();
  if (answer.kind === 'answered') return checked('accepted');
  if (answer.kind === 'refused') {
    return checked(answer.status === 401 ? 'unauthorized' : 'forbidden');
  }
  return unchecked(whyNot(answer));
}

/** In observe the setting waits. */
function ofNodesIn(
  { mode, startUp }: ClusterRegistration,
  manifests: ShippedManifests,
): ShippedManifests['startUp'] | undefined {
  if (mode === 'observe' || startUp === undefined) return undefined;
  return startUp.condition === undefined ? manifests.startUp : manifests.startUpCondition;
}

async function readAdmission({
  registration,
  ways,
  manifests,
}: Place): Promise<Checked<Needs['admission']>> {
  // No function may read policies: only the user's own credential is asked.
  const way = ways.kubeconfig;
  if ('why' in way) return unchecked(way.why);
  const missing: string[] = [];
  const isCopilot = registration.mode === 'copilot';
  const ofMode = isCopilot ? manifests.copilotAdmission : manifests.admission;
  const ofNodes = ofNodesIn(registration, manifests)?.admission ?? [];
  for (const { kind, name } of [...ofMode, ...ofNodes]) {
    const plural = kind.endsWith('y') ? `${kind.slice(0, -1)}ies` : `${kind}s`;
    const answer = await way.inspection.read(`${ADMISSION}/${plural.toLowerCase()}/${name}`);
    if (answer.kind === 'missing') missing.push(`${kind} ${name}`);
    else if (answer.kind !== 'answered') return unchecked(whyNot(answer));
    else if (!isForStartUp(answer.value, registration)) {
      const what = registration.startUp?.condition === undefined ? 'taint' : 'condition';
      missing.push(`${kind} ${name} for that ${what}`);
    }
  }
  return checked({ missing });
}

/** DaemonSets that the policy lists: quoted names, as scripts/install/copilot-policy.ts writes them. */
async function readListed({ registration, ways }: Place): Promise<Checked<Needs['listed']>> {
  if (registration.mode !== 'copilot') return unchecked('the cluster is not in copilot');
  const way = ways.kubeconfig;
  if ('why' in way) return unchecked(way.why);
  const answer = await way.inspection.read(LISTED);
  if (answer.kind === 'missing') return checked([]);
  if (answer.kind !== 'answered') return unchecked(whyNot(answer));
  return checked(quotedIn(answer.value, 'listed'));
}

/** The texts between quotes in a variable of a policy. */
function quotedIn(policy: Json, name: string): readonly string[] {
  const variables = jsonItems(jsonMember(jsonMember(policy, 'spec'), 'variables'));
  const found = variables.find((variable) => jsonMember(variable, 'name') === name);
  const text = jsonMember(found, 'expression');
  const quoted = typeof text === 'string' ? text.matchAll(/'([^']+)'/g) : [];
  return [...quoted].map(([, one = '']) => one);
}

/** The policy of start-up taints names one, or a condition: another one than the registered is refused to us. */
export function isForStartUp(policy: Json, { startUp }: ClusterRegistration): boolean {
  const [condition] = quotedIn(policy, 'condition');
  if (startUp !== undefined && condition !== undefined) return condition === startUp.condition;
  const [key] = quotedIn(policy, 'key');
  const [effect] = quotedIn(policy, 'effect');
  if (startUp === undefined || key === undefined || effect === undefined) return true;
  return key === startUp.taint.key && effect === startUp.taint.effect;
}

async function readLease({ ways }: Place): Promise<Checked<Needs['lease']>> {
  const answer = await askEach(ways, (inspection) => inspection.read(LEASE));
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

async function readWatcher({ ways }: Place): Promise<Checked<Needs['watcher']>> {
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

async function readSentinel({ registration, ways }: Place): Promise<Checked<Needs['sentinel']>> {
  const { mode, sentinel } = registration;
  if (mode !== 'takeover' || sentinel === undefined) return checked('not-expected');
  const answer = await askEach(ways, (inspection) => inspection.read(SENTINEL));
  if (answer.kind === 'unchecked') return answer;
  if (answer.kind === 'missing') return checked('missing');
  if (jsonMember(jsonMember(answer.value, 'metadata'), 'uid') !== sentinel.uid) {
    return checked('replaced');
  }
  const observed = numberAt(answer.value, ['status', 'observedGeneration']) ?? 0;
  return checked(observed > 0 ? 'touched' : 'quiet');
}
