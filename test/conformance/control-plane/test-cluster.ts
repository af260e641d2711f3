/**
 * The cluster that a suite runs against: the real control plane of this directory, or an existing
 * cluster when ROLLCALL_TEST_KUBECONFIG names its kubeconfig.
 *
 * In an existing cluster nothing can be paused or restarted, there are no fake nodes, and no audit
 * log: `controlPlane` is then undefined, and tests that need it are skipped. The namespace and the
 * two service accounts of the product are created there if they are missing, and left.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient, type ApiClient, type ApiConnection } from './api.ts';
import { readAuditRecords, type AuditFilter, type AuditRecord } from './audit.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { writeKubeconfigFile, type TestActor } from './identities.ts';

/** A cluster for a suite. */
export interface TestCluster {
  readonly access: ClusterAccess;
  /** Present only where the suite owns the processes. */
  readonly controlPlane: ControlPlane | undefined;
  /** Reads who asked for what; absent where that is not recorded. */
  readonly readAudit: ((filter: AuditFilter) => Promise<readonly AuditRecord[]>) | undefined;
  /** Stops what was started, and removes the kubeconfigs that were written. */
  readonly close: () => Promise<void>;
}

interface KubeconfigView {
  readonly clusters: readonly [
    { name: string; cluster: { server: string; 'certificate-authority-data'?: string } },
  ];
  readonly users: readonly [
    {
      user: {
        token?: string;
        'client-certificate-data'?: string;
        'client-key-data'?: string;
      };
    },
  ];
}

const NAMESPACE = 'rollcall-system';
const TOKEN_SECONDS = 86_400;

/** Opens the cluster that the environment asks for; `options` count only if it is started here. */
export async function openTestCluster(
  options: ControlPlaneOptions = {},
  environment: NodeJS.ProcessEnv = process.env,
): Promise<TestCluster> {
  const kubeconfigPath = environment['ROLLCALL_TEST_KUBECONFIG'] ?? '';
  if (kubeconfigPath !== '') return openExistingCluster(kubeconfigPath);
  const controlPlane = await startControlPlane(options);
  return {
    access: controlPlane,
    controlPlane,
    readAudit: (filter) => readAuditRecords(controlPlane.auditLogPath, filter),
    close: controlPlane.stop,
  };
}

/** The `skip` option of node:test for a test that needs power over the processes. */
export function skipWithoutControl(cluster: TestCluster): string | false {
  return cluster.controlPlane ? false : 'needs a control plane of its own';
}

async function openExistingCluster(kubeconfigPath: string): Promise<TestCluster> {
  const admin = readConnection(kubeconfigPath);
  const client = createApiClient(admin);
  try {
    await createIfMissing(client, '/api/v1/namespaces', NAMESPACE);
    const watcher = await requestToken(client, 'rollcall-watcher');
    const functions = await requestToken(client, 'rollcall-functions');
    return describeExistingCluster({ kubeconfigPath, admin, watcher, functions });
  } finally {
    client.close();
  }
}

function readConnection(kubeconfigPath: string): ApiConnection {
  const text = execFileSync(
    'kubectl',
    ['config', 'view', '--raw', '--minify', '--flatten', '--output=json'],
    { env: { ...process.env, KUBECONFIG: kubeconfigPath }, encoding: 'utf8' },
  );
  const view = JSON.parse(text) as KubeconfigView;
  const { server, 'certificate-authority-data': authority } = view.clusters[0].cluster;
  const { user } = view.users[0];
  const certificate = user['client-certificate-data'];
  if (authority === undefined || (user.token === undefined && certificate === undefined)) {
    throw new Error(
      `${kubeconfigPath} has no certificate authority, or neither token nor client certificate: ` +
        'credential plugins are not supported here; make one with `kubectl create token`',
    );
  }
  return {
    server,
    caPem: decode(authority),
    ...(user.token === undefined ? {} : { token: user.token }),
    ...(certificate === undefined
      ? {}
      : {
          clientCertificatePem: decode(certificate),
          clientKeyPem: decode(user['client-key-data'] ?? ''),
        }),
  };
}

function describeExistingCluster(parts: {
  readonly kubeconfigPath: string;
  readonly admin: ApiConnection;
  readonly watcher: string;
  readonly functions: string;
}): TestCluster {
  const { kubeconfigPath, admin, watcher, functions } = parts;
  const { server, caPem } = admin;
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-test-cluster-'));
  const isAdministrator = (actor: TestActor): boolean => actor === 'admin' || actor === 'observer';
  // A certificate instead of a token leaves these two empty: use connectionOf.
  const adminToken = admin.token ?? '';
  const tokens = { admin: adminToken, observer: adminToken, watcher, functions };
  const access: ClusterAccess = {
    name: 'existing',
    server,
    caPem,
    tokens,
    kubectlPath: 'kubectl',
    kubeconfigPath,
    connectionOf: (actor) =>
      isAdministrator(actor) ? admin : { server, caPem, token: tokens[actor] },
    writeKubeconfig: (actor) => {
      if (isAdministrator(actor)) return kubeconfigPath;
      const path = join(directory, `${actor}.kubeconfig`);
      const token = tokens[actor];
      const clusterName = 'existing';
      writeKubeconfigFile(path, { clusterName, server, caPem, userName: actor, token });
      return path;
    },
  };
  return {
    access,
    controlPlane: undefined,
    readAudit: undefined,
    close: () => rm(directory, { recursive: true, force: true }),
  };
}

async function requestToken(client: ApiClient, serviceAccount: string): Promise<string> {
  const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`;
  await createIfMissing(client, path, serviceAccount);
  const answer = await client.post(`${path}/${serviceAccount}/token`, {
    spec: { expirationSeconds: TOKEN_SECONDS },
  });
  return (answer['status'] as { token: string }).token;
}

async function createIfMissing(client: ApiClient, path: string, name: string): Promise<void> {
  const body = { metadata: { name } };
  const response = await client.request({ method: 'POST', path, body });
  if (response.status >= 400 && response.status !== 409) {
    throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
  }
}

function decode(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
