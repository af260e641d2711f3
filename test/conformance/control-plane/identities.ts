/**
 * Who talks to the test control plane: one static token per actor, so that the audit log says
 * who did what, and the files that the programs need to know them.
 *
 * The watcher and the functions look exactly like the service accounts of the product's
 * manifests; they have no rights until those manifests are applied. Tokens are random and live
 * as long as the run directory.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Actors whose tokens tests may use. */
export const TEST_ACTORS = ['admin', 'watcher', 'functions', 'observer'] as const;

/** One of the actors whose tokens tests may use. */
export type TestActor = (typeof TEST_ACTORS)[number];

/** Every actor, with those that only the control plane's own programs use. */
export type Actor = TestActor | 'controllerManager' | 'scheduler' | 'kwok';

export type ActorTokens = Readonly<Record<Actor, string>>;

const SERVICE_ACCOUNT_GROUPS = [
  'system:serviceaccounts',
  'system:serviceaccounts:rollcall-system',
  'system:authenticated',
];

const USERS: Readonly<
  Record<Actor, { readonly user: string; readonly groups: readonly string[] }>
> = {
  admin: { user: 'test-admin', groups: ['system:masters'] },
  watcher: {
    user: 'system:serviceaccount:rollcall-system:rollcall-watcher',
    groups: SERVICE_ACCOUNT_GROUPS,
  },
  functions: {
    user: 'system:serviceaccount:rollcall-system:rollcall-functions',
    groups: SERVICE_ACCOUNT_GROUPS,
  },
  observer: { user: 'test-observer', groups: [] },
  controllerManager: { user: 'system:kube-controller-manager', groups: [] },
  scheduler: { user: 'system:kube-scheduler', groups: [] },
  kwok: { user: 'kwok', groups: ['system:masters'] },
};

/** The user name under which an actor appears in the audit log. */
export function userNameOf(actor: Actor): string {
  return USERS[actor].user;
}

/** The files that make the identities known to the control plane's programs. */
export interface IdentityFiles {
  readonly tokens: ActorTokens;
  readonly tokenFile: string;
  readonly serviceAccountPrivateKeyFile: string;
  readonly serviceAccountPublicKeyFile: string;
}

/** Writes a token file and a service-account key pair into `directory`. */
export function writeIdentityFiles(directory: string): IdentityFiles {
  const token = (): string => randomBytes(24).toString('base64url');
  const tokens: ActorTokens = {
    admin: token(),
    watcher: token(),
    functions: token(),
    observer: token(),
    controllerManager: token(),
    scheduler: token(),
    kwok: token(),
  };
  const lines: string[] = [];
  for (const [actor, { user, groups }] of Object.entries(USERS)) {
    lines.push(`${tokens[actor as Actor]},${user},${user},"${groups.join(',')}"`);
  }
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  });
  const files: IdentityFiles = {
    tokens,
    tokenFile: join(directory, 'tokens.csv'),
    serviceAccountPrivateKeyFile: join(directory, 'service-account.key'),
    serviceAccountPublicKeyFile: join(directory, 'service-account.pub'),
  };
  const privately = { mode: 0o600 };
  writeFileSync(files.tokenFile, `${lines.join('\n')}\n`, privately);
  writeFileSync(files.serviceAccountPrivateKeyFile, keys.privateKey, privately);
  writeFileSync(files.serviceAccountPublicKeyFile, keys.publicKey);
  return files;
}

export interface KubeconfigContent {
  readonly clusterName: string;
  readonly server: string;
  readonly caPem: string;
  readonly userName: string;
  readonly token: string;
}

/** Writes a kubeconfig with one cluster, one user and one context. */
export function writeKubeconfigFile(path: string, content: KubeconfigContent): void {
  const { clusterName, server, caPem, userName, token } = content;
  const text = `apiVersion: v1
kind: Config
clusters:
- name: ${clusterName}
  cluster:
    server: ${server}
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
users:
- name: ${userName}
  user:
    token: ${token}
contexts:
- name: ${clusterName}
  context:
    cluster: ${clusterName}
    user: ${userName}
current-context: ${clusterName}
`;
  writeFileSync(path, text, { mode: 0o600 });
}
