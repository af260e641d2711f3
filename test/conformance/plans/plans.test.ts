/**
 * Ten edits on a control plane, each planned by `rollcall plan` first, then made with kubectl: what happens to each node is what the
 * plan said. What happened is told by an independent witness. The edits build on each other: one cluster, one story.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { runOnEngine } from '../../support/engine-commands.ts';
import type { KubernetesObject } from '../control-plane/api.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { describeOnBackend } from '../scenarios/backends.ts';
import { testDaemonSet, type TestDaemonSet } from '../scenarios/daemon-set.ts';
import { livePodsByNode } from '../scenarios/expectations.ts';
import { openStage, type Stage } from '../scenarios/stage.ts';

const NAME = 'planned';
const KEY = `default/${NAME}`;
const CLUSTER = 'conformance';
const DEADLINE_MS = 180_000;
/** From the planned state on. Longer than a soak, a start and a look together: nothing more comes then. */
const QUIET_MS = 12_000;
const POLICY = '{canary: {nodes: 1}, soak: 5s, maxUnavailable: 2}';
const GPU = { key: 'gpu', effect: 'NoSchedule' } as const;

interface Written extends Omit<TestDaemonSet, 'name'> {
  readonly policy?: string;
}

function manifest({ policy, ...rest }: Written): KubernetesObject {
  const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
  const made = testDaemonSet({ name: NAME, updateStrategy, ...rest });
  if (policy === undefined) return made;
  return {
    ...made,
    metadata: { ...made.metadata, annotations: { 'rollcall.dev/rollout': policy } },
  };
}

/** An edit: as `rollcall plan` is asked about it, and as kubectl makes it. */
interface Edit {
  readonly words: string;
  readonly asked: readonly string[];
  readonly made: readonly string[];
  /** For `-f -`. */
  readonly input?: string;
  /** How `rollcall plan` leaves. */
  readonly exitCode: number;
}

function applied(words: string, written: Written, exitCode = 6): Edit {
  const input = JSON.stringify(manifest(written));
  return { words, asked: ['--manifest', input], made: ['apply', '-f', '-'], input, exitCode };
}

function ofNode(words: string, asked: readonly string[], made: string): Edit {
  return { words, asked: ['--daemonset', KEY, ...asked], made: made.split(' '), exitCode: 6 };
}

const IMAGE_2 = { image: 'registry.example/agent:2' };
const IN_POOL = { ...IMAGE_2, nodeSelector: { pool: 'a' } };
const STAGED = { image: 'registry.example/agent:3', policy: POLICY };

const EDITS: readonly Edit[] = [
  applied('a new DaemonSet', {}),
  applied('the same manifest again', {}, 0),
  {
    words: 'another image',
    asked: ['--daemonset', KEY, '--set-image', IMAGE_2.image],
    made: ['set', 'image', `daemonset/${NAME}`, `agent=${IMAGE_2.image}`],
    exitCode: 6,
  },
  applied('a node selector', IN_POOL),
  ofNode('a label', ['--label', 'n4=pool=a'], 'label node n4 pool=a --overwrite'),
  applied('no node selector any more', IMAGE_2),
  ofNode('a taint', ['--taint', 'n2=dedicated:NoExecute'], 'taint node n2 dedicated:NoExecute'),
  applied('a policy and an image, rolled out in stages', STAGED),
  ofNode('no taint any more', ['--remove-taint', 'gpu-1=gpu'], 'taint node gpu-1 gpu-'),
  applied('a toleration under the policy', { ...STAGED, tolerations: [{ operator: 'Exists' }] }),
  {
    words: 'no DaemonSet any more',
    asked: ['--daemonset', KEY, '--delete'],
    made: ['delete', 'daemonset', NAME, '--wait=false'],
    exitCode: 6,
  },
];

type PodsByNode = ReadonlyMap<string, string>;

/** What became of each node, as a plan says it. */
function changesFrom(had: PodsByNode, has: PodsByNode): readonly string[] {
  const changes = [...new Set([...had.keys(), ...has.keys()])].flatMap((node) => {
    const [before, now] = [had.get(node), has.get(node)];
    if (before === now) return [];
    const change = before === undefined ? 'gained' : now === undefined ? 'lost' : 'restarted';
    return [`${node} ${change}`];
  });
  return changes.sort();
}

