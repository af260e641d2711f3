/**
 * Room that was made for a pod and must not be taken by less important ones before it comes.
 *
 * In memory only: after a restart of the scheduler the pod preempts again if it must.
 */
import type { SchedulingPod } from '../state/scheduling-pod.ts';

interface Nomination {
  readonly pod: SchedulingPod;
  readonly nodeName: string;
  readonly victimUids: ReadonlySet<string>;
}

/** The nominations, by pod. */
export class Nominations {
  readonly #byPod = new Map<string, Nomination>();

  /** Room is being made for the pod. */
  set(pod: SchedulingPod, of: Omit<Nomination, 'pod'>): void {
    this.#byPod.set(pod.key, { pod, ...of });
  }

  /** The pod is bound, gone, or looks elsewhere. */
  forget(key: string): void {
    this.#byPod.delete(key);
  }

  /** The pod's nomination. */
  of(key: string): Nomination | undefined {
    return this.#byPod.get(key);
  }

  /** Pods that are expected on a node and that this pod may not push aside. */
  before(pod: SchedulingPod, nodeName: string): readonly SchedulingPod[] {
    if (this.#byPod.size === 0) return [];
    return [...this.#byPod.values()]
      .filter(
        (each) =>
          each.nodeName === nodeName &&
          each.pod.key !== pod.key &&
          each.pod.priority >= pod.priority,
      )
      .map((each) => each.pod);
  }
}
