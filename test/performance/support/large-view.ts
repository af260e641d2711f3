/**
 * One cluster of any size with one settled DaemonSet, as `ingest` would have stored it, for `bench -- reconcile`.
 *
 * The view stands in an emulated table behind the very adapters of a deployment, in as many slices as a watcher of
 * that size announces. Only the DaemonSet and its revision are in the simulated cluster: pods are not read live.
 */
import { createHash } from 'node:crypto';
import { clusterId, clusterUid, uid } from '../../../src/core/model/identifiers.ts';
import type { Epoch, Incarnation, Uid } from '../../../src/core/model/identifiers.ts';
import { ZERO_STAMP, stampOf, type Stamp } from '../../../src/core/model/position.ts';
import type { Projection } from '../../../src/core/model/projections.ts';
import type { Hint } from '../../../src/core/model/hint.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { slotName } from '../../../src/core/pod/naming.ts';
import { projectLiveNode, projectLivePod } from '../../../src/core/projections/project.ts';
import {
  EMPTY_HASHES,
  sliceCountFor,
  sliceIndexOf,
} from '../../../src/core/projections/set-hash.ts';
import type { SlicedSet, ViewStore } from '../../../src/ports/stores/view-store.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { sampleDaemonSet } from '../../support/reconcile-world.ts';
import { SimulatedCluster } from '../../support/simulated-cluster.ts';
import { projectRevision } from '../../support/view-mirror.ts';

const NAMESPACE = 'system';
const NAME = 'agents';
const READY_AT = '2026-01-01T00:00:00Z';

