/**
 * The local cluster (packages/local-cluster/src) as a cluster for suites: the same access, kubeconfigs and audit records as a
 * control plane of processes.
 *
 * It runs in this process; its requests are recorded as they are answered, those of its own components too.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import type { RequestObserver } from '@rollcall/local-cluster/api/request/api-request.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import type { MachineSpec } from '@rollcall/local-cluster/machines/machine.ts';
import { matchesAuditFilter, type AuditRecord } from '../control-plane/audit.ts';
import type { ClusterAccess } from '../control-plane/cluster-access.ts';
import { writeKubeconfigFile } from '../control-plane/identities.ts';
import type { TestCluster } from '../control-plane/test-cluster.ts';
import { createActivityLog } from './activity-log.ts';

export interface LocalTestClusterOptions {
  readonly name: string;
  readonly machines?: readonly MachineSpec[];
}

/** Starts it; the caller owes `close()`. */
export async function openLocalTestCluster(options: LocalTestClusterOptions): Promise<TestCluster> {
  const records: AuditRecord[] = [];
  const directory = mkdtempSync(join(tmpdir(), `${options.name}-`));
  const removeDirectory = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const starting = startLocalCluster({
    name: options.name,
    port: 0,
    machines: options.machines ?? [],
    clock: createSystemClock(),
    random: createSystemRandom(),
    log: createActivityLog().log,
    onRequest: (record) => records.push(auditRecordOf(record)),
  });
  starting.catch(removeDirectory);
  const local = await starting;
  return {
    access: describeAccess(local, directory),
    controlPlane: undefined,
    readAudit: async (filter) => records.filter((record) => matchesAuditFilter(record, filter)),
    close: async () => {
      await local.stop();
      await removeDirectory();
    },
  };
}

function describeAccess(local: LocalCluster, directory: string): ClusterAccess {
  const { name, server, caPem, tokens } = local;
  const writeKubeconfig: ClusterAccess['writeKubeconfig'] = (actor) => {
    const path = join(directory, `${actor}.kubeconfig`);
    const token = tokens[actor];
    writeKubeconfigFile(path, { clusterName: name, server, caPem, userName: actor, token });
    return path;
  };
  return {
    name,
    server,
    caPem,
    tokens,
    kubectlPath: 'kubectl',
    kubeconfigPath: writeKubeconfig('admin'),
    writeKubeconfig,
    connectionOf: (actor) => ({ server, caPem, token: tokens[actor] }),
  };
}

/** A request is recorded when it has been answered; a watch when it was opened. */
function auditRecordOf(record: Parameters<RequestObserver>[0]): AuditRecord {
  const { attributes, status, userAgent = '' } = record;
  const nowMs = performance.timeOrigin + performance.now();
  return {
    user: attributes.user.name,
    userAgent,
    verb: attributes.verb,
    resource: attributes.resource,
    subresource: attributes.subresource ?? '',
    namespace: attributes.namespace ?? '',
    name: attributes.name ?? '',
    code: status,
    requestUri: attributes.path,
    receivedAtMs: nowMs,
    completedAtMs: nowMs,
  };
}
