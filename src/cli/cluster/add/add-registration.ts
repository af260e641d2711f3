/**
 * Step 3 of `cluster add`: the registry item. Pure until it is written.
 *
 * A cluster is added once. What is there already is compared: the same means that an earlier run got this
 * far; anything else is changed by `set` or, after a rebuild, by `reset`, never by adding again. One cluster
 * UID has one registration (S6).
 */
import { defined } from '@rollcall/base/defined.ts';
import { parseRegistration } from '../../../adapters/dynamodb/registration-schema.ts';
import { openEgress } from '../../../adapters/kubernetes/egress/egress.ts';
import { parseEndpoint } from '../../../adapters/kubernetes/egress/endpoint.ts';
import { compareRegistrations, editRegistration } from '../../../app/clusters/edit-registration.ts';
import type { FieldChange } from '../../../app/clusters/edit-registration.ts';
import type {
  ClusterAuthentication,
  ClusterRegistration,
} from '../../../core/model/registration.ts';
import type { RegistryStore } from '../../../ports/stores/registry-store.ts';
import { failure, refusal, usageError } from '../../process/exit-codes.ts';
import type { AddTask } from './add-examine.ts';
import type { SenderRoles } from './add-roles.ts';

/** Stands in the place of an id that a dry run does not make. */
const UNKNOWN_ROLE_ID = 'unknown';

/** How a cluster stands to the registry. */
export type Standing =
  | { readonly kind: 'new' }
  /** Under this id, with this UID. */
  | { readonly kind: 'registered'; readonly registration: ClusterRegistration }
  /** Under this id, with another UID: the cluster was rebuilt, or the id is taken. */
  | { readonly kind: 'rebuilt'; readonly registration: ClusterRegistration }
  /** Under another id. */
  | { readonly kind: 'elsewhere'; readonly registration: ClusterRegistration };

/** Judges by id and UID. */
export function standingOf(
  cluster: { readonly id: string; readonly clusterUid: string },
  registrations: ReadonlyMap<string, ClusterRegistration>,
): Standing {
  const { id, clusterUid } = cluster;
  const registration = registrations.get(id);
  if (registration?.clusterUid === clusterUid) return { kind: 'registered', registration };
  if (registration !== undefined) return { kind: 'rebuilt', registration };
  const other = [...registrations.values()].find((one) => one.clusterUid === clusterUid);
  return other === undefined ? { kind: 'new' } : { kind: 'elsewhere', registration: other };
}

/** Throws CommandError when the cluster cannot be added under this id. */
export function requireAddable(id: string, standing: Standing): void {
  if (standing.kind === 'rebuilt') {
    throw refusal(
      `${id} is registered, with another cluster UID: it was rebuilt, or it is another cluster.`,
      `If it was rebuilt: rollcall cluster reset ${id}. If it is another one, choose another id.`,
    );
  }
  if (standing.kind !== 'elsewhere') return;
  const other = standing.registration.id;
  throw refusal(
    `This cluster is registered as ${other}: one cluster, one registration.`,
    `See it with: rollcall cluster show ${other}. To rename it: rollcall cluster remove ${other}, then add it again.`,
  );
}

/**
 * Throws CommandError when the role already speaks for another cluster: its holder could speak for both
 * (S6). At stage `local` an emulator knows one sender only.
 */
export function requireOwnRoles(
  registration: Pick<ClusterRegistration, 'id' | 'senderRoleId' | 'authentication'>,
  registrations: ReadonlyMap<string, ClusterRegistration>,
  stage: string,
): void {
  if (stage === 'local') return;
  const own = new Set(rolesOf(registration));
  own.delete(UNKNOWN_ROLE_ID);
  const other = [...registrations.values()].find(
    (one) => one.id !== registration.id && rolesOf(one).some((role) => own.has(role)),
  );
  if (other === undefined) return;
  throw refusal(
    `The role speaks for ${other.id} already: two clusters must never share one.`,
    'Make a role for this cluster: leave the role out, or --print cloudformation.',
  );
}

function rolesOf({
  senderRoleId,
  authentication,
}: Pick<ClusterRegistration, 'senderRoleId' | 'authentication'>): readonly string[] {
  const renewer = authentication.kind === 'bound-token' ? [authentication.renewerRoleId] : [];
  return [senderRoleId, ...renewer];
}

/**
 * Throws CommandError when no function could ever connect to what is registered, by what can be judged
 * without a name server: its port, a literal address, a host that is none of EKS (S12). Not at stage
 * `local`, which has rules of its own.
 */
