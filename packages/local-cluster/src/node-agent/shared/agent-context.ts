/** What every stage of a node agent may use: its machine, the API, time, the log and the events. */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { LocalClient } from '../../client/local-client.ts';
import type { MachineSpec } from '../../machines/machine.ts';
import type { EventRecorder } from './event-recorder.ts';

/** Shared by the stages of one agent. */
export interface AgentContext {
  readonly machine: MachineSpec;
  readonly client: LocalClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly record: EventRecorder;
  /** The node's InternalIP. */
  readonly hostIp: string;
  /** Which boot of the machine this is. */
  readonly bootId: string;
}

/** A duration plus up to `share` of it, as the kubelet's wait.Jitter. */
export function withJitter(random: Random, durationMs: number, share: number): number {
  return Math.round(durationMs * (1 + share * random.next()));
}
