/**
 * Which rights an identity lacks, verb by verb, by access reviews against the manifests that are shipped.
 *
 * Its own are asked for with the registered credential, another's by its name with the user's kubeconfig.
 */
import { readFile } from 'node:fs/promises';
import { defined } from '@rollcall/base/defined.ts';
import { parseAllDocuments } from 'yaml';
import { checked, unchecked } from '../../app/checks/needs.ts';
import type { Checked, FleetRightsFact, FleetsFact, RightsFact } from '../../app/checks/needs.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';
import type { ClusterMode, ClusterRegistration } from '../../core/model/registration.ts';
import { packageFile } from '../../engine/package-files.ts';
import type { ClusterInspection, RightsOf } from '../../ports/cluster/cluster-inspection.ts';
import { FUNCTIONS_ACCOUNTS, subjectOf } from '../../ports/stores/credential-store.ts';
import type { TokenPurpose } from '../../ports/stores/credential-store.ts';
import { ROLL_OUT, fleetNames, fleetRights } from '../fleet/fleet-manifests.ts';
import { askEach, type WayIn, type WaysIn } from './ways-in.ts';

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:rollcall-system'];
const AUTHENTICATED = 'system:authenticated';

/** The watcher of a cluster, by name: a review needs no credential of it. */
export const WATCHER: RightsOf = {
  user: 'system:serviceaccount:rollcall-system:rollcall-watcher',
  groups: [...ACCOUNTS, AUTHENTICATED],
};

/** As whom the functions appear: on EKS by their access entry, elsewhere by their service account. */
export function functionsIdentity(
  { authentication }: Pick<ClusterRegistration, 'authentication'>,
  purpose: TokenPurpose,
): RightsOf {
  const name = FUNCTIONS_ACCOUNTS[purpose];
  if (authentication.kind === 'eks') return { user: name, groups: [name, AUTHENTICATED] };
  return { user: subjectOf(purpose), groups: [...ACCOUNTS, AUTHENTICATED] };
}

/** Of the API, where they are no namespaced ones. */
const CLUSTER_SCOPED: readonly string[] = ['nodes', 'nodes/status', 'namespaces'];
const NAMESPACES_MAX = 20;

interface RightsQuestion {
  readonly needed: readonly Permission[];
  /** True if the registered credential is that identity itself. */
  readonly self: boolean;
  readonly identity: RightsOf;
}

export interface RightsPlace {
  readonly ways: WaysIn;
  /** Namespaces with DaemonSets, as the view has them. */
  readonly namespaces: readonly string[];
}

export async function readRights(
  { ways, namespaces }: RightsPlace,
  { needed, self, identity }: RightsQuestion,
): Promise<Checked<RightsFact>> {
  const registered: WayIn = self
    ? ways.registration
    : { why: 'the registered credential is another one’s' };
  const answer = await askEach({ ...ways, registration: registered }, async (inspection) => {
    const isOwn = inspection === ('inspection' in registered ? registered.inspection : undefined);
    const of = isOwn ? ('self' as const) : identity;
    const granted = await inspection.review(needed, of);
    if (granted.kind !== 'answered') return granted;
    const missing = needed.filter((_permission, index) => granted.value[index] !== true);
    const value = await narrow({ inspection, of, missing, namespaces });
    return { kind: 'answered', value } as const;
  });
  if (answer.kind === 'answered') {
    return checked({ required: needed.length, ...answer.value, by: answer.by });
  }
  return answer.kind === 'missing' ? unchecked('the API server reviews no rights') : answer;
}

/** Rights that are missing for all namespaces may be granted in some. */
async function narrow(options: {
  readonly inspection: ClusterInspection;
  readonly of: RightsOf;
  readonly missing: readonly Permission[];
  readonly namespaces: readonly string[];
}): Promise<Pick<RightsFact, 'missing' | 'missingIn'>> {
  const { inspection, of, missing, namespaces } = options;
  const isNarrow = ({ resource, namespace }: Permission): boolean =>
    namespace === undefined && !CLUSTER_SCOPED.includes(resource);
  const narrower = missing.filter(isNarrow);
  const missingIn: string[] = [];
  const looked = narrower.length === 0 ? [] : namespaces.slice(0, NAMESPACES_MAX);
  for (const namespace of looked) {
    const answer = await inspection.review(
      narrower.map((permission) => ({ ...permission, namespace })),
      of,
    );
    const isGranted = answer.kind === 'answered' && answer.value.every(Boolean);
    if (!isGranted) missingIn.push(namespace);
  }
  if (missingIn.length === looked.length) return { missing, missingIn: [] };
  return { missing: missing.filter((permission) => !isNarrow(permission)), missingIn };
}

