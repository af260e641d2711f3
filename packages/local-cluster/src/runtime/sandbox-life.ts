/**
 * The life of a simulated pod sandbox: pause container and network, set up in one go and taken down together.
 *
 * A sandbox exists when its network does: one whose CNI call fails is gone at once, as containerd cleans it up.
 */
import { killContainer } from './container-life.ts';
import type { LifeContext } from './container-life.ts';
import { RuntimeError } from './cri.ts';
import type { Sandbox, SandboxConfig } from './cri.ts';
import { takeFailure } from './machine-records.ts';
import type { MachineRecords, SandboxRecord } from './machine-records.ts';
import { networkError } from './pod-network-plugin.ts';
import type { PodNetworkPlugin } from './pod-network-plugin.ts';
import { readSandboxSimulation } from './simulation-request.ts';

/** What the life of sandboxes needs. */
export interface SandboxContext extends LifeContext {
  readonly records: MachineRecords;
  readonly network: PodNetworkPlugin;
  /** 64 hexadecimal digits. */
  readonly newId: () => string;
}

const SHORTEST_SANDBOX_MS = 30;
const SANDBOX_RANGE_MS = 60;

/** CRI RunPodSandbox: rejects with RuntimeError `Sandbox` or `Network`, and leaves nothing behind then. */
export async function runPodSandbox(
  machine: SandboxContext,
  config: SandboxConfig,
): Promise<Sandbox> {
  const { records, random, timers, network } = machine;
  const { simulation, warnings } = readSandboxSimulation(config.annotations);
  const fails = (what: string, times: number): boolean =>
    times > 0 && takeFailure(records.pod(config.podUid), { what, times });
  await timers.wait(Math.round(SHORTEST_SANDBOX_MS + random.next() * SANDBOX_RANGE_MS));
  if (fails('sandbox', simulation.sandboxFailures)) {
    throw new RuntimeError(
      'Sandbox',
      'rpc error: code = Unknown desc = failed to create containerd task: simulated failure',
    );
  }
  if (fails('network', simulation.networkFailures)) {
    throw networkError('simulated failure');
  }
  const id = machine.newId();
  const podIp = config.isHostNetwork ? network.hostIp : network.add(id);
  const record: SandboxRecord = {
    pod: records.pod(config.podUid),
    snapshot: {
      id,
      config,
      state: 'ready',
      createdAtMs: machine.clock.nowMs(),
      podIp,
      ...(warnings.length === 0 ? {} : { warnings }),
    },
  };
  records.addSandbox(record);
  return record.snapshot;
}

/** CRI StopPodSandbox: its containers are killed, its address is free again. Idempotent. */
export function stopPodSandbox(machine: SandboxContext, record: SandboxRecord): void {
  for (const container of record.pod.containers) {
    if (container.sandbox === record) killContainer(machine, container);
  }
  if (record.snapshot.state === 'notReady') return;
  machine.network.remove(record.snapshot.id);
  record.snapshot = { ...record.snapshot, state: 'notReady' };
}