/** Digits that do not compress away, the same for the same text. */
function noise(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

function uidOf(text: string): string {
  const digits = noise(text, 32);
  return [0, 8, 12, 16, 20]
    .map((from, part) => digits.slice(from, [8, 12, 16, 20, 32][part]))
    .join('-');
}

/** The cluster and its view. */
export class LargeView {
  readonly cluster: SimulatedCluster;
  readonly registration: ClusterRegistration;
  readonly hint: Hint;
  readonly #nodes: number;
  readonly #view: ViewStore;
  readonly #clock: Clock;
  readonly #uid: Uid;
  #seq = 0;
  #metaVersion = 0;
  #revisions = -1;
  #changed = { nodes: ZERO_STAMP, pods: ZERO_STAMP, revisions: ZERO_STAMP };
  #pods: KubernetesObject[] = [];

  constructor(nodes: number, view: ViewStore, clock: Clock) {
    const id = clusterUid(`cluster-of-${String(nodes)}`);
    this.#nodes = nodes;
    this.#view = view;
    this.#clock = clock;
    this.cluster = new SimulatedCluster(id, clock);
    const daemonSet = this.cluster.put('daemonsets', sampleDaemonSet() as never); // completed by the cluster
    this.#uid = uid(daemonSet.metadata.uid);
    this.registration = {
      id: clusterId(`c${String(nodes)}`),
      clusterUid: id,
      mode: 'takeover',
      isFrozen: false,
      configVersion: 0,
      senderRoleId: 'AROA',
      server: 'https://a.example',
      authentication: { kind: 'none' },
      labels: {},
    };
    const key = { cluster: this.registration.id, namespace: NAMESPACE, name: NAME };
    this.hint = { schema: 1, key, clusterUid: id, reason: 'changed' };
  }

  get #sliceCount(): number {
    return sliceCountFor(this.#nodes);
  }

  get #ref(): { readonly clusterUid: ClusterRegistration['clusterUid']; readonly uid: Uid } {
    return { clusterUid: this.registration.clusterUid, uid: this.#uid };
  }

  /** A DaemonSet in a cluster without nodes: a run makes its revision. */
  async begin(): Promise<void> {
    await this.#show([], []);
  }

  /** All nodes, each with its pod, Ready, of the revision that is there by now. */
  async fill(): Promise<void> {
    const [revision] = this.cluster.list('controllerrevisions');
    const hash = revision?.metadata.labels?.['controller-revision-hash'];
    if (hash === undefined) throw new Error('no run has made a revision yet');
    const nodes = Array.from({ length: this.#nodes }, (_, index) => nodeObject(index));
    this.#pods = nodes.map((node, index) => this.#podObject(node.metadata.name, { index, hash }));
    await this.#show(nodes.map(projectLiveNode), this.#pods.map(projectLivePod));
  }

  /** One pod more or less is Ready, and the view shows it. */
  async change(turn: number): Promise<void> {
    const index = (turn * 37) % this.#pods.length;
    const pod = this.#pods[index];
    if (pod === undefined) throw new Error('there are no pods');
    const isReady = conditionOf(pod) !== 'True';
    const changed = { ...pod, status: statusOf(isReady) };
    this.#pods[index] = changed;
    this.#seq += 1;
    const slice = sliceIndexOf(pod.metadata.name, this.#sliceCount);
    const objects = this.#pods
      .filter(({ metadata }) => sliceIndexOf(metadata.name, this.#sliceCount) === slice)
      .map(projectLivePod);
    await this.#writeSlice(`pods/${this.#uid}`, slice, objects);
    this.#changed.pods = this.#stamp;
    await this.#tell();
  }

  /** Whatever the DaemonSet and its revision are by now. */
  async follow(): Promise<void> {
    this.#seq += 1;
    await this.#tell();
  }

  get #stamp(): Stamp {
    const incarnation = 'bench' as Incarnation;
    return stampOf({ era: 1, epoch: '500' as Epoch, incarnation, seq: this.#seq });
  }

  #podObject(
    node: string,
    of: { readonly index: number; readonly hash: string },
  ): KubernetesObject {
    const name = slotName({ daemonSetName: NAME, daemonSetUid: this.#uid, node: node as never });
    return {
      metadata: {
        name,
        namespace: NAMESPACE,
        uid: uidOf(`pod ${String(of.index)}`),
        resourceVersion: String(1_000_000 + of.index * 7),
        creationTimestamp: READY_AT,
        labels: {
          app: NAME,
          'controller-revision-hash': of.hash,
          'pod-template-generation': '1',
        },
        ownerReferences: [
          {
            apiVersion: 'apps/v1',
            kind: 'DaemonSet',
            name: NAME,
            uid: this.#uid,
            controller: true,
          },
        ],
      },
      spec: { nodeName: node },
      status: statusOf(true),
    };
  }

  async #writeSet(set: SlicedSet, objects: readonly Projection[], count: number): Promise<Stamp> {
    this.#seq += 1;
    const slices = Array.from({ length: count }, (): Projection[] => []);
    for (const object of objects) slices[sliceIndexOf(object.name, count)]?.push(object);
    for (const [index, slice] of slices.entries()) await this.#writeSlice(set, index, slice);
    return this.#stamp;
  }

  async #writeSlice(set: SlicedSet, index: number, objects: readonly Projection[]): Promise<void> {
    const ref = { clusterUid: this.registration.clusterUid, set, index };
    const former = await this.#view.readSlice(ref);
    const entries = objects.map((object) => ({
      object,
      hash: parseInt(noise(object.uid, 12), 16),
    }));
    await this.#view.writeSlice(ref, { stamp: this.#stamp, objects: entries }, former?.stamp);
  }

  async #show(nodes: readonly Projection[], pods: readonly Projection[]): Promise<void> {
    this.#changed.nodes = await this.#writeSet('nodes', nodes, this.#sliceCount);
    this.#changed.pods = await this.#writeSet(`pods/${this.#uid}`, pods, this.#sliceCount);
    await this.#tell();
  }

  /** Revisions, DaemonSet, name, position and META, in the order in which `ingest` writes them. */
  async #tell(): Promise<void> {
    const ref = this.#ref;
    const revisions = this.cluster.list('controllerrevisions').map(projectRevision);
    if (revisions.length !== this.#revisions) {
      this.#changed.revisions = await this.#writeSet(`revisions/${this.#uid}`, revisions, 1);
      this.#revisions = revisions.length;
    }
    const object = this.cluster.find('daemonsets', NAME, NAMESPACE);
    const former = await this.#view.readDaemonSet(ref);
    if (former?.object?.metadata.resourceVersion !== object?.metadata.resourceVersion) {
      await this.#view.writeDaemonSet(ref, { stamp: this.#stamp, object: object as never });
    }
    const name = { namespace: NAMESPACE, name: NAME, uid: this.#uid, stamp: this.#stamp };
    await this.#view.writeName(ref.clusterUid, name);
    await this.#view.raisePosition(ref, {
      podsChanged: this.#changed.pods,
      revisionsChanged: this.#changed.revisions,
    });
    await this.#writeMeta();
  }

  async #writeMeta(): Promise<void> {
    const version = this.cluster.version as never;
    const nowMs = this.#clock.nowMs();
    const result = await this.#view.writeMeta({
      version: this.#metaVersion,
      clusterUid: this.registration.clusterUid,
      era: 1,
      epoch: '500' as Epoch,
      incarnation: 'bench' as Incarnation,
      seq: this.#seq,
      isComplete: true,
      isCutOpen: false,
      broken: 0,
      sliceCount: this.#sliceCount,
      marks: { Node: version, Pod: version, DaemonSet: version, ControllerRevision: version },
      hashes: EMPTY_HASHES,
      lastSentAtMs: nowMs,
      heardAtMs: { Node: nowMs, Pod: nowMs, DaemonSet: nowMs, ControllerRevision: nowMs },
      nodesChanged: this.#changed.nodes,
      daemonSetsChanged: this.#stamp,
    });
    if (result === 'lost') throw new Error('somebody else writes META');
    this.#metaVersion += 1;
  }
}

function nodeObject(index: number): KubernetesObject {
  const name = `ip-10-${String(index)}-${noise(`node ${String(index)}`, 4)}.eu-central-1.compute.internal`;
  return {
    metadata: {
      name,
      uid: uidOf(name),
      resourceVersion: String(2_000_000 + index * 11),
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/os': 'linux',
        'node.kubernetes.io/instance-type': 'm7i.2xlarge',
        'topology.kubernetes.io/region': 'eu-central-1',
        'topology.kubernetes.io/zone': `eu-central-1${'abc'.charAt(index % 3)}`,
        'example.org/pool': `pool-${String(index % 7)}`,
      },
    },
    spec: {},
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function statusOf(isReady: boolean): object {
  const status = isReady ? 'True' : 'False';
  return {
    phase: 'Running',
    conditions: [{ type: 'Ready', status, lastTransitionTime: READY_AT }],
  };
}

function conditionOf(pod: KubernetesObject): string | undefined {
  const status = pod['status'] as { readonly conditions?: readonly { readonly status: string }[] };
  return status.conditions?.[0]?.status;
}
