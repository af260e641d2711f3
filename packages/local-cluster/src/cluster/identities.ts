/**
 * Who may call a local cluster: one bearer token for each actor, and the user behind it.
 *
 * The watcher and the functions are the service accounts of the shipped manifests, so that a laptop runs under the RBAC
 * that is deployed. Tokens are random and live with the cluster's data.
 */
import type { User } from '../api/request/api-request.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { LocalActor } from './local-cluster.ts';

const SYSTEM_NAMESPACE = 'rollcall-system';

/** A service account as the API server sees it. */
function serviceAccount(name: string): User {
  return {
    name: `system:serviceaccount:${SYSTEM_NAMESPACE}:${name}`,
    groups: [
      'system:serviceaccounts',
      `system:serviceaccounts:${SYSTEM_NAMESPACE}`,
      'system:authenticated',
    ],
  };
}

const ADMINISTRATORS = ['system:masters', 'system:authenticated'];

/** The user behind each actor. */
const USERS: Readonly<Record<LocalActor, User>> = {
  admin: { name: 'kubernetes-admin', groups: ADMINISTRATORS },
  observer: { name: 'observer', groups: ADMINISTRATORS },
  watcher: serviceAccount('rollcall-watcher'),
  functions: serviceAccount('rollcall-functions'),
};

/** Tokens by actor. */
export type LocalTokens = Readonly<Record<LocalActor, string>>;

/** New tokens. `random` must be the system's: these are secrets, if only on a loopback address. */
export function createTokens(random: Random): LocalTokens {
  const token = (): string => `${random.uniqueId()}${random.uniqueId()}`;
  return { admin: token(), observer: token(), watcher: token(), functions: token() };
}

/** The authenticator's table. */
export function usersByToken(tokens: LocalTokens): ReadonlyMap<string, User> {
  return new Map(
    (Object.keys(USERS) as LocalActor[]).map((actor) => [tokens[actor], USERS[actor]]),
  );
}
