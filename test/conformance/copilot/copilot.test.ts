/**
 * Copilot on a real control plane with the built-in DaemonSet loop on: it does its work, Rollcall none of it.
 *
 * Four DaemonSets: one that opted in (and is paused, so that it stands still), one that did not, one that opted in beside
 * RollingUpdate, one that knows nothing of all this. What Rollcall did is told by the API server's audit log. The steps
 * build on each other: one control plane, one story. Staged rollouts themselves are not played here.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { copilotPolicy } from '../../../scripts/install/listed-copilot.ts';
import { startEngine, type Engine } from '../../../src/engine/engine.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import type { KubernetesObject } from '../control-plane/api.ts';
import { readAuditRecords, type AuditRecord } from '../control-plane/audit.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { fakeNode } from '../control-plane/nodes.ts';
import type { PodRecord } from '../control-plane/observed-records.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { daemonSetPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { livePodsByNode } from '../scenarios/expectations.ts';
import { createIfMissing } from '../scenarios/manifests.ts';
import { openBareStage, stageCluster, type BareStage } from '../scenarios/stage.ts';

const NODES = Array.from({ length: 5 }, (_, index) => `plain-${String(index + 1)}`);
const DEADLINE_MS = 240_000;
const PAUSED = { 'rollcall.dev/rollout': 'paused: true' };
const SETS = {
  followed: { type: 'OnDelete', annotations: PAUSED },
  plain: { type: 'OnDelete', annotations: {} },
  rolling: { type: 'RollingUpdate', annotations: PAUSED },
  unaware: { type: 'RollingUpdate', annotations: {} },
} as const;
type SetName = keyof typeof SETS;
const NAMES = Object.keys(SETS) as readonly SetName[];
const READS = ['get', 'list', 'watch'];

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs a control plane of its own';

describe('copilot beside the built-in loop', { timeout: 1_200_000, skip }, () => {
  let stage: BareStage;
  let controlPlane: ControlPlane;
  let kubectl: Kubectl;
  let engine: Engine | undefined;
  let directory: string;

  const podsOf = (name: SetName): readonly PodRecord[] => {
    const found = [...stage.observer.daemonSets.values()].find((each) => each.name === name);
    return found === undefined
      ? []
      : [...livePodsByNode(stage.observer, found.uid).values()].flat();
  };
  const versionsOf = (name: SetName): readonly (string | undefined)[] =>
    podsOf(name).map(({ labels }) => labels['version']);
  const uidsOf = (name: SetName): readonly string[] =>
    podsOf(name)
      .map(({ uid }) => uid)
      .sort();
  const isWhole = (name: SetName): boolean => {
    const pods = podsOf(name);
    return pods.length === NODES.length && pods.every(({ isReady }) => isReady);
  };
  const waitUntil = (description: string, isSo: () => boolean): Promise<unknown> =>
    stage.observer.waitUntil(isSo, { deadlineMs: DEADLINE_MS, description });
  const edit = (name: SetName, body: JsonObject): Promise<unknown> =>
    stage.admin.patch(daemonSetPath({ name }), body);
  const edited = (version: string): JsonObject => ({
    spec: { template: { metadata: { labels: { version } } } },
  });
  /** What the functions asked for that writes, whatever came of it. */
  const writes = async (): Promise<readonly AuditRecord[]> =>
    (await readAuditRecords(controlPlane.auditLogPath, { user: userNameOf('functions') })).filter(
      ({ verb, resource, userAgent }) =>
        userAgent === 'rollcall' && !READS.includes(verb) && resource !== 'leases',
    );
  const isRunComplete = async (): Promise<boolean> => {
    const [overview] = (await engine?.overview()) ?? [];
    const all = overview?.daemonSets ?? [];
    return all.length === NAMES.length && all.every(({ isComplete }) => isComplete);
  };

  before(async () => {
    const nodes = NODES.map((name) => fakeNode({ name }));
    stage = await openBareStage({ name: 'copilot', backend: 'real', nodes, rights: 'copilot' });
    const { access, controlPlane: own } = stage.cluster;
    assert.ok(own !== undefined, 'needs a control plane of its own');
    controlPlane = own;
    await controlPlane.setDaemonSetController('on');
    directory = await mkdtemp(join(tmpdir(), 'copilot-'));
    kubectl = bindKubectl({
      program: access.kubectlPath,
      kubeconfigPath: access.kubeconfigPath,
      cacheDirectory: join(directory, 'kubectl'),
    });
    for (const manifest of copilotPolicy([{ namespace: 'default', name: 'followed' }])) {
      await createIfMissing(stage.admin, manifest as unknown as KubernetesObject); // a manifest
    }
    for (const name of NAMES) {
      const { type, annotations } = SETS[name];
      const body = testDaemonSet({ name, updateStrategy: { type }, podLabels: { version: 'a' } });
      const metadata = { ...body.metadata, annotations };
      await stage.admin.post(daemonSetPath({}), { ...body, metadata });
    }
    await waitUntil('a ready pod of each on each node', () => NAMES.every(isWhole));
    engine = await startEngine({
      clusters: [{ ...stageCluster(stage.cluster), mode: 'copilot' }],
      dataDir: join(directory, 'data'),
      log: stage.activity.log,
      metrics: stage.activity.metrics,
    });
  });

  after(async () => {
    await engine?.stop();
    await (stage as BareStage | undefined)?.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('is entered without a probe, a sentinel, a restart or a write', async () => {
    const before = NAMES.flatMap(uidsOf);
    await pollUntil({ deadlineMs: DEADLINE_MS, description: 'complete runs' }, async () =>
      (await isRunComplete()) ? true : undefined,
    );
    assert.deepEqual(NAMES.flatMap(uidsOf), before);
    const sentinel = daemonSetPath({
      namespace: 'rollcall-system',
      name: 'rollcall-takeover-probe',
    });
    await assert.rejects(stage.admin.get(sentinel), /404|not found/i);
    const [overview] = (await engine?.overview()) ?? [];
    assert.equal(overview?.mode, 'copilot');
    const written = await writes();
    assert.ok(
      written.every(({ resource }) => resource === 'events'),
      JSON.stringify(written),
    );
  });

  it('leaves revisions, pods and status of an edit to the built-in loop, and tells of a policy without effect once', async () => {
    const before = { followed: uidsOf('followed'), plain: uidsOf('plain') };
    for (const name of NAMES) await edit(name, edited('b'));
    await waitUntil('both RollingUpdates done by the built-in loop', () =>
      (['rolling', 'unaware'] as const).every(
        (name) => isWhole(name) && versionsOf(name).every((version) => version === 'b'),
      ),
    );
    assert.deepEqual(uidsOf('plain'), before.plain, 'OnDelete: nobody replaces them');
    assert.deepEqual(uidsOf('followed'), before.followed, 'paused');
    const events = await pollUntil(
      { deadlineMs: DEADLINE_MS, description: 'the event' },
      async () => {
        const { items } = await stage.admin.list('/api/v1/namespaces/default/events');
        const told = items.filter(({ source }) => {
          return (source as { readonly component?: string }).component === 'rollcall';
        });
        return told.length === 0 ? undefined : told;
      },
    );
    assert.deepEqual(
      events.map(({ involvedObject, reason, count }) => [
        (involvedObject as { readonly name: string }).name,
        ...[reason, count],
      ]),
      [['rolling', 'RolloutNotStaged', 1]],
    );
    await waitUntil('counters of the built-in loop', () =>
      [...stage.observer.daemonSets.values()].every(
        ({ generation, observedGeneration }) => observedGeneration === generation,
      ),
    );
    const written = await writes();
    assert.ok(written.length > 0, 'the audit log shows what we write');
    assert.deepEqual(
      written.filter(({ resource }) => resource !== 'events'),
      [],
    );
  });

  it('gets pods back that drain, a user or an eviction removed, from the newest template', async () => {
    const [node = ''] = NODES;
    await kubectl.succeed(`cordon ${node}`);
    await kubectl.succeed(`drain ${node} --ignore-daemonsets --timeout=60s`);
    await kubectl.succeed(`uncordon ${node}`);
    const [victim] = podsOf('followed');
    assert.ok(victim !== undefined);
    await kubectl.succeed(`delete pod ${victim.name} --wait=false`);
    await waitUntil('the pod back, of the newest template', () => {
      const again = podsOf('followed').find((pod) => pod.node === victim.node);
      return again !== undefined && again.uid !== victim.uid && again.labels['version'] === 'b';
    });
    const foreign = (await writes()).filter(({ resource }) => resource !== 'events');
    assert.deepEqual(foreign, []);
  });

  it('keeps kubectl as it is under OnDelete: undo works, pods stay, rollout status says it cannot', async () => {
    const before = uidsOf('plain');
    await kubectl.succeed('rollout undo daemonset/plain');
    await stage.observer.waitUntil(
      ({ daemonSets }) => {
        const plain = [...daemonSets.values()].find(({ name }) => name === 'plain');
        return (
          plain?.observedGeneration === plain?.generation &&
          plain?.status['updatedNumberScheduled'] === NODES.length
        );
      },
      { deadlineMs: DEADLINE_MS, description: 'every old pod current again' },
    );
    assert.deepEqual(uidsOf('plain'), before);
    const status = await kubectl.run('rollout status daemonset/plain --timeout=5s');
    assert.notEqual(status.code, 0);
    assert.match(status.stderr, /only available for RollingUpdate/);
    assert.match(await kubectl.succeed('rollout history daemonset/plain'), /REVISION/);
  });

  it('times the deletes of a named DaemonSet, each by UID and version, and touches no other pod', async () => {
    const policy = 'maxUnavailable: 2\ncanary: {nodes: 1}\nsoak: 1s\n';
    const before = { plain: uidsOf('plain'), others: [...uidsOf('rolling'), ...uidsOf('unaware')] };
    const names = new Set(podsOf('followed').map(({ name }) => name));
    await edit('followed', { metadata: { annotations: { 'rollcall.dev/rollout': policy } } });
    await edit('followed', edited('c'));
    await waitUntil('the staged rollout done', () => {
      return isWhole('followed') && versionsOf('followed').every((version) => version === 'c');
    });
    const deletes = (await writes()).filter(({ resource }) => resource !== 'events');
    assert.equal(deletes.filter(({ code }) => code === 200).length, NODES.length);
    for (const { verb, resource, name, preconditions, subresource } of deletes) {
      assert.deepEqual([verb, resource, subresource], ['delete', 'pods', '']);
      assert.ok(names.has(name), name);
      assert.ok(preconditions?.uid !== undefined && preconditions.resourceVersion !== undefined);
    }
    assert.deepEqual(uidsOf('plain'), before.plain);
    assert.deepEqual([...uidsOf('rolling'), ...uidsOf('unaware')], before.others);
  });

  it('is left with working DaemonSets: OnDelete stays, and RollingUpdate rolls the rest at once', async () => {
    await engine?.stop();
    engine = undefined;
    const { spec } = await stage.admin.get(daemonSetPath({ name: 'followed' }));
    const strategy = (spec as { readonly updateStrategy: { readonly type: string } })
      .updateStrategy;
    assert.equal(strategy.type, 'OnDelete');
    await edit('followed', edited('d'));
    await edit('followed', { spec: { updateStrategy: { type: 'RollingUpdate' } } });
    await waitUntil('the built-in loop rolled what copilot had left', () => {
      const versions = versionsOf('followed');
      return isWhole('followed') && versions.every((version) => version === 'd');
    });
    assert.ok(NAMES.every(isWhole));
  });
});
