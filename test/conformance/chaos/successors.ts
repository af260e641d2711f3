/**
 * Which pods served their node lately, and whether one of them lets another go: with surge an available pod is deleted
 * for a successor that is available there and of the present revision, or as one of two of former ones (S3).
 *
 * A pod that was deleted by us serves nobody from then on: own writes are seen. One that others took away may be
 * counted on until word of it must have come.
 */
import type { PodRecord } from '../control-plane/observed-records.ts';

interface Service {
  readonly uid: string;
  readonly version: string | undefined;
  servedAtMs: number;
}

export interface SuccessorQuestion {
  /** Versions that were the present one at some time since the live read before the deletion. */
  readonly rightVersions: ReadonlySet<string>;
  /** Who was last available before that is known to be gone. */
  readonly sinceMs: number;
}

/** The pods of one DaemonSet that were available, by node. */
export interface Services {
  readonly note: (pod: PodRecord, atMs: number) => void;
  /** We deleted it. */
  readonly forget: (pod: PodRecord) => void;
  readonly hasSuccessor: (victim: PodRecord, question: SuccessorQuestion) => boolean;
}

/** Begins with none. */
export function createServices(): Services {
  const byNode = new Map<string, Map<string, Service>>();
  const servicesOn = ({ node = '' }: PodRecord): Map<string, Service> => {
    const found = byNode.get(node) ?? new Map<string, Service>();
    byNode.set(node, found);
    return found;
  };
  return {
    note: (pod, atMs) => {
      const { uid } = pod;
      servicesOn(pod).set(uid, { uid, version: pod.labels['version'], servedAtMs: atMs });
    },
    forget: (pod) => {
      servicesOn(pod).delete(pod.uid);
    },
    hasSuccessor: (victim, { rightVersions, sinceMs }) => {
      const own = victim.labels['version'];
      // Of two former ones either may go: there is no order between them (spec 2.7).
      const isFormer = [...rightVersions].some((version) => version !== own);
      return [...servicesOn(victim).values()].some(
        ({ uid, version = '', servedAtMs }) =>
          uid !== victim.uid && servedAtMs >= sinceMs && (rightVersions.has(version) || isFormer),
      );
    },
  };
}
