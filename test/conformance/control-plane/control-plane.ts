/**
 * A real Kubernetes control plane as plain processes: etcd, kube-apiserver,
 * kube-controller-manager, kube-scheduler, and kwok in place of the kubelets.
 *
 * Several may run side by side: each has a run directory, ports and identities of its own.
 * Everything listens on 127.0.0.1. No process survives the one that started it (reaper.ts).
 * Assumes Linux. It applies none of the product's manifests.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiClient, type ApiClient } from './api.ts';
import { ensureBinaries, type Binaries } from './build.ts';
import { describeAccess, type ClusterAccess } from './cluster-access.ts';
import {
  assertAllRunning,
  COMPONENT_NAMES,
  controlComponents,
  describeComponents,
  READY_DEADLINE_MS,
  waitUntilReady,
} from './component-control.ts';
import type { ComponentControl, Components } from './component-control.ts';
import { AUDIT_POLICY, auditPolicyPath, servingCertificatePath } from './component-flags.ts';
import type { Settings, Wiring } from './component-flags.ts';
import { isPortTaken } from '../../../scripts/lib/component.ts';
import { writeIdentityFiles, userNameOf } from './identities.ts';
import { pollUntil } from './poll.ts';
import { findFreePorts } from '../../../scripts/lib/ports.ts';
import { startReaper } from '../../../scripts/lib/reaper.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const READ_ONLY = ['get', 'list', 'watch'];
const OBSERVER_ROLE = 'rollcall-test-observer';
const SETUP_DEADLINE_MS = 60_000;

/** Applies the set-up; repeating it on a kept data directory does no harm. */
async function prepareCluster(admin: ApiClient): Promise<void> {
  const objects: readonly (readonly [string, unknown])[] = [
    [`${RBAC}/clusterroles`, observerRole()],
    [`${RBAC}/clusterrolebindings`, observerBinding()],
  ];
  for (const [path, body] of objects) {
    // A busy server that has just become ready may still refuse, or answer too late.
    await pollUntil({ deadlineMs: SETUP_DEADLINE_MS, description: `POST ${path}` }, async () => {
      const response = await admin.request({ method: 'POST', path, body });
      if (response.status < 400 || response.status === 409) return true;
      throw new Error(`POST ${path}: ${JSON.stringify(response.body)}`);
    });
  }
}

/** Waits until pods can be created: their namespace needs its default service account. */
async function waitForServiceAccount(
  admin: ApiClient,
  deadlineMs: number,
  assertProgress: () => void,
): Promise<void> {
  const path = '/api/v1/namespaces/default/serviceaccounts/default';
  await pollUntil({ deadlineMs, description: 'default service account' }, async () => {
    assertProgress();
    const response = await admin.request({ method: 'GET', path });
    return response.status === 200 ? true : undefined;
  });
}

function observerRole(): unknown {
  return {
    metadata: { name: OBSERVER_ROLE },
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: READ_ONLY },
      { nonResourceURLs: ['*'], verbs: ['get'] },
    ],
  };
}

function observerBinding(): unknown {
  return {
    metadata: { name: OBSERVER_ROLE },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: OBSERVER_ROLE },
    subjects: [
      { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: userNameOf('observer') },
    ],
  };
}

/** How a control plane is to be; every field has a default. */
export interface ControlPlaneOptions {
  /** Used for the kubeconfig's context and the run directory. */
  readonly name?: string;
  /** The built-in DaemonSet loop; off by default. */
  readonly daemonSetController?: 'on' | 'off';
  /** Client rate limits of controller-manager and scheduler; `lifted` for fast set-up. */
  readonly limits?: 'default' | 'lifted';
  /** One line per request; on by default. */
  readonly auditLog?: boolean;
  /** Admission plug-ins of the API server beside those that are on by default. */
  readonly admissionPlugins?: readonly string[];
  /** Issuers of service account tokens, the one that signs first; default: https://kubernetes.default.svc. */
  readonly issuers?: readonly string[];
  /** Off: etcd and the API server alone, so that nothing acts on objects; on by default. */
  readonly loops?: 'on' | 'off';
  /** Run directory, kept at the end; without it a temporary one, removed at the end. */
  readonly dataDir?: string;
}

/** A running control plane. */
export interface ControlPlane extends ClusterAccess, ComponentControl {
  readonly directory: string;
  readonly etcdDataDirectory: string;
  /** Of etcd's own interface, on 127.0.0.1. */
  readonly etcdClientPort: number;
  readonly auditLogPath: string;
  /** Files of PEM keys, which the API server reads when it starts. */
  readonly serviceAccountKeys: { readonly signing: string; readonly accepted: string };
  /** Stops all programs in reverse order; none is left when it resolves. */
  readonly stop: () => Promise<void>;
}

