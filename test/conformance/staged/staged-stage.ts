/**
 * A control plane with 50 nodes in three pools, one DaemonSet under a policy, and Rollcall beside or in place of the built-in loop.
 *
 * What a person has at hand is here: kubectl, and `rollcall rollout` as a process of its own against the engine's tables.
 * What happened to pods is told by the witness alone. Nothing is judged here (staged-story.ts).
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copilotPolicy, rollbackRights } from '../../../scripts/install/listed-copilot.ts';
import { writeSecondTerminal } from '../../../src/cli/start/second-terminal.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import type { KubernetesObject } from '../control-plane/api.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { fakeNode, plainNodes } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { measureRollout, type RolloutReport } from '../rollouts/availability.ts';
import { daemonSetPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { daemonSetUid, livePodsByNode } from '../scenarios/expectations.ts';
import { listInAdmission } from '../scenarios/list-admission.ts';
import { createIfMissing } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { openBareStage, stageCluster, type BareStage } from '../scenarios/stage.ts';

export type StagedMode = 'copilot' | 'takeover';
/** The steps of a story that each change is held to, or all. */
export type StoryLength = 'with-each-change' | 'whole';

/** The DaemonSet. */
export const NAME = 'agent';
/** Another, of takeover's test of shrinks. */
export const GUARDED = 'guarded';
/** Pools in the order of the policy, and how many nodes each has. */
export const POOLS = { test: 5, batch: 20, web: 25 } as const;
export const NODES_COUNT = 50;
/** For whatever waits for a soak, a view and a busy machine. */
export const DEADLINE_MS = 300_000;
/** Options of a command that follows a rollout, within {@link DEADLINE_MS}. */
export const WATCH = ['--watch', '--timeout', '280'] as const;
const ANNOTATION = 'rollcall.dev/rollout';
/** Of the policy of these tests. */
export const CANARIES = 3;

/** The policy of the story; more lines may follow. */
export function policyOf(soak: string, ...more: readonly string[]): string {
  return [
    'maxUnavailable: 20%',
    `canary: {nodes: ${String(CANARIES)}}`,
    `soak: ${soak}`,
    'order: [{label: pool, values: [test, batch]}]',
    ...more,
  ].join('\n');
}

export interface Release {
  readonly version: string;
  /** Part of the image's name: what its fake kubelet makes of it (kwok-stages.yaml). */
  readonly image?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What PodSecurity refuses. */
  readonly isPrivileged?: boolean;
}

