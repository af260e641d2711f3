/**
 * Who may call a local cluster: its certificates, one bearer token for each actor, and the user behind it.
 *
 * The watcher and the functions are the service accounts of the shipped manifests, so that a laptop runs under the RBAC
 * that is deployed. With `--data` they are kept in a file of their owner alone; one that is damaged is an error that names
 * it, as silently new certificates would lock out every client.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Random } from '@rollcall/base/ports/random.ts';
import * as v from 'valibot';
import type { Authority } from '../access/certificates.ts';
import type { User } from '../api/request/api-request.ts';
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
type LocalTokens = Readonly<Record<LocalActor, string>>;

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

/** What identifies a local cluster to its clients. */
export interface ClusterIdentity {
  readonly authority: Authority;
  readonly tokens: LocalTokens;
}

const FILE_NAME = 'identity.json';
const OWNER_ONLY = 0o600;

const schema = v.object({
  authority: v.object({
    caPem: v.string(),
    serving: v.object({ certificatePem: v.string(), keyPem: v.string() }),
  }),
  tokens: v.object({
    admin: v.string(),
    observer: v.string(),
    watcher: v.string(),
    functions: v.string(),
  }),
});

/** Reads the identity kept in the directory, or makes one with `create` and keeps it there. */
export async function keepIdentity(
  directory: string,
  create: () => Promise<ClusterIdentity>,
): Promise<ClusterIdentity> {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, FILE_NAME);
  const text = readIfThere(file);
  if (text === undefined) {
    const identity = await create();
    writeFileSync(file, JSON.stringify(identity), { mode: OWNER_ONLY });
    return identity;
  }
  const parsed = v.safeParse(schema, JSON.parse(text));
  if (parsed.success) return parsed.output;
  throw new Error(`${file} is damaged; remove the data directory to start anew.`);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
