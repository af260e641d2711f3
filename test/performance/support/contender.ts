/**
 * Who is measured: Rollcall in a process of its own, or the built-in controller with one of its limits.
 *
 * One at a time on the same control plane; whoever is not measured does not run. CPU is that of the
 * contender's whole process (the engine with watcher, handlers and its local queues and tables; the
 * controller-manager with its other loops). Requests are those that the API server's audit log has.
 */
import { countBy, readAuditRecords } from '../../conformance/control-plane/audit.ts';
import type { AuditRecord } from '../../conformance/control-plane/audit.ts';
import { userNameOf } from '../../conformance/control-plane/identities.ts';
import type { BenchCluster } from './bench-cluster.ts';
import { startEngineProcess } from './engine-process.ts';

/** In the order in which they are measured. */
export const CONTENDERS = ['rollcall', 'lifted', 'default'] as const;

/** Rollcall, or the limits of the built-in controller. */
export type Contender = (typeof CONTENDERS)[number];

/** What a contender has used since it began. */
export interface Usage {
  readonly cpuSeconds: number;
  /** Counters of the engine; none for the built-in controller. */
  readonly counters: Readonly<Record<string, number>>;
}

export interface RunningContender {
  readonly usage: () => Promise<Usage>;
  /** Its requests that arrived since then, watches and leases left out. */
  readonly requestsSince: (sinceMs: number) => Promise<readonly AuditRecord[]>;
  readonly stop: () => Promise<void>;
}

/** Reads the names on a command line; all of them when there is none. */
export function parseContenders(names: readonly string[]): readonly Contender[] {
  if (names.length === 0) return CONTENDERS;
  return names.map((name) => {
    const found = CONTENDERS.find((contender) => contender === name);
    if (found !== undefined) return found;
    throw new Error(`who is ${name}? One of ${CONTENDERS.join(', ')}`);
  });
}

/** Starts one; the former must have been stopped. */
export async function startContender(
  who: Contender,
  cluster: BenchCluster,
): Promise<RunningContender> {
  return who === 'rollcall' ? startRollcall(cluster) : startBuiltIn(who, cluster);
}

async function startRollcall({ controlPlane }: BenchCluster): Promise<RunningContender> {
  const engine = await startEngineProcess(controlPlane);
  const users = new Set([userNameOf('watcher'), userNameOf('functions')]);
  return {
    usage: async () => {
      const { cpuSeconds, requests } = await engine.usage();
      return { cpuSeconds, counters: requests };
    },
    requestsSince: (sinceMs) => readRequests(controlPlane.auditLogPath, { sinceMs, users }),
    stop: engine.stop,
  };
}

async function startBuiltIn(
  limits: Exclude<Contender, 'rollcall'>,
  { controlPlane }: BenchCluster,
): Promise<RunningContender> {
  await controlPlane.setControllerManagerLimits(limits);
  await controlPlane.setDaemonSetController('on');
  const users = new Set(['system:serviceaccount:kube-system:daemon-set-controller']);
  return {
    usage: () =>
      Promise.resolve({ cpuSeconds: controlPlane.cpuSeconds('controllerManager'), counters: {} }),
    requestsSince: (sinceMs) => readRequests(controlPlane.auditLogPath, { sinceMs, users }),
    stop: async () => {
      await controlPlane.setControllerManagerLimits('lifted');
      await controlPlane.setDaemonSetController('off');
    },
  };
}

function readRequests(
  path: string,
  of: { readonly sinceMs: number; readonly users: ReadonlySet<string> },
): Promise<readonly AuditRecord[]> {
  return readAuditRecords(path, {
    sinceMs: of.sinceMs,
    where: ({ user, verb, resource }) =>
      of.users.has(user) && verb !== 'watch' && resource !== 'leases',
  });
}

/** Requests by what they were for, the most frequent first. */
export function describeRequests(requests: readonly AuditRecord[]): string {
  const counts = countBy(requests, ({ verb, resource, subresource, code }) =>
    [
      `${verb} ${resource}`,
      subresource === '' ? '' : `/${subresource}`,
      code < 400 ? '' : ` (${String(code)})`,
    ].join(''),
  );
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([what, count]) => `${what} ${String(count)}`)
    .join(', ');
}