export function requireReachable(registration: ClusterRegistration, stage: string): void {
  const { authentication, server, egress } = registration;
  const parsed = parseEndpoint(server);
  if (authentication.kind === 'none' || stage === 'local' || parsed.kind === 'refused') return;
  const judged = openEgress({
    endpoint: parsed.endpoint,
    tokenIsFor: authentication.kind === 'eks' ? 'eks' : 'endpoint',
    policy: {},
    onRefused: () => undefined,
    ...defined({ permit: egress }),
  });
  if (judged.kind === 'opened') return;
  throw failure(
    `The functions may not connect to ${server}: ${judged.field}, ${judged.reason}.`,
    judged.reason === 'private'
      ? 'Pass --private-range with the range that it is in, if the functions are attached to that network.'
      : 'docs/reference/codes.md says what each reason means; --auth none needs no connection.',
  );
}

type RegistrationParts = Pick<AddTask, 'request' | 'examined'> & { readonly roles: SenderRoles };

/** The registration, in the mode that was asked for. Throws CommandError when the schema refuses it. */
export function composeRegistration(parts: RegistrationParts): ClusterRegistration {
  const { request, examined, roles } = parts;
  const { server, caPem, clusterUid } = examined.facts;
  const { labels, privateRanges } = request;
  const endpoint = parseEndpoint(server);
  if (endpoint.kind === 'refused') {
    throw usageError(
      `The cluster cannot be registered: ${endpoint.message}.`,
      'Use an address of the form https://host[:port][/prefix].',
    );
  }
  const registration: ClusterRegistration = {
    id: request.id,
    clusterUid,
    mode: request.mode,
    isFrozen: false,
    configVersion: 1,
    senderRoleId: roles.watcher.roleId ?? UNKNOWN_ROLE_ID,
    server,
    ...defined({ caPem }),
    ...(privateRanges.length === 0 ? {} : { egress: { privateRanges } }),
    authentication: authenticationOf(parts),
    labels,
  };
  const parsed = parseRegistration(registration);
  if (parsed.kind === 'registration') return parsed.registration;
  throw failure(
    `The cluster cannot be registered: ${parsed.fields.join(', ')} cannot be used.`,
    'docs/install.md says what each field may hold.',
  );
}

function authenticationOf({ request, examined, roles }: RegistrationParts): ClusterAuthentication {
  const { eks } = examined;
  if (request.auth === 'eks' && eks !== undefined) {
    return { kind: 'eks', clusterName: eks.name, region: eks.region };
  }
  if (request.auth !== 'bound-token') return { kind: 'none' };
  return { kind: 'bound-token', renewerRoleId: roles.renewer?.roleId ?? UNKNOWN_ROLE_ID };
}

/**
 * What a registration would be changed in by adding it again; empty when an earlier run got this far. What
 * the request leaves open (labels, ranges) and what a dry run does not know is no difference.
 */
function differencesFrom(
  stored: ClusterRegistration,
  wanted: ClusterRegistration,
): readonly FieldChange[] {
  const { authentication } = wanted;
  const isRenewerOpen =
    authentication.kind === 'bound-token' &&
    authentication.renewerRoleId === UNKNOWN_ROLE_ID &&
    stored.authentication.kind === 'bound-token';
  const candidate = editRegistration(stored, {
    server: wanted.server,
    caPem: wanted.caPem ?? null,
    ...(wanted.egress === undefined ? {} : { privateRanges: wanted.egress.privateRanges }),
    ...(wanted.senderRoleId === UNKNOWN_ROLE_ID ? {} : { senderRoleId: wanted.senderRoleId }),
    ...(isRenewerOpen ? {} : { authentication }),
    labels: { set: wanted.labels, removed: [] },
  });
  // Observe is what is left open: what was entered since then stays.
  const mode = wanted.mode === 'observe' ? stored.mode : wanted.mode;
  return compareRegistrations(stored, { ...candidate, mode });
}

/** Writes a new registration, or finds that an earlier run did. Throws CommandError. */
export async function registerCluster(
  registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>,
  registration: ClusterRegistration,
): Promise<'written' | 'present'> {
  const { id } = registration;
  const stored = await registry.readCluster(id);
  if (stored === undefined) {
    const result = await registry.writeCluster(registration, 0);
    if (result === 'written') return 'written';
    throw refusal(
      result === 'uid-taken'
        ? `The cluster of ${id} is registered under another id: one cluster, one registration.`
        : `${id} was registered by another operator meanwhile.`,
      'See what there is: rollcall cluster list',
    );
  }
  requireAddable(id, standingOf(registration, new Map([[id, stored]])));
  requireSame(stored, registration);
  return 'present';
}

/** Throws CommandError when adding would change what is registered. */
export function requireSame(stored: ClusterRegistration, wanted: ClusterRegistration): void {
  const changes = differencesFrom(stored, wanted);
  if (changes.length === 0) return;
  const named = changes.map(
    ({ field, before, after }) => `${field} (${before || '-'} → ${after || '-'})`,
  );
  throw refusal(
    `${stored.id} is registered, and differs in ${named.join(', ')}. Nothing was changed.`,
    `Change it with: rollcall cluster set ${stored.id} --help`,
  );
}
