/**
 * What one machine's runtime holds: sandboxes and containers, by pod and by id, newest first.
 *
 * Snapshots are immutable and replaced; a record is the runtime's own and never leaves it. Failures that a simulation
 * asks for are counted by pod. A pod's record goes with its last sandbox; one that never got a sandbox stays (its
 * counters), which only pods with such a request do.
 */
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { RuntimeContainer, Sandbox } from './cri.ts';
import type { Simulation } from './simulation-request.ts';

/** A sandbox and its pod. */
export interface SandboxRecord {
  snapshot: Sandbox;
  readonly pod: PodRecord;
}

/** A container, what it was asked to do, and who waits for its end. */
export interface ContainerRecord {
  snapshot: RuntimeContainer;
  readonly sandbox: SandboxRecord;
  readonly simulation: Simulation;
  /** Ends the timers of its run. */
  readonly timers: Set<Cancel>;
  /** When SIGKILL comes, while it is being stopped. */
  killAtMs: number;
  cancelKill: Cancel;
  isTerminating: boolean;
  readonly onEnd: (() => void)[];
}

/** A pod of which something exists. */
export interface PodRecord {
  readonly uid: string;
  sandboxes: readonly SandboxRecord[];
  containers: readonly ContainerRecord[];
  /** How often what was asked to fail has failed, by verb and container. */
  readonly failures: Map<string, number>;
}

/** The records of a machine. */
export interface MachineRecords {
  readonly pods: ReadonlyMap<string, PodRecord>;
  /** The pod's record, made when there is none. */
  pod(uid: string): PodRecord;
  sandbox(id: string): SandboxRecord | undefined;
  container(id: string): ContainerRecord | undefined;
  addSandbox(record: SandboxRecord): void;
  addContainer(record: ContainerRecord): void;
  removeSandbox(record: SandboxRecord): void;
  removeContainer(record: ContainerRecord): void;
  clear(): void;
}

/** Makes the records of a machine on which nothing runs. */
export function createMachineRecords(): MachineRecords {
  const pods = new Map<string, PodRecord>();
  const sandboxes = new Map<string, SandboxRecord>();
  const containers = new Map<string, ContainerRecord>();
  return {
    pods,
    pod: (uid) => {
      const known = pods.get(uid);
      if (known !== undefined) return known;
      const made: PodRecord = { uid, sandboxes: [], containers: [], failures: new Map() };
      pods.set(uid, made);
      return made;
    },
    sandbox: (id) => sandboxes.get(id),
    container: (id) => containers.get(id),
    addSandbox: (record) => {
      sandboxes.set(record.snapshot.id, record);
      record.pod.sandboxes = [record, ...record.pod.sandboxes];
    },
    addContainer: (record) => {
      const { pod } = record.sandbox;
      containers.set(record.snapshot.id, record);
      pod.containers = [record, ...pod.containers];
    },
    removeSandbox: (record) => {
      const { pod } = record;
      sandboxes.delete(record.snapshot.id);
      pod.sandboxes = pod.sandboxes.filter((other) => other !== record);
      if (pod.sandboxes.length === 0) pods.delete(pod.uid);
    },
    removeContainer: (record) => {
      const { pod } = record.sandbox;
      containers.delete(record.snapshot.id);
      pod.containers = pod.containers.filter((other) => other !== record);
    },
    clear: () => {
      pods.clear();
      sandboxes.clear();
      containers.clear();
    },
  };
}

/** Must this fail, as the simulation asks, for one of the first `times`? Counts it. */
export function takeFailure(
  pod: PodRecord,
  { what, times }: { readonly what: string; readonly times: number },
): boolean {
  if (times <= 0) return false;
  const before = pod.failures.get(what) ?? 0;
  if (before >= times) return false;
  pod.failures.set(what, before + 1);
  return true;
}
