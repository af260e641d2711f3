/**
 * Live reads of one confirmation, each object read once: a pod that stays is looked at for every
 * duplicate beside it, a vanished node for every pod that was aimed at it.
 *
 * Lives as long as one confirmation. What was read is never reused after effects were sent: a later
 * run reads again (S3, S4).
 */
import type { NodeName } from '../../../core/model/identifiers.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { ClusterReader, LiveRead } from '../../../ports/cluster/cluster-access.ts';

/** Reads of pods of one namespace, and of nodes. */
export class SharedReads {
  readonly #reader: Pick<ClusterReader, 'getPod' | 'getNode'>;
  readonly #namespace: string;
  readonly #pods = new Map<string, Promise<LiveRead<KubernetesObject>>>();
  readonly #nodes = new Map<NodeName, Promise<LiveRead<KubernetesObject>>>();

  constructor(reader: Pick<ClusterReader, 'getPod' | 'getNode'>, namespace: string) {
    this.#reader = reader;
    this.#namespace = namespace;
  }

  /** The pod of that name as it is now, or was when this confirmation first asked. */
  pod(name: string): Promise<LiveRead<KubernetesObject>> {
    const found = this.#pods.get(name);
    if (found !== undefined) return found;
    const read = this.#reader.getPod({ namespace: this.#namespace, name });
    this.#pods.set(name, read);
    return read;
  }

  /** The node of that name, likewise. */
  node(name: NodeName): Promise<LiveRead<KubernetesObject>> {
    const found = this.#nodes.get(name);
    if (found !== undefined) return found;
    const read = this.#reader.getNode(name);
    this.#nodes.set(name, read);
    return read;
  }
}
