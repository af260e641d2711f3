/**
 * What people do with kubectl to a local cluster: apply, edit, patch, label, taint, drain, delete.
 *
 * Every test begins with the example as its file has it, settled on all nodes, whatever the one before left behind:
 * what comes and goes for a moment would make lists and counts a matter of luck.
 */
import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, it } from 'node:test';
import { pollUntil } from '../control-plane/poll.ts';
import { describeKubectl, EXAMPLE, WORKERS } from './on-local-cluster.ts';

const { namespace, name, label, path } = EXAMPLE;
const SETTLE_DEADLINE_MS = 120_000;
const PODS_COUNT = WORKERS.length + 1;
/** What tests of this file do to nodes. */
const TAINT_KEY = 'repair';

/** The UIDs of the listed pods, by a space. */
const PODS_UIDS = 'jsonpath={.items[*].metadata.uid}';

/** What is looked at in a pod of the answer to `get pods`. */
interface ListedPod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers: readonly { readonly image: string }[];
  };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

describeKubectl('changes a local cluster', ({ kubectl, stage, directory }) => {
  beforeEach(settle);

  it('applies: unchanged, changed, with a dry run and a diff', async () => {
    const generation = Number(await fieldOf('{.metadata.generation}'));
    assert.match(
      await kubectl().succeed(['apply', '-f', path]),
      /daemonset.apps\/log-collector unchanged/,
    );
    const changed = (await readFile(path, 'utf8')).replace(
      'terminationGracePeriodSeconds: 20',
      'terminationGracePeriodSeconds: 21',
    );
    const input = { input: changed };
    assert.match(
      await kubectl().succeed('apply --dry-run=server -f -', input),
      /daemonset.apps\/log-collector configured \(server dry run\)/,
    );
    const different = await kubectl().run('diff -f -', input);
    assert.equal(different.code, 1, different.stderr);
    assert.match(different.stdout, /^\+ +terminationGracePeriodSeconds: 21$/m);
    assert.match(
      await kubectl().succeed('apply -f -', input),
      /daemonset.apps\/log-collector configured/,
    );
    assert.equal(await fieldOf('{.spec.template.spec.terminationGracePeriodSeconds}'), '21');
    assert.match(await kubectl().succeed(['apply', '-f', path]), /log-collector configured/);
    assert.equal(Number(await fieldOf('{.metadata.generation}')), generation + 2);
  });

  it('edits with an editor', async () => {
    const editor = join(directory(), 'editor.sh');
    await writeFile(
      editor,
      '#!/bin/sh\nsed -i "s/minReadySeconds: .*/x/; s/revisionHistoryLimit: 10/revisionHistoryLimit: 7/" "$1"\n',
    );
    await chmod(editor, 0o755);
    const text = await kubectl().succeed(`edit ds ${name} -n ${namespace}`, {
      env: { KUBE_EDITOR: editor },
    });
    assert.match(text, /daemonset.apps\/log-collector edited/);
    assert.equal(await fieldOf('{.spec.revisionHistoryLimit}'), '7');
  });

  it('patches in three ways, and statuses', async () => {
    const patch = (type: string, body: unknown): Promise<string> =>
      kubectl().succeed([
        'patch',
        'ds',
        name,
        '-n',
        namespace,
        `--type=${type}`,
        '-p',
        JSON.stringify(body),
      ]);
    assert.match(await patch('merge', { metadata: { labels: { patched: 'merge' } } }), /patched/);
    await patch('json', [{ op: 'replace', path: '/metadata/labels/patched', value: 'json' }]);
    assert.equal(await fieldOf('{.metadata.labels.patched}'), 'json');
    const container = { name: 'collector', env: [{ name: 'LEVEL', value: 'debug' }] };
    await patch('strategic', { spec: { template: { spec: { containers: [container] } } } });
    assert.equal(
      await fieldOf('{.spec.template.spec.containers[0].image}'),
      'registry.example/log-collector:1.0.0',
    );
    assert.equal(await fieldOf('{.spec.template.spec.containers[0].env[0].value}'), 'debug');
    await kubectl().succeed([
      'patch',
      'node',
      'worker-1',
      '--subresource=status',
      '--type=strategic',
      '-p',
      JSON.stringify({ status: { conditions: [{ type: 'example.com/Checked', status: 'True' }] } }),
    ]);
  });

  it('labels and annotates, also where something is there already', async () => {
    assert.match(await kubectl().succeed('label node worker-1 pool=a'), /node\/worker-1 labeled/);
    const again = await kubectl().run('label node worker-1 pool=b');
    assert.equal(again.code, 1);
    await kubectl().succeed('label node worker-1 pool=b --overwrite');
    assert.match(await kubectl().succeed('get nodes -l pool=b -o name'), /^node\/worker-1\n$/);
    await kubectl().succeed('label node worker-1 pool-');
    await kubectl().succeed(`annotate ds ${name} -n ${namespace} example.com/note=kept`);
    assert.equal(await fieldOf('{.metadata.annotations.example\\.com/note}'), 'kept');
  });

  it('taints: NoExecute makes the pod leave, without the taint it comes back', async () => {
    assert.match(
      await kubectl().succeed(`taint node worker-2 ${TAINT_KEY}=yes:NoExecute`),
      /node\/worker-2 tainted/,
    );
    await waitForPods(
      WORKERS.length,
      (pods) => !pods.some(({ spec }) => spec.nodeName === 'worker-2'),
    );
    await waitForStatus(WORKERS.length);
    await kubectl().succeed(`taint node worker-2 ${TAINT_KEY}=yes:NoExecute-`);
    await waitForPods(PODS_COUNT);
    await waitForStatus(PODS_COUNT);
  });

  it('cordons and uncordons', async () => {
    assert.match(await kubectl().succeed('cordon worker-3'), /node\/worker-3 cordoned/);
    assert.match(await kubectl().succeed('get node worker-3'), /Ready,SchedulingDisabled/);
    await kubectl().succeed('uncordon worker-3');
    assert.doesNotMatch(await kubectl().succeed('get node worker-3'), /SchedulingDisabled/);
  });

  it('creates a pod, and drains it away but not the DaemonSet’s', async () => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bare' },
      spec: {
        nodeSelector: { 'kubernetes.io/hostname': 'worker-3' },
        terminationGracePeriodSeconds: 1,
        containers: [{ name: 'main', image: 'registry.example/bare:1' }],
      },
    };
    assert.match(
      await kubectl().succeed('create -f -', { input: JSON.stringify(pod) }),
      /pod\/bare created/,
    );
    await kubectl().succeed('wait --for=condition=Ready pod/bare --timeout=120s');
    const refused = await kubectl().run('drain worker-3 --timeout=120s');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot delete DaemonSet-managed Pods/);
    const drained = await kubectl().succeed(
      'drain worker-3 --ignore-daemonsets --force --timeout=120s',
    );
    assert.match(drained, /pod\/bare evicted/);
    assert.match(drained, /node\/worker-3 drained/);
    assert.match(await kubectl().succeed(`get pods -n ${namespace} -o wide`), /worker-3/);
    await kubectl().succeed('uncordon worker-3');
  });

  it('deletes a pod, gracefully and by force, and another comes', async () => {
    const first = await podOn('worker-1');
    assert.match(
      await kubectl().succeed(`delete pod ${first.name} -n ${namespace}`),
      /pod "log-collector-\w+" deleted/,
    );
    const second = await podOn('worker-1', first.uid);
    await kubectl().succeed(`delete pod ${second.name} -n ${namespace} --grace-period=0 --force`);
    await podOn('worker-1', second.uid);
  });

  it('sets an image and follows the rollout', async () => {
    const image = 'registry.example/log-collector:1.1.0';
    const before = await kubectl().succeed(['get', 'pods', '-n', namespace, '-o', PODS_UIDS]);
    await kubectl().succeed(`set image ds/${name} collector=${image} -n ${namespace}`);
    assert.equal(await fieldOf('{.spec.template.spec.containers[0].image}'), image);
    assert.match(await followRollout(), /daemon set "log-collector" successfully rolled out/);
    await waitForPods(PODS_COUNT, (pods) =>
      pods.every(({ spec }) => spec.containers.every((container) => container.image === image)),
    );
    await waitForStatus(PODS_COUNT);
    const after = await kubectl().succeed(['get', 'pods', '-n', namespace, '-o', PODS_UIDS]);
    const kept = after.split(' ').filter((uid) => before.split(' ').includes(uid));
    assert.deepEqual(kept, [], 'every pod was replaced');
    assert.match(
      await kubectl().succeed(['replace', '-f', path]),
      /daemonset.apps\/log-collector replaced/,
    );
    assert.match(await followRollout(), /successfully rolled out/);
    assert.equal(
      await fieldOf('{.spec.template.spec.containers[0].image}'),
      'registry.example/log-collector:1.0.0',
    );
  });

  it('deletes a DaemonSet and orphans its pods, which the next one adopts', async () => {
    const before = await kubectl().succeed(['get', 'pods', '-n', namespace, '-o', PODS_UIDS]);
    assert.match(
      await kubectl().succeed(`delete ds ${name} -n ${namespace} --cascade=orphan`),
      /daemonset.apps "log-collector" deleted/,
    );
    const pods = ['get', 'pods', '-n', namespace, '-o', PODS_UIDS];
    assert.equal(await kubectl().succeed(pods), before);
    await kubectl().succeed(['apply', '-f', path]);
    await waitForPods(PODS_COUNT);
    await waitForStatus(PODS_COUNT);
    assert.equal(await kubectl().succeed(pods), before);
  });

  it('deletes a DaemonSet in the foreground, then in the background', async () => {
    await kubectl().succeed(
      `delete ds ${name} -n ${namespace} --cascade=foreground --timeout=150s`,
    );
    assert.equal(await kubectl().succeed(`get pods -n ${namespace} -o name`), '');
    await kubectl().succeed(['create', '-f', path, '--save-config']).catch(ignoreExisting);
    await waitForPods(PODS_COUNT);
    await waitForStatus(PODS_COUNT);
    await kubectl().succeed(`delete ds ${name} -n ${namespace}`);
    await kubectl().succeed(`wait --for=delete pod -l ${label} -n ${namespace} --timeout=150s`);
    await kubectl().succeed(['delete', '-f', path, '--ignore-not-found', '--timeout=150s']);
    const gone = await kubectl().run(`get ns ${namespace}`);
    assert.match(gone.stderr, /NotFound/);
  });

  // Last: pods of a node that is gone are collected after 40 s only, and deletions would wait for that.
  it('deletes a node', async () => {
    assert.match(await kubectl().succeed('delete node worker-4'), /node "worker-4" deleted/);
    assert.doesNotMatch(await kubectl().succeed('get nodes'), /worker-4/);
  });

  async function fieldOf(jsonPath: string): Promise<string> {
    return kubectl().succeed(['get', 'ds', name, '-n', namespace, '-o', `jsonpath=${jsonPath}`]);
  }

  /** The ready pod on a node; another one than `formerUid`, where that is given. */
  async function podOn(node: string, formerUid = ''): Promise<ListedPod['metadata']> {
    const description = `a ready pod on ${node}`;
    return pollUntil({ deadlineMs: SETTLE_DEADLINE_MS, description }, async () => {
      const onNode = `-l ${label} --field-selector spec.nodeName=${node}`;
      const text = await kubectl().succeed(`get pods -n ${namespace} ${onNode} -o json`);
      const { items } = JSON.parse(text) as { readonly items: readonly ListedPod[] };
      return items.find((pod) => isSettled(pod) && pod.metadata.uid !== formerUid)?.metadata;
    });
  }

  /** The example as its file has it on untainted nodes, rolled out, with a ready pod on each and none going. */
  async function settle(): Promise<void> {
    for (const node of WORKERS) await mendNode(node);
    // A namespace that a failed test left terminating refuses it for a moment.
    await pollUntil(
      { deadlineMs: SETTLE_DEADLINE_MS, description: 'the example applied' },
      async () => (await kubectl().succeed(['apply', '-f', path])) !== '',
    );
    await followRollout();
    await waitForPods(PODS_COUNT);
    await waitForStatus(PODS_COUNT);
  }

  async function mendNode(node: string): Promise<void> {
    const { admin } = stage();
    const found = await admin.get(`/api/v1/nodes/${node}`);
    const { taints = [], unschedulable = false } = found['spec'] as {
      readonly taints?: readonly { readonly key: string }[];
      readonly unschedulable?: boolean;
    };
    const others = taints.filter(({ key }) => key !== TAINT_KEY);
    if (others.length === taints.length && !unschedulable) return;
    await admin.patch(`/api/v1/nodes/${node}`, { spec: { taints: others, unschedulable: null } });
  }

  function followRollout(): Promise<string> {
    return kubectl().succeed(`rollout status ds/${name} -n ${namespace} --timeout=150s`);
  }

  /** Waits until the API server lists so many pods, all of them ready and none going, that are as wanted. */
  async function waitForPods(
    count: number,
    areWanted: (pods: readonly ListedPod[]) => boolean = () => true,
  ): Promise<void> {
    let listed = '';
    await pollUntil(
      { deadlineMs: SETTLE_DEADLINE_MS, description: `${String(count)} settled pods` },
      async () => {
        listed = await kubectl().succeed(`get pods -n ${namespace} -l ${label} -o json`);
        const { items } = JSON.parse(listed) as { readonly items: readonly ListedPod[] };
        const areSettled = items.length === count && items.every(isSettled);
        return areSettled && areWanted(items) ? true : undefined;
      },
    ).catch((cause: unknown) => {
      throw new Error(`${listed}\n${stage().activity.tail(30)}`, { cause });
    });
  }

  /** Waits until the status counts so many; it may lag behind the pods, so wait for those first. */
  async function waitForStatus(count: number): Promise<void> {
    const counters = [
      'desiredNumberScheduled',
      'currentNumberScheduled',
      'updatedNumberScheduled',
      'numberReady',
      'numberAvailable',
    ];
    let status = '';
    await pollUntil(
      { deadlineMs: SETTLE_DEADLINE_MS, description: `a status of ${String(count)}` },
      async () => {
        const text = await kubectl().succeed(`get ds ${name} -n ${namespace} -o json`);
        const object = JSON.parse(text) as {
          readonly metadata: { readonly generation: number };
          readonly status: Readonly<Record<string, number>>;
        };
        status = JSON.stringify(object.status);
        if (object.status['observedGeneration'] !== object.metadata.generation) return undefined;
        return counters.every((counter) => object.status[counter] === count) ? true : undefined;
      },
    ).catch((cause: unknown) => {
      throw new Error(`status ${status}\n${stage().activity.tail(30)}`, { cause });
    });
  }
});

function isSettled({ metadata, status }: ListedPod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
}

/** The namespace of the example is there already: `create` goes on with the rest, and fails for that. */
function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error) || !error.message.includes('(AlreadyExists)')) throw error;
}
