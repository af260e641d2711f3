/**
 * What people do with kubectl to a local cluster: apply, edit, patch, label, taint, drain, delete.
 *
 * Every test leaves the example on all nodes again.
 */
import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { PodRecord } from '../control-plane/observed-records.ts';
import { describeKubectls, EXAMPLE } from './on-local-cluster.ts';

const { namespace, name, label, path } = EXAMPLE;

describeKubectls('changes a local cluster', ({ kubectl, stage, directory }) => {
  it('applies: unchanged, changed, with a dry run and a diff', async () => {
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
    assert.match(
      await kubectl().succeed('apply -f -', input),
      /daemonset.apps\/log-collector configured/,
    );
    assert.equal(await fieldOf('{.spec.template.spec.terminationGracePeriodSeconds}'), '21');
    assert.match(await kubectl().succeed(['apply', '-f', path]), /log-collector configured/);
    assert.equal(await fieldOf('{.metadata.generation}'), '3');
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
      await kubectl().succeed('taint node worker-2 repair=yes:NoExecute'),
      /node\/worker-2 tainted/,
    );
    await waitForReady(4);
    await kubectl().succeed('taint node worker-2 repair=yes:NoExecute-');
    await waitForReady(5);
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
    await kubectl().succeed('wait --for=condition=Ready pod/bare --timeout=30s');
    const refused = await kubectl().run('drain worker-3 --timeout=30s');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /cannot delete DaemonSet-managed Pods/);
    const drained = await kubectl().succeed(
      'drain worker-3 --ignore-daemonsets --force --timeout=60s',
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
    await kubectl().succeed(
      `set image ds/${name} collector=registry.example/log-collector:1.1.0 -n ${namespace}`,
    );
    assert.equal(
      await fieldOf('{.spec.template.spec.containers[0].image}'),
      'registry.example/log-collector:1.1.0',
    );
    await kubectl().succeed(['replace', '-f', path]);
  });

  it('deletes a DaemonSet and orphans its pods', async () => {
    const before = await kubectl().succeed(`get pods -n ${namespace} -o name`);
    assert.match(
      await kubectl().succeed(`delete ds ${name} -n ${namespace} --cascade=orphan`),
      /daemonset.apps "log-collector" deleted/,
    );
    assert.equal(await kubectl().succeed(`get pods -n ${namespace} -o name`), before);
    await kubectl().succeed(['apply', '-f', path]);
    await waitForReady(5);
  });

  it('deletes a DaemonSet in the foreground, then in the background', async () => {
    await kubectl().succeed(`delete ds ${name} -n ${namespace} --cascade=foreground --timeout=60s`);
    assert.equal(await kubectl().succeed(`get pods -n ${namespace} -o name`), '');
    await kubectl().succeed(['create', '-f', path, '--save-config']).catch(ignoreExisting);
    await waitForReady(5);
    await kubectl().succeed(`delete ds ${name} -n ${namespace}`);
    await kubectl().succeed(`wait --for=delete pod -l ${label} -n ${namespace} --timeout=60s`);
    await kubectl().succeed(['delete', '-f', path, '--ignore-not-found', '--timeout=60s']);
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
  async function podOn(node: string, formerUid = ''): Promise<PodRecord> {
    const { observer } = stage();
    const find = (): PodRecord | undefined =>
      [...observer.pods.values()].find(
        (pod) => pod.node === node && pod.isReady && pod.uid !== formerUid,
      );
    await observer.waitUntil(() => find() !== undefined, {
      deadlineMs: 60_000,
      description: `a ready pod on ${node}`,
    });
    const pod = find();
    assert.ok(pod !== undefined);
    return pod;
  }

  async function waitForReady(count: number): Promise<void> {
    const ready = `--for=jsonpath={.status.numberReady}=${count}`;
    const desired = `--for=jsonpath={.status.desiredNumberScheduled}=${count}`;
    for (const condition of [desired, ready]) {
      await kubectl().succeed(`wait ${condition} ds/${name} -n ${namespace} --timeout=60s`);
    }
  }
});

/** The namespace of the example is there already: `create` goes on with the rest, and fails for that. */
function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error) || !error.message.includes('(AlreadyExists)')) throw error;
}