/** The rights that `rollcall fleet rights` would print, and whether the functions may do the same to every DaemonSet. */
export async function readFleetRights(
  place: RightsPlace,
  registration: Pick<ClusterRegistration, 'authentication'>,
  fleets: Checked<FleetsFact>,
): Promise<Checked<FleetRightsFact>> {
  if (fleets.kind === 'unchecked') return fleets;
  const { placed } = fleets.value;
  if (placed.length === 0) return unchecked('no fleet is placed here');
  const identity = functionsIdentity(registration, 'act');
  const needed = permissionsOf(fleetRights(fleetNames(placed)));
  const rights = await readRights(place, { needed, self: true, identity });
  if (rights.kind === 'unchecked') return rights;
  const ofAll = [{ group: 'apps', resource: 'daemonsets', verb: ROLL_OUT }];
  const everywhere = { ...place, namespaces: [] };
  const all = await readRights(everywhere, { needed: ofAll, self: true, identity });
  if (all.kind === 'unchecked') return all;
  return checked({ ...rights.value, isOfAll: all.value.missing.length === 0 });
}

interface AdmissionObject {
  readonly kind: string;
  readonly name: string;
}

interface OfNodes {
  readonly rights: readonly Permission[];
  readonly admission: readonly AdmissionObject[];
}

/** Reads the manifests in infra/: rights and admission policies; no list of rights is written twice. */
export interface ShippedManifests {
  readonly functions: readonly Permission[];
  readonly requests: readonly Permission[];
  readonly watcher: readonly Permission[];
  readonly admission: readonly AdmissionObject[];
  readonly copilot: readonly Permission[];
  readonly copilotAdmission: readonly AdmissionObject[];
  readonly startUp: OfNodes;
  /** Where a condition stands for the removal. */
  readonly startUpCondition: OfNodes;
}

export async function readShippedManifests(): Promise<ShippedManifests> {
  const rights = async (file: string): Promise<readonly Permission[]> =>
    permissionsOf(await readDocuments(file));
  const objects = async (...files: readonly string[]): Promise<readonly AdmissionObject[]> =>
    objectsOf((await Promise.all(files.map(readDocuments))).flat());
  const ofNodes = async (folder: string): Promise<OfNodes> => ({
    rights: await rights(`${folder}/rbac.yaml`),
    admission: await objects(`${folder}/admission.yaml`),
  });
  const reading = {
    functions: rights('infra/functions/rbac.yaml'),
    requests: rights('infra/functions/requests/rbac.yaml'),
    watcher: rights('infra/watcher/rbac.yaml'),
    admission: objects('infra/admission/policy.yaml'),
    copilot: rights('infra/copilot/rbac.yaml'),
    copilotAdmission: objects('infra/copilot/admission.yaml', 'infra/copilot/listed.yaml'),
    startUp: ofNodes('infra/start-up'),
    startUpCondition: ofNodes('infra/start-up-condition'),
  };
  return {
    functions: await reading.functions,
    requests: await reading.requests,
    watcher: await reading.watcher,
    admission: await reading.admission,
    copilot: await reading.copilot,
    copilotAdmission: await reading.copilotAdmission,
    startUp: await reading.startUp,
    startUpCondition: await reading.startUpCondition,
  };
}

function objectsOf(documents: readonly unknown[]): readonly AdmissionObject[] {
  return documents.map((document) => {
    const { kind, metadata } = document as {
      readonly kind: string;
      readonly metadata: { readonly name: string };
    };
    return { kind, name: metadata.name };
  });
}

async function readDocuments(file: string): Promise<readonly unknown[]> {
  const text = await readFile(packageFile(file), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Of a mode that decides nothing. */
const OBSERVE_RESOURCES: readonly string[] = ['namespaces', 'leases'];

function permissionsOf(documents: readonly unknown[]): readonly Permission[] {
  return documents.flatMap((document) => {
    if (!isRole(document)) return [];
    const { namespace } = document.metadata;
    const scope = document.kind === 'Role' && namespace !== undefined ? { namespace } : {};
    return document.rules.flatMap((rule) => expand(rule, scope));
  });
}

/** Rights that the functions need in this mode, of those in the manifest of their mode (takeover's in observe). */
export function neededInMode(
  permissions: readonly Permission[],
  mode: ClusterMode,
): readonly Permission[] {
  if (mode !== 'observe') return permissions;
  return permissions.filter(({ resource }) => OBSERVE_RESOURCES.includes(resource));
}

function expand(rule: Rule, scope: { readonly namespace?: string }): readonly Permission[] {
  const { apiGroups, resources, verbs, resourceNames: names = [undefined] } = rule;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({ group, resource, verb, ...defined({ name }), ...scope })),
      ),
    ),
  );
}

interface RoleDocument {
  readonly kind: 'Role' | 'ClusterRole';
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules: readonly Rule[];
}

/** The manifests are the package's own: their form is a test's business. */
function isRole(document: unknown): document is RoleDocument {
  if (typeof document !== 'object' || document === null) return false;
  const { kind, rules } = document as { readonly kind?: unknown; readonly rules?: unknown };
  return (kind === 'Role' || kind === 'ClusterRole') && Array.isArray(rules);
}
