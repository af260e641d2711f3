/**
 * Scenarios on a control plane, real and local: the examples settle to exactly the pods that the
 * rules demand, stay so, and settle again after whatever happens to nodes.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { createNodes, deleteNodes, fakeNode } from '../control-plane/nodes.ts';
import { EXPECTED_NODES, applyExamples, uidOf } from './examples.ts';
import {
  differences,
  expectNoDoublePlacement,
  expectPodsOn,
  expectStatus,
  livePodsByNode,
} from './expectations.ts';
import { describeOnBackend } from './backends.ts';
import { NODES, UNTAINTED, openStage, type Stage } from './stage.ts';

const UNCHANGED_MS = 60_000;
const LOG_COLLECTOR_NODES = EXPECTED_NODES['log-collector'] ?? [];

describeOnBackend('the examples on twenty varied nodes', { timeout: 1_200_000 }, (backend) => {
  let stage: Stage;
  let uids: Readonly<Record<string, string>>;
  const uid = (name: string): string => uidOf(uids, name);

  before(async () => {
    stage = await openStage({ backend, name: 'scenario-nodes' });
    uids = await applyExamples(stage);
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('settle to exactly the pods that the rules demand', async () => {
    for (const [name, nodes] of Object.entries(EXPECTED_NODES)) {
      await expectPodsOn(stage, uid(name), nodes);
    }
    await expectStatus(stage, uid('log-collector'), {
      desiredNumberScheduled: LOG_COLLECTOR_NODES.length,
      currentNumberScheduled: LOG_COLLECTOR_NODES.length,
      updatedNumberScheduled: LOG_COLLECTOR_NODES.length,
      numberReady: LOG_COLLECTOR_NODES.length,
      numberUnavailable: 0,
      numberMisscheduled: 0,
    });
    await expectStatus(stage, uid('storage-daemon'), {
      desiredNumberScheduled: 3,
      numberAvailable: 3,
    });
    await expectStatus(stage, uid('gpu-telemetry'), {
      desiredNumberScheduled: 3,
      numberAvailable: 3,
    });
  });

  it('stay unchanged for 60 s, with no write by the functions in that time', async () => {
    const sinceMs = Date.now();
    await stage.observer.waitUntilQuiet({ quietMs: UNCHANGED_MS, deadlineMs: UNCHANGED_MS * 2 });
    for (const [name, nodes] of Object.entries(EXPECTED_NODES)) {
      assert.deepEqual(differences(stage.observer, uid(name), nodes), []);
    }
    const { readAudit } = stage.cluster;
    if (readAudit === undefined) return;
    const quietWrites = await readAudit({
      user: 'system:serviceaccount:rollcall-system:rollcall-functions',
      sinceMs: sinceMs + UNCHANGED_MS / 2,
      where: (record) => !['get', 'list', 'watch'].includes(record.verb),
    });
    assert.deepEqual(quietWrites, []);
  });

  it('a node that joins gets its pods once it is eligible', async () => {
    await createNodes(stage.admin, [fakeNode({ name: 'joined-1' })]);
    await expectPodsOn(stage, uid('log-collector'), [...LOG_COLLECTOR_NODES, 'joined-1']);
    await expectPodsOn(stage, uid('node-metrics'), [...UNTAINTED, 'joined-1']);
    await expectPodsOn(stage, uid('storage-daemon'), NODES.storage);
  });

  it('a node that is re-made under its name has one pod of each again, never two', async () => {
    const formerUid = nodeUid('joined-1');
    await deleteNodes(stage.admin, ['joined-1']);
    await createNodes(stage.admin, [fakeNode({ name: 'joined-1' })]);
    await stage.observer.waitUntil(
      (observer) => {
        const node = observer.nodes.get('joined-1');
        return node !== undefined && node.uid !== formerUid && node.taintKeys.length === 0;
      },
      { deadlineMs: 120_000, description: 'the re-made node is eligible' },
    );
    await stage.observer.waitUntilQuiet({ quietMs: 3000, deadlineMs: 120_000 });
    await expectPodsOn(stage, uid('log-collector'), [...LOG_COLLECTOR_NODES, 'joined-1']);
    await expectPodsOn(stage, uid('node-metrics'), [...UNTAINTED, 'joined-1']);
  });

  it('a node that leaves takes its pods with it', async () => {
    await deleteNodes(stage.admin, ['joined-1']);
    await expectPodsOn(stage, uid('log-collector'), {
      nodes: LOG_COLLECTOR_NODES,
      deadlineMs: 240_000,
    });
    await expectPodsOn(stage, uid('node-metrics'), { nodes: UNTAINTED, deadlineMs: 240_000 });
    await expectStatus(stage, uid('log-collector'), {
      desiredNumberScheduled: LOG_COLLECTOR_NODES.length,
    });
  });

  it('relabelled nodes gain and lose pods', async () => {
    await setLabel('plain-1', 'true');
    await expectPodsOn(stage, uid('storage-daemon'), [...NODES.storage, 'plain-1']);
    await setLabel('plain-1', null);
    await expectPodsOn(stage, uid('storage-daemon'), NODES.storage);
  });

  it('NoSchedule keeps the pod and NoExecute makes it leave', async () => {
    await setTaints('plain-2', [{ key: 'repair.example.com', effect: 'NoSchedule' }]);
    await expectStatus(stage, uid('log-collector'), {
      desiredNumberScheduled: LOG_COLLECTOR_NODES.length - 1,
      numberMisscheduled: 1,
    });
    assert.deepEqual(differences(stage.observer, uid('log-collector'), LOG_COLLECTOR_NODES), []);
    await setTaints('plain-2', [{ key: 'repair.example.com', effect: 'NoExecute' }]);
    const without = LOG_COLLECTOR_NODES.filter((node) => node !== 'plain-2');
    await expectPodsOn(stage, uid('log-collector'), without);
    await expectStatus(stage, uid('log-collector'), { numberMisscheduled: 0 });
    await setTaints('plain-2', []);
    await expectPodsOn(stage, uid('log-collector'), LOG_COLLECTOR_NODES);
  });

  it('a cordoned node keeps its pods and gets missing ones', async () => {
    await stage.admin.patch('/api/v1/nodes/plain-3', { spec: { unschedulable: true } });
    const pod = livePodsByNode(stage.observer, uid('node-metrics')).get('plain-3')?.[0];
    assert.ok(pod !== undefined);
    await stage.admin.delete(`/api/v1/namespaces/${pod.namespace}/pods/${pod.name}`);
    await stage.observer.waitUntil(
      (observer) => {
        const now = livePodsByNode(observer, uid('node-metrics')).get('plain-3')?.[0];
        return now !== undefined && now.uid !== pod.uid;
      },
      { deadlineMs: 120_000, description: 'a new pod on the cordoned node' },
    );
    await expectPodsOn(stage, uid('node-metrics'), UNTAINTED);
  });

  it('never put two non-terminal pods of a DaemonSet on a node (S1)', () => {
    expectNoDoublePlacement(stage);
  });

  it('were decided without any LIST of nodes, and one of pods before the first ones (protocol 9)', async (context) => {
    const { readAudit } = stage.cluster;
    if (readAudit === undefined) {
      context.skip('needs the audit log of a control plane of its own');
      return;
    }
    const lists = await readAudit({
      user: 'system:serviceaccount:rollcall-system:rollcall-functions',
      verb: 'list',
      where: (record) => record.resource === 'nodes' || record.resource === 'pods',
    });
    const ofNodes = lists.filter(({ resource }) => resource === 'nodes');
    assert.deepEqual(ofNodes, []);
    // For each DaemonSet once; twice where its first run lost the lock.
    const ofPods = lists.map(({ requestUri }) => requestUri);
    assert.ok(ofPods.length <= 2 * Object.keys(uids).length, ofPods.join('\n'));
  });

  function nodeUid(name: string): string | undefined {
    return stage.observer.nodes.get(name)?.uid;
  }

  async function setLabel(node: string, value: string | null): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, {
      metadata: { labels: { 'storage.example.com/local-disks': value } },
    });
  }

  async function setTaints(node: string, taints: readonly unknown[]): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, { spec: { taints } });
  }
});
