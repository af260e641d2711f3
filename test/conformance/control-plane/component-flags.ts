/**
 * The command lines of the control plane's programs, with the reason for each flag that is not
 * plain wiring. Everything listens on 127.0.0.1 only. Pure: it touches no file.
 */
import { join } from 'node:path';
import type { Binaries } from './build.ts';
import type { IdentityFiles } from './identities.ts';

export interface Wiring {
  readonly binaries: Binaries;
  readonly directory: string;
  readonly etcdDataDirectory: string;
  readonly ports: {
    readonly etcdClient: number;
    readonly etcdPeer: number;
    readonly apiServer: number;
  };
  readonly identities: IdentityFiles;
  readonly certificateDirectory: string;
  readonly auditLogPath: string;
  readonly auditLog: boolean;
  /** Beside those that are on by default. */
  readonly admissionPlugins: readonly string[];
  /** Issuers of service account tokens; the first one signs. */
  readonly issuers: readonly string[];
}

/** The choices that may change while a control plane runs. */
export interface Settings {
  daemonSetController: 'on' | 'off';
  limits: 'default' | 'lifted';
  /** Whether the API server can stream lists, as not every release does by default. */
  watchList: 'on' | 'off';
}

export type CommandLine = readonly [string, ...string[]];

const ETCD_QUOTA_BYTES = 8 * 1024 ** 3;
const AUDIT_LOG_MEBIBYTES_MAX = 100_000;

/** etcd: no fsync, because a test never survives a power cut. */
export function etcdCommand(wiring: Wiring): CommandLine {
  const client = `http://127.0.0.1:${String(wiring.ports.etcdClient)}`;
  const peer = `http://127.0.0.1:${String(wiring.ports.etcdPeer)}`;
  return [
    wiring.binaries.etcd,
    `--data-dir=${wiring.etcdDataDirectory}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    `--quota-backend-bytes=${String(ETCD_QUOTA_BYTES)}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

/**
 * kube-apiserver. It makes its own serving certificate and authority in `--cert-dir`; a loopback
 * address can only be advertised without an endpoint reconciler.
 */
export function apiServerCommand(wiring: Wiring, settings: Readonly<Settings>): CommandLine {
  const { identities } = wiring;
  const audit = [
    `--audit-policy-file=${auditPolicyPath(wiring)}`,
    `--audit-log-path=${wiring.auditLogPath}`,
    // The default rotates after 100 MiB: the counts of a benchmark would be cut in two.
    `--audit-log-maxsize=${String(AUDIT_LOG_MEBIBYTES_MAX)}`,
  ];
  return [
    wiring.binaries.kubeApiserver,
    `--etcd-servers=http://127.0.0.1:${String(wiring.ports.etcdClient)}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${String(wiring.ports.apiServer)}`,
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${wiring.certificateDirectory}`,
    `--token-auth-file=${identities.tokenFile}`,
    '--authorization-mode=RBAC',
    // As every distribution sets it: agents on nodes are often privileged.
    '--allow-privileged=true',
    '--service-cluster-ip-range=10.96.0.0/16',
    ...wiring.issuers.map((issuer) => `--service-account-issuer=${issuer}`),
    `--service-account-key-file=${identities.serviceAccountPublicKeyFile}`,
    `--service-account-signing-key-file=${identities.serviceAccountPrivateKeyFile}`,
    '--max-requests-inflight=2000',
    '--max-mutating-requests-inflight=1000',
    '--shutdown-delay-duration=0s',
    ...(settings.watchList === 'off' ? ['--feature-gates=WatchList=false'] : []),
    ...(wiring.admissionPlugins.length === 0
      ? []
      : [`--enable-admission-plugins=${wiring.admissionPlugins.join(',')}`]),
    ...(wiring.auditLog ? audit : []),
  ];
}

export function auditPolicyPath(wiring: Pick<Wiring, 'directory'>): string {
  return join(wiring.directory, 'audit-policy.yaml');
}

/**
 * One line per request, written when it is complete; nothing is left out. Deletions of pods come with
 * their preconditions: which pod was meant.
 */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Request
  verbs: [delete]
  resources:
  - resources: [pods]
- level: Metadata
`;

/** kube-controller-manager, with its DaemonSet loop on or off; all other loops always run. */
export function controllerManagerCommand(
  wiring: Wiring,
  settings: Readonly<Settings>,
): CommandLine {
  const { identities } = wiring;
  return [
    wiring.binaries.kubeControllerManager,
    `--kubeconfig=${kubeconfigPathOf(wiring, 'controllerManager')}`,
    `--controllers=*${settings.daemonSetController === 'off' ? ',-daemonset-controller' : ''}`,
    // Each loop acts under its own name: the audit log tells them apart.
    '--use-service-account-credentials',
    `--service-account-private-key-file=${identities.serviceAccountPrivateKeyFile}`,
    `--root-ca-file=${servingCertificatePath(wiring)}`,
    '--leader-elect=false',
    '--secure-port=0',
    // Nodes without heartbeats would be declared lost after 40 s.
    '--node-monitor-grace-period=24h',
    ...clientLimits(settings.limits),
  ];
}

/** kube-scheduler. */
export function schedulerCommand(wiring: Wiring, limits: Settings['limits']): CommandLine {
  return [
    wiring.binaries.kubeScheduler,
    `--kubeconfig=${kubeconfigPathOf(wiring, 'scheduler')}`,
    '--leader-elect=false',
    '--secure-port=0',
    ...clientLimits(limits),
  ];
}

/** kwok: plays the kubelets of the nodes that carry its annotation. */
export function kwokCommand(wiring: Wiring): CommandLine {
  const stageFiles = ['kwok-configuration.yaml', 'kwok-stages.yaml'];
  return [
    wiring.binaries.kwok,
    `--kubeconfig=${kubeconfigPathOf(wiring, 'kwok')}`,
    '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    '--node-ip=127.0.0.1',
    '--node-lease-duration-seconds=0',
    ...stageFiles.map((file) => `--config=${join(import.meta.dirname, file)}`),
  ];
}

/** The certificate file that the API server writes: its own certificate, then its authority. */
export function servingCertificatePath(wiring: Pick<Wiring, 'certificateDirectory'>): string {
  return join(wiring.certificateDirectory, 'apiserver.crt');
}

export function kubeconfigPathOf(wiring: Pick<Wiring, 'directory'>, actor: string): string {
  return join(wiring.directory, `${actor}.kubeconfig`);
}

function clientLimits(limits: Settings['limits']): readonly string[] {
  return limits === 'lifted' ? ['--kube-api-qps=5000', '--kube-api-burst=10000'] : [];
}