/** What `rollcall` left with. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export class StagedStage {
  readonly mode: StagedMode;
  readonly bare: BareStage;
  readonly kubectl: Kubectl;
  readonly controlPlane: ControlPlane;
  readonly #directory: string;
  #engine: Engine | undefined;
  #environmentFile = '';
  #uid = '';

  private constructor(mode: StagedMode, bare: BareStage, directory: string) {
    const { access, controlPlane } = bare.cluster;
    assert.ok(controlPlane !== undefined, 'needs a control plane of its own');
    this.mode = mode;
    this.bare = bare;
    this.controlPlane = controlPlane;
    this.#directory = directory;
    this.kubectl = bindKubectl({
      program: access.kubectlPath,
      kubeconfigPath: access.kubeconfigPath,
      cacheDirectory: join(directory, 'kubectl'),
    });
  }

  /** Fifty nodes, a Ready pod on each, and Rollcall at work; the caller owes `close()`. */
  static async open(mode: StagedMode): Promise<StagedStage> {
    const directory = await mkdtemp(join(tmpdir(), `staged-${mode}-`));
    const bare = await openBareStage({
      name: `staged-${mode}`,
      backend: 'real',
      nodes: pooledNodes(),
      rights: mode,
    });
    const stage = new StagedStage(mode, bare, directory);
    try {
      await stage.#begin();
    } catch (error) {
      await stage.close();
      throw error;
    }
    return stage;
  }

  async #begin(): Promise<void> {
    const { admin } = this.bare;
    if (this.mode === 'copilot') await this.controlPlane.setDaemonSetController('on');
    else await listInAdmission(admin, [NAME, GUARDED]);
    for (const manifest of copilotPolicy([{ namespace: 'default', name: NAME }])) {
      if (this.mode === 'takeover') break;
      await createIfMissing(admin, manifest as unknown as KubernetesObject); // a manifest
    }
    // Refuses what asks for the host's network, and nothing else of these tests.
    const labels = { 'pod-security.kubernetes.io/enforce': 'baseline' };
    await admin.patch('/api/v1/namespaces/default', { metadata: { labels } });
    const updateStrategy =
      this.mode === 'copilot'
        ? { type: 'OnDelete' }
        : { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } };
    const body = testDaemonSet({ name: NAME, updateStrategy, podLabels: { version: 'a' } });
    await admin.post(daemonSetPath({}), body);
    await this.start();
    this.#uid = await daemonSetUid(this.bare, { namespace: 'default', name: NAME });
    await this.untilVersion('a');
  }

  /** Starts Rollcall, over the data of before. */
  async start(): Promise<void> {
    const { activity, cluster } = this.bare;
    const directory = this.#directory;
    this.#engine = await startEngine({
      clusters: [{ ...stageCluster(cluster), mode: this.mode }],
      dataDir: join(directory, 'data'),
      log: activity.log,
      metrics: activity.metrics,
      probeWaitMs: 3000,
    });
    this.#environmentFile = await writeSecondTerminal({ directory, aws: this.#engine.aws });
  }

  /** Removes Rollcall. */
  async stop(): Promise<void> {
    await this.#engine?.stop();
    this.#engine = undefined;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.bare.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** `rollcall rollout …` for the DaemonSet, as at a second terminal. */
  rollout(command: string, ...options: readonly string[]): Promise<Ended> {
    return this.rolloutOf(NAME, command, ...options);
  }

  /** The same for another DaemonSet. */
  rolloutOf(name: string, command: string, ...options: readonly string[]): Promise<Ended> {
    const program = repositoryPath('src/cli/rollcall.ts');
    const argv = [this.#environmentFile, process.execPath, program, 'rollout', command];
    const script = '. "$1" && shift && exec "$@"';
    const key = ['conformance', `default/${name}`];
    return new Promise((resolve) => {
      const all = ['-c', script, 'sh', ...argv, ...key, ...options];
      execFile('/bin/sh', all, { timeout: DEADLINE_MS }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }

  /** `rollcall rollout status --watch` of what was applied last. */
  async follow(): Promise<Ended> {
    const { generation = 0 } = (await this.bare.admin.get(daemonSetPath({ name: NAME }))).metadata;
    return this.rollout('status', ...WATCH, '--generation', String(generation));
  }

  /** What `rollcall rollout status --json` says now. */
  async status(): Promise<StatusDocument> {
    const { code, stdout, stderr } = await this.rollout('status', '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as StatusDocument;
  }

  /** Gives the DaemonSet a policy. */
  async setPolicy(policy: string): Promise<void> {
    const annotations = { [ANNOTATION]: policy };
    await this.bare.admin.patch(daemonSetPath({ name: NAME }), { metadata: { annotations } });
  }

  /** Edits the template; where the events of what follows begin. */
  async release({ version, image = 'agent', ...more }: Release): Promise<number> {
    const fromEvent = this.bare.observer.events.length;
    const template = {
      metadata: {
        labels: { version },
        annotations: { 'rollcall.test/ready-delay-ms': null, ...more.annotations },
      },
      spec: {
        hostNetwork: more.isPrivileged === true ? true : null,
        containers: [{ name: 'agent', image: `registry.example/${image}:${version}` }],
      },
    };
    await this.bare.admin.patch(daemonSetPath({ name: NAME }), { spec: { template } });
    return fromEvent;
  }

  /** In copilot the right to restore the template, which nobody has by default. */
  async grantRollback(): Promise<void> {
    for (const manifest of rollbackRights([{ namespace: 'default', name: NAME }])) {
      await createIfMissing(this.bare.admin, manifest as unknown as KubernetesObject); // a manifest
    }
  }

  nodeNames(): readonly string[] {
    return [...this.bare.observer.nodes.keys()].toSorted();
  }

  /** Version of the live pod of each node. */
  versions(): ReadonlyMap<string, string | undefined> {
    const live = livePodsByNode(this.bare.observer, this.#uid);
    return new Map([...live].map(([node, pods]) => [node, pods[0]?.labels['version']]));
  }

  nodesAt(version: string): readonly string[] {
    return [...this.versions()].filter(([, each]) => each === version).map(([node]) => node);
  }

  /** UID of the live pod of each node. */
  podUids(): ReadonlyMap<string, string> {
    const live = livePodsByNode(this.bare.observer, this.#uid);
    return new Map([...live].map(([node, pods]) => [node, pods[0]?.uid ?? '']));
  }

  async until(description: string, isSo: () => boolean): Promise<void> {
    const { observer, activity } = this.bare;
    try {
      await observer.waitUntil(isSo, { deadlineMs: DEADLINE_MS, description });
    } catch (cause) {
      const seen = JSON.stringify([...Map.groupBy(this.versions().values(), (each) => each)]);
      throw new Error(`${description}\n${seen}\n${activity.tail(30)}`, { cause });
    }
  }

  /** Until every node has one Ready pod of that version. */
  async untilVersion(version: string): Promise<void> {
    await this.until(`every node at ${version}`, () => {
      const pods = [...this.bare.observer.podsByNode(this.#uid).values()].flat();
      const isRight = pods.every((pod) => pod.isReady && pod.labels['version'] === version);
      return isRight && pods.length === this.bare.observer.nodes.size;
    });
  }

  /** Until no pod has come or gone for so long; what a pod's status says may go on changing. */
  async untilStill(quietMs = 4000): Promise<void> {
    await this.bare.observer.waitUntilQuiet({
      quietMs,
      deadlineMs: DEADLINE_MS,
      isRelevant: ({ record, type }) =>
        record.kind === 'Pod' && (type !== 'MODIFIED' || record.isDeleting),
    });
  }

  report(fromEvent: number): RolloutReport {
    const { observer } = this.bare;
    const question = { daemonSetUid: this.#uid, nodes: this.nodeNames(), fromEvent };
    return measureRollout(observer.events, question);
  }

  /** Messages of such Events once they are told: a run tells them after its effects, beside the next run. */
  async untilTold(
    reason: string,
    isTold: (message: string) => boolean = () => true,
  ): Promise<readonly string[]> {
    const description = `an Event ${reason}`;
    return pollUntil({ deadlineMs: DEADLINE_MS, description }, async () => {
      const messages = await this.events(reason);
      return messages.some(isTold) ? messages : undefined;
    });
  }

  /** Messages of Rollcall's Events of the DaemonSet with that reason. */
  async events(reason: string): Promise<readonly string[]> {
    const { items } = await this.bare.admin.list('/api/v1/namespaces/default/events');
    return items.filter((item) => item['reason'] === reason).map((item) => String(item['message']));
  }
}

export interface StatusDocument {
  readonly generation: number;
  readonly phase: string;
  readonly summary: string;
  readonly staged?: {
    readonly revision: string;
    readonly canary: readonly string[];
    readonly breach?: { readonly cause: string; readonly nodes: readonly string[] };
    readonly proven?: { readonly hash: string };
  };
}

function pooledNodes(): KubernetesObject[] {
  const pools = Object.entries(POOLS).flatMap(([pool, count]) =>
    Array.from({ length: count }, () => pool),
  );
  return plainNodes(NODES_COUNT).map((node, index) => {
    const labels = { ...node.metadata.labels, pool: pools[index] ?? '' };
    return { ...node, metadata: { ...node.metadata, labels } };
  });
}

export function joiningNode(name: string): KubernetesObject {
  return fakeNode({ name, labels: { pool: 'web' } });
}
