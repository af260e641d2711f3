/**
 * What the fake kubelets (kwok-stages.yaml) do with pods: each label, annotation and image name
 * that tests may use, and that kwok deletes by name.
 *
 * Pods are bound from the start, so that no scheduler and no controller takes part.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient, type ApiClient } from './api.ts';
import { startControlPlane, type ControlPlane } from './control-plane.ts';
import { createNodes, plainNodes } from './nodes.ts';
import { observerNowMs, startObserver, type Observer } from './observer.ts';
import type { PodRecord } from './observed-records.ts';
import { pollUntil } from './poll.ts';
import { boundPod, SAMPLE_NAMESPACE_PATH, type SampleOptions } from './sample-objects.ts';

const DEADLINE = { deadlineMs: 120_000 };
const NODE = 'node-0001';
const PODS = `${SAMPLE_NAMESPACE_PATH}/pods`;

describe('fake kubelets', { skip: skipWithoutTools([TOOLS.go]), timeout: 1_800_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let observer: Observer;

  const podNamed = (name: string): PodRecord | undefined =>
    [...observer.pods.values()].find((pod) => pod.name === name);
  const create = async (options: SampleOptions): Promise<void> => {
    await admin.post(PODS, boundPod(NODE, options));
  };
  const awaitPod = (name: string, isAsWanted: (pod: PodRecord) => boolean): Promise<void> =>
    observer.waitUntil(
      () => {
        const pod = podNamed(name);
        return pod !== undefined && isAsWanted(pod);
      },
      { ...DEADLINE, description: `pod ${name}` },
    );

  before(async () => {
    controlPlane = await startControlPlane({ name: 'rollcall-kubelet-test', nodeHeartbeats: true });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    observer = await startObserver(controlPlane.connectionOf('observer'));
    await createNodes(admin, plainNodes(2));
    await observer.waitUntil(({ nodes }) => nodes.get(NODE)?.isReady === true, DEADLINE);
  });

  after(async () => {
    admin.close();
    await observer.stop().finally(controlPlane.stop);
  });

  it('starts a bound pod at once', async () => {
    await create({ name: 'plain' });
    await awaitPod('plain', (pod) => pod.phase === 'Running' && pod.isReady);
  });

  it('waits for the ready delay', async () => {
    const delayMs = 700;
    const annotations = { 'rollcall.test/ready-delay-ms': String(delayMs) };
    // From before the request: when this process sees the pod for the first time says nothing of its age.
    const fromMs = observerNowMs();
    await create({ name: 'slow', annotations });
    await awaitPod('slow', (pod) => pod.isReady);
    const readyAtMs = observer.events.find(
      ({ record }) => record.kind === 'Pod' && record.name === 'slow' && record.isReady,
    )?.atMs;
    assert.ok((readyAtMs ?? 0) - fromMs >= delayMs, `${String(readyAtMs)} ${String(fromMs)}`);
  });

  it('keeps a pod unready until its label is gone', async () => {
    await create({ name: 'unready', labels: { 'rollcall.test/never-ready': 'true' } });
    await awaitPod('unready', (pod) => pod.phase === 'Running' && !pod.isReady);
    await admin.patch(`${PODS}/unready`, {
      metadata: { labels: { 'rollcall.test/never-ready': null } },
    });
    await awaitPod('unready', (pod) => pod.isReady);
  });

  for (const outcome of ['Failed', 'Succeeded'] as const) {
    it(`lets a pod end as ${outcome}`, async () => {
      const name = `ends-${outcome.toLowerCase()}`;
      await create({ name, labels: { 'rollcall.test/outcome': outcome } });
      await awaitPod(name, (pod) => pod.phase === outcome && pod.isTerminal && !pod.isReady);
    });
  }

  it('cannot pull an image that says so', async () => {
    await create({ name: 'no-image', image: 'registry.example/cannot-pull:1' });
    const reason = /"waiting":\{[^}]*"reason":"ImagePullBackOff"/;
    await pollUntil({ ...DEADLINE, description: 'ImagePullBackOff' }, async () => {
      const pod = await admin.get(`${PODS}/no-image`);
      return reason.test(JSON.stringify(pod['status'])) ? true : undefined;
    });
    await awaitPod('no-image', (pod) => pod.phase === 'Pending');
  });

  for (const { image, word, delayMs } of [
    { image: 'crashes', word: /"waiting":\{[^}]*"reason":"CrashLoopBackOff".*"restartCount":2/ },
    { image: 'leaks', word: /"terminated":\{[^}]*"reason":"OOMKilled".*"restartCount":1/ },
    { image: 'flaps', delayMs: 1500 },
  ] satisfies readonly { image: string; word?: RegExp; delayMs?: number }[]) {
    it(`plays an image that ${image}`, async () => {
      const annotations =
        delayMs === undefined ? {} : { 'rollcall.test/ready-delay-ms': String(delayMs) };
      await create({ name: image, image: `registry.example/${image}:1`, annotations });
      await pollUntil({ ...DEADLINE, description: image }, async () => {
        const pod = await admin.get(`${PODS}/${image}`);
        if (word !== undefined) return word.test(JSON.stringify(pod['status'])) ? true : undefined;
        return turnsOf(image) >= 2 ? true : undefined;
      });
    });
  }

  /** How often the witness saw it turn not ready. */
  function turnsOf(name: string): number {
    const seen = observer.events.flatMap(({ record }) =>
      record.kind === 'Pod' && record.name === name ? [record.isReady] : [],
    );
    return seen.filter((isReady, index) => !isReady && seen[index - 1] === true).length;
  }

  it('removes a deleted pod, gracefully', async () => {
    await admin.delete(`${PODS}/plain`);
    await observer.waitUntil(() => podNamed('plain') === undefined, DEADLINE);
    const seen = observer.events.filter((it) => it.record.name === 'plain');
    assert.ok(seen.some((it) => it.record.kind === 'Pod' && it.record.isDeleting));
  });

  it('keeps a stuck pod terminating until its label is gone', async () => {
    await create({ name: 'stuck', labels: { 'rollcall.test/stuck-terminating': 'true' } });
    await awaitPod('stuck', (pod) => pod.isReady);
    await admin.delete(`${PODS}/stuck`);
    await awaitPod('stuck', (pod) => pod.isDeleting);
    // The kubelet has handled a pod that was deleted later, and still leaves this one.
    await create({ name: 'later' });
    await admin.delete(`${PODS}/later`);
    await observer.waitUntil(() => podNamed('later') === undefined, DEADLINE);
    assert.equal(podNamed('stuck')?.isDeleting, true);
    await admin.patch(`${PODS}/stuck`, {
      metadata: { labels: { 'rollcall.test/stuck-terminating': null } },
    });
    await observer.waitUntil(() => podNamed('stuck') === undefined, DEADLINE);
  });

  it('may delete by name whatever bears it, as many others may: nothing fences that (S13)', async () => {
    await create({ name: 'successor' });
    await awaitPod('successor', (pod) => pod.isReady);
    const { kubectlPath, kubeconfigPath } = controlPlane;
    const attempt = spawnSync(
      kubectlPath,
      ['delete', 'pod', 'successor', '--as=kwok', '--as-group=system:masters', '--wait=false'],
      // Without a home kubectl keeps its cache in the working directory.
      {
        env: { KUBECONFIG: kubeconfigPath, HOME: dirname(kubeconfigPath) },
        encoding: 'utf8',
      },
    );
    assert.equal(attempt.status, 0, attempt.stderr);
    await observer.waitUntil(() => podNamed('successor') === undefined, DEADLINE);
  });

  it('renews the leases of its nodes when heartbeats are on', async () => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${NODE}`;
    const lease = await pollUntil({ ...DEADLINE, description: 'the lease' }, () => admin.get(path));
    assert.equal((lease['spec'] as { leaseDurationSeconds: number }).leaseDurationSeconds, 40);
    const versionBefore = observer.nodes.get(NODE)?.resourceVersion;
    await observer.waitUntil(({ nodes }) => nodes.get(NODE)?.resourceVersion !== versionBefore, {
      ...DEADLINE,
      description: 'a node reports again',
    });
  });
});
