/**
 * Since when pods are ready without a break, on nodes that are Ready, by the commits of one API server: for the audit of stages.
 *
 * A break is a pod that is not ready, another moment of its readiness, a restart, or a node that is not Ready. What was
 * ready until lately counts on for as long as a view may be old.
 */
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { nodeOf } from '../simulated-cluster.ts';
import { controllerUid } from '../simulated-objects.ts';
import type { SimulatedApiServer } from './api-server.ts';
import { OLD_MS, isServing, revisionOf, readyOf } from './staged-pods.ts';

/** The longest that a view may be old by a clock that was set back. */
const KEPT_MS = OLD_MS + 20 * 60_000;

interface Stretch {
  readonly uid: string;
  readonly owner: string;
  readonly revision: string;
  readonly sinceMs: number;
  /** What breaks it by being another. */
  readonly mark: string;
  /** When it ended; undefined: it lasts. */
  endedAtMs?: number;
}

export interface ReadyPodsOptions {
  /** How old a view may be, until a delete takes effect. */
  readonly oldMs?: () => number;
  /** What of a pod is its revision; its image unless told. */
  readonly keyOf?: (pod: KubernetesObject) => string;
}

/** Watches one cluster. */
export class ReadyPods {
  readonly #api: SimulatedApiServer;
  readonly #clock: Clock;
  /** How old a view may be, until a delete takes effect. */
  readonly #oldMs: () => number;
  /** What of a pod is its revision. */
  readonly #keyOf: (pod: KubernetesObject) => string;
  #stretches: readonly Stretch[] = [];

  constructor(
    api: SimulatedApiServer,
    clock: Clock,
    { oldMs = (): number => OLD_MS, keyOf = revisionOf }: ReadyPodsOptions = {},
  ) {
    this.#oldMs = oldMs;
    this.#keyOf = keyOf;
    this.#api = api;
    this.#clock = clock;
  }

  /** Looks at everything as it is now. */
  note(): void {
    const nowMs = this.#clock.monotonicMs();
    const ready = new Map(
      this.#api
        .list('pods')
        .filter((pod) => isServing(pod) && this.#isOnReadyNode(pod))
        .map((pod) => [pod.metadata.uid, pod]),
    );
    const lasting = new Set<string>();
    for (const stretch of this.#stretches) {
      if (stretch.endedAtMs !== undefined) continue;
      const pod = ready.get(stretch.uid);
      if (pod !== undefined && markOf(pod) === stretch.mark) lasting.add(stretch.uid);
      else stretch.endedAtMs = nowMs;
    }
    const begun = [...ready.values()].filter(({ metadata }) => !lasting.has(metadata.uid));
    const kept = this.#stretches.filter(
      ({ endedAtMs }) => endedAtMs === undefined || nowMs - endedAtMs <= KEPT_MS,
    );
    this.#stretches = [...kept, ...begun.map((pod) => stretchOf(pod, this.#keyOf(pod), nowMs))];
  }

  /** For each pod of a revision that counts now, since when, the earliest first. */
  sinceMs(owner: string, revision: string): readonly number[] {
    const nowMs = this.#clock.monotonicMs();
    const earliest = new Map<string, number>();
    for (const stretch of this.#stretches) {
      const isOld = stretch.endedAtMs !== undefined && nowMs - stretch.endedAtMs > this.#oldMs();
      if (isOld || stretch.owner !== owner || stretch.revision !== revision) continue;
      earliest.set(stretch.uid, Math.min(stretch.sinceMs, earliest.get(stretch.uid) ?? Infinity));
    }
    return [...earliest.values()].sort((left, right) => left - right);
  }

  /** How long a pod has been ready without a break until now; 0 of one that is not. */
  lastedMs(uid: string): number {
    const stretch = this.#stretches.find(
      (each) => each.uid === uid && each.endedAtMs === undefined,
    );
    return stretch === undefined ? 0 : this.#clock.monotonicMs() - stretch.sinceMs;
  }

  #isOnReadyNode(pod: KubernetesObject): boolean {
    const node = this.#api.find('nodes', nodeOf(pod) ?? '');
    // Of a node that is gone the pods go within a minute; one that is made again in its place nobody tells from it.
    return node === undefined || readyOf(node)?.status === 'True';
  }
}

function stretchOf(pod: KubernetesObject, revision: string, sinceMs: number): Stretch {
  return {
    uid: pod.metadata.uid,
    owner: controllerUid(pod) ?? '',
    revision,
    sinceMs,
    mark: markOf(pod),
  };
}

function markOf(pod: KubernetesObject): string {
  const status = pod['status'] as {
    readonly containerStatuses?: readonly { readonly restartCount?: number }[];
  };
  const restarts = status.containerStatuses?.map(({ restartCount = 0 }) => restartCount) ?? [];
  return JSON.stringify([readyOf(pod)?.lastTransitionTime, restarts]);
}