describeOnBackend(
  'edits happen as planned',
  { timeout: 1_500_000, usesKubectl: true },
  (backend) => {
    let stage: Stage;
    let kubectl: Kubectl;
    let directory: string;

    /** UIDs of the pods that stay, by node. */
    const podsByNode = (): PodsByNode => {
      const found = [...stage.observer.daemonSets.values()].find(({ name }) => name === NAME);
      const uid = found?.uid ?? [...stage.observer.pods.values()].find(isOurs)?.daemonSetUid;
      if (uid === undefined) return new Map();
      const live = [...livePodsByNode(stage.observer, uid)];
      return new Map(live.map(([node, pods]) => [node, pods.map((pod) => pod.uid).join(' ')]));
    };
    const isOurs = ({ labels }: { readonly labels: Readonly<Record<string, string>> }): boolean =>
      labels['app'] === NAME;
    const plan = async ({ asked, exitCode }: Edit): Promise<readonly string[]> => {
      const argv = ['plan', CLUSTER, ...asked, '--json'];
      const run = await runOnEngine(argv, { engine: stage.engine() });
      assert.equal(run.exitCode, exitCode, `${run.stdout}${run.stderr}`);
      const { nodes } = JSON.parse(run.stdout) as {
        readonly nodes: readonly { readonly node: string; readonly change: string }[];
      };
      return nodes
        .filter(({ change }) => change !== 'unchanged' && change !== 'held')
        .map(({ node, change }) => `${node} ${change}`)
        .sort();
    };
    /** Until the engine has seen what the witness sees, and a run has looked at it. */
    const untilSeen = async (): Promise<void> => {
      await pollUntil({ description: 'complete runs', deadlineMs: DEADLINE_MS }, async () => {
        const all = (await stage.engine().overview()).flatMap(({ daemonSets }) => daemonSets);
        return all.every(({ isComplete }) => isComplete) ? true : undefined;
      });
    };

    before(async () => {
      const pools = ['a', 'a', 'a', 'b', 'b'];
      const nodes = pools.map((pool, index) =>
        fakeNode({ name: `n${String(index + 1)}`, labels: { pool } }),
      );
      const gpu = fakeNode({ name: 'gpu-1', labels: { pool: 'a' }, taints: [GPU] });
      stage = await openStage({ name: 'plans', backend, nodes: [...nodes, gpu] });
      const { access } = stage.cluster;
      directory = await mkdtemp(join(tmpdir(), 'plans-'));
      kubectl = bindKubectl({
        program: access.kubectlPath,
        kubeconfigPath: access.kubeconfigPath,
        cacheDirectory: directory,
      });
      const isHeard = async (): Promise<true | undefined> => {
        const argv = ['plan', CLUSTER, ...(EDITS[0]?.asked ?? [])];
        const { exitCode } = await runOnEngine(argv, { engine: stage.engine() });
        return exitCode === 6 ? true : undefined;
      };
      await pollUntil({ description: 'a whole view', deadlineMs: DEADLINE_MS }, isHeard);
    });

    after(async () => {
      await stage.close();
      await rm(directory, { recursive: true, force: true });
    });

    for (const edit of EDITS) {
      it(edit.words, async () => {
        await untilSeen();
        const planned = await plan(edit);
        const had = podsByNode();
        const done = (): readonly string[] => changesFrom(had, podsByNode());
        const { made, input } = edit;
        await kubectl.succeed(made, input === undefined ? {} : { input });
        await stage.observer.waitUntil(() => isDeepStrictEqual(done(), planned), {
          deadlineMs: DEADLINE_MS,
          description: `${edit.words}: ${planned.join(', ')}`,
        });
        await stage.observer.waitUntilQuiet({ quietMs: QUIET_MS, deadlineMs: DEADLINE_MS });
        assert.deepEqual(done(), planned, edit.words);
      });
    }
  },
);
