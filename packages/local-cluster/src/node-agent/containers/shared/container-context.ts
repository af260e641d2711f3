/**
 * What the container stages of one node agent share, and how they record events about a container.
 *
 * Stages take it as their first argument; nothing in it changes while the agent runs.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import type { ContainerRuntime } from '../../../runtime/cri.ts';
import type { EventRecorder } from '../../shared/event-recorder.ts';
import type { PodObject } from '../../shared/pod-object.ts';
import { fieldPathOf } from './container-spec.ts';

/** Shared by the stages. */
export interface ContainerContext {
  readonly runtime: ContainerRuntime;
  readonly clock: Clock;
  readonly random: Random;
  readonly record: EventRecorder;
  readonly log: Log;
}

/** Records an Event about a container of a pod. */
export function recordContainerEvent(
  { record }: Pick<ContainerContext, 'record'>,
  { pod, containerName }: { readonly pod: PodObject; readonly containerName: string },
  event: {
    readonly type: 'Normal' | 'Warning';
    readonly reason: string;
    readonly message: string;
  },
): void {
  record({ about: pod, fieldPath: fieldPathOf(pod, containerName), ...event });
}