const START_ATTEMPTS_MAX = 3;

/**
 * Starts a control plane; resolves when pods can be created in it. The caller owes a `stop()`.
 *
 * @example
 * const controlPlane = await startControlPlane({ limits: 'lifted' });
 * try { … } finally { await controlPlane.stop(); }
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const binaries = await ensureBinaries();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options, binaries);
    } catch (error) {
      if (!isPortTaken(error) || attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}

async function startOnce(options: ControlPlaneOptions, binaries: Binaries): Promise<ControlPlane> {
  const name = options.name ?? 'rollcall-test';
  const directory = options.dataDir ?? (await mkdtemp(join(tmpdir(), `${name}-`)));
  const settings: Settings = {
    daemonSetController: options.daemonSetController ?? 'off',
    limits: options.limits ?? 'default',
    watchList: 'on',
  };
  const wiring = await prepareDirectory({ options, binaries, directory });
  const reaper = startReaper(
    options.dataDir === undefined ? { temporaryDirectory: directory } : {},
  );
  const components = describeComponents({ wiring, settings, reaper });
  const stop = async (): Promise<void> => {
    for (const component of COMPONENT_NAMES.toReversed()) await components[component].stop();
    await reaper.close();
  };
  try {
    const access = await bringUp({ name, wiring, components, loops: options.loops ?? 'on' });
    const openAdmin = () => createApiClient(access.connectionOf('admin'));
    return {
      ...access,
      ...controlComponents({ components, settings, openAdmin }),
      directory,
      serviceAccountKeys: {
        signing: wiring.identities.serviceAccountPrivateKeyFile,
        accepted: wiring.identities.serviceAccountPublicKeyFile,
      },
      etcdDataDirectory: wiring.etcdDataDirectory,
      etcdClientPort: wiring.ports.etcdClient,
      auditLogPath: wiring.auditLogPath,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepareDirectory(parts: {
  readonly options: ControlPlaneOptions;
  readonly binaries: Binaries;
  readonly directory: string;
}): Promise<Wiring> {
  const { options, binaries, directory } = parts;
  const [etcdClient = 0, etcdPeer = 0, apiServer = 0] = await findFreePorts(3);
  const certificateDirectory = join(directory, 'certificates');
  mkdirSync(certificateDirectory, { recursive: true });
  writeFileSync(auditPolicyPath({ directory }), AUDIT_POLICY);
  return {
    binaries,
    directory,
    certificateDirectory,
    etcdDataDirectory: join(directory, 'etcd'),
    ports: { etcdClient, etcdPeer, apiServer },
    identities: writeIdentityFiles(directory),
    auditLogPath: join(directory, 'audit.log'),
    auditLog: options.auditLog ?? true,
    admissionPlugins: options.admissionPlugins ?? [],
    issuers: options.issuers ?? ['https://kubernetes.default.svc'],
  };
}

async function bringUp(parts: {
  readonly name: string;
  readonly wiring: Wiring;
  readonly components: Components;
  readonly loops: 'on' | 'off';
}): Promise<ClusterAccess> {
  const { name, wiring, components } = parts;
  const servers = [components.etcd, components.apiServer];
  const loops =
    parts.loops === 'on'
      ? [components.controllerManager, components.scheduler, components.kwok]
      : [];
  for (const component of servers) component.start();
  const caPem = await pollUntil(
    { deadlineMs: READY_DEADLINE_MS, description: 'certificate of the API server' },
    () => {
      assertAllRunning(servers);
      return readAuthority(wiring);
    },
  );
  const server = `https://127.0.0.1:${String(wiring.ports.apiServer)}`;
  const access = describeAccess({ name, wiring, server, caPem });
  const admin = createApiClient(access.connectionOf('admin'));
  try {
    await waitUntilReady(admin, servers);
    await prepareCluster(admin);
    for (const component of loops) component.start();
    // Service accounts are made by a loop.
    if (loops.length === 0) return access;
    await waitForServiceAccount(admin, READY_DEADLINE_MS, () => {
      assertAllRunning(loops);
    });
  } finally {
    admin.close();
  }
  return access;
}

/** The API server's file holds its certificate first, then the authority that signed it. */
function readAuthority(wiring: Wiring): string | undefined {
  const text = readFileSync(servingCertificatePath(wiring), 'utf8');
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g);
  return blocks?.[1];
}
