/** protocol 9, rows 82, 85, 87, spec 2.3–2.4: foreign names, adoption, history, and what is left alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onDelete, putPod } from '../../../support/foreign-pods.ts';
import { codeOf, ReconcileWorld, sampleDaemonSet } from '../../../support/reconcile-world.ts';
import { controllerUid } from '../../../support/simulated-objects.ts';

describe('protocol 9: foreign names', () => {
  it('are guarded by one list per epoch; known pods let creates pass', async () => {
    const world = new ReconcileWorld({ nodes: 3, ...onDelete });
    putPod(world, { name: 'agents-x7k2p', node: 'node-0001', owner: world.daemonSet.metadata.uid });
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002', 'node-0003']);
    assert.equal(world.sent('LIST pods'), 1);
    world.addNode('node-0004');
    await world.settle();
    assert.equal(world.placed.length, 4);
    assert.equal(world.sent('LIST pods'), 1, 'once per epoch');
    world.mirror.epoch = '777' as never;
    world.addNode('node-0005');
    await world.settle();
    assert.equal(world.sent('LIST pods'), 2);
  });

  it('that the view does not know defer all creates (row 87)', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    const owner = world.daemonSet.metadata.uid;
    putPod(world, { name: 'agents-seen1', node: 'node-0001', owner });
    await world.mirror.sync();
    putPod(world, { name: 'agents-lost1', node: 'node-0002', owner });
    assert.equal(codeOf(await world.run()), 'foreign-pods-unseen');
    assert.equal(world.pods.length, 2, 'no second pod beside the unseen one');
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('row 85: of orphans that the view does not know yet hold the first creates of a DaemonSet', async () => {
    const world = new ReconcileWorld({ nodes: 2, ...onDelete });
    await world.mirror.sync();
    putPod(world, { name: 'agents-left1', node: 'node-0001' });
    putPod(world, { name: 'agents-left2', node: 'node-0002' });
    assert.equal(codeOf(await world.run()), 'foreign-pods-unseen');
    assert.equal(world.pods.length, 2, 'no second pod beside an orphan');
    await world.settle();
    assert.deepEqual(world.owned, ['node-0001', 'node-0002']);
    assert.equal(world.pods.length, 2, 'adopted, not doubled');
    assert.deepEqual(world.cluster.violations, []);
  });

  it('are looked for once before the first creates, and never again where there are none', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    assert.equal(world.sent('LIST pods'), 1);
    for (const pod of world.pods) world.cluster.remove('pods', pod.metadata.name, 'system');
    world.mirror.epoch = '777' as never;
    await world.settle();
    assert.equal(world.owned.length, 2);
    assert.equal(world.sent('LIST pods'), 1);
  });

  it('need a list of their own after each takeover', async () => {
    const world = new ReconcileWorld({ nodes: 1, ...onDelete });
    putPod(world, { name: 'agents-x7k2p', node: 'node-0001', owner: world.daemonSet.metadata.uid });
    await world.settle();
    world.addNode('node-0002');
    world.register({ takeoverProbedAtMs: 5 });
    await world.settle();
    assert.equal(world.sent('LIST pods'), 1);
    world.register({ takeoverProbedAtMs: 6, configVersion: 9 });
    world.addNode('node-0003');
    await world.settle();
    assert.equal(world.sent('LIST pods'), 2);
  });
});

describe('claims (spec 2.4)', () => {
  it('adopt an orphan that matches instead of doubling it (row 85)', async () => {
    const world = new ReconcileWorld({ nodes: 2, ...onDelete });
    putPod(world, { name: 'orphan', node: 'node-0001' });
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
    const orphan = world.cluster.find('pods', 'orphan', 'system');
    assert.ok(orphan !== undefined);
    assert.equal(controllerUid(orphan), world.daemonSet.metadata.uid);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('adopt nothing for a DaemonSet that is being deleted (S5)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    putPod(world, { name: 'orphan', node: 'node-0001' });
    await world.mirror.sync();
    world.change(({ metadata }) => ({
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    await world.run();
    const orphan = world.cluster.find('pods', 'orphan', 'system');
    assert.ok(orphan !== undefined);
    assert.equal(controllerUid(orphan), undefined);
  });

  it('release a pod whose labels moved away, and replace it', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const name = world.pods[0]?.metadata.name ?? '';
    world.cluster.change('pods', { namespace: 'system', name }, (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { app: 'debugging' } },
    }));
    await world.settle();
    const released = world.cluster.find('pods', name, 'system');
    assert.ok(released !== undefined);
    assert.equal(controllerUid(released), undefined);
    assert.equal(world.pods.length, 2);
    assert.deepEqual(world.cluster.violations, []);
  });

  it('that fail stop the run before it creates; nothing is lost', async () => {
    const world = new ReconcileWorld({ nodes: 2 });
    putPod(world, { name: 'orphan', node: 'node-0001' });
    world.meet('patch', { kind: 'answer', outcome: { kind: 'ambiguous', message: '500' } }, 2);
    await world.mirror.sync();
    assert.equal(codeOf(await world.run()), 'outcome-open');
    assert.equal(world.pods.length, 1);
    await world.settle();
    assert.deepEqual(world.placed, ['node-0001', 'node-0002']);
  });
});

describe('history (spec 2.10)', () => {
  it('is looked up when generation or seen set changed, and not otherwise', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    const looks = (): number => world.sent('LIST controllerrev');
    assert.equal(looks(), 2, 'once to make the revision, once when it was seen');
    world.addNode('node-0003');
    await world.settle();
    assert.equal(looks(), 2);
    world.setImage('example/agent:2');
    await world.settle();
    assert.equal(looks(), 4);
    assert.equal(world.cluster.list('controllerrevisions').length, 2);
  });

  it('adopts a revision that matches by meaning and keeps its hash (S10)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    const { template } = sampleDaemonSet().spec;
    world.cluster.put('controllerrevisions', {
      metadata: {
        namespace: 'system',
        name: 'agents-upstream',
        labels: { app: 'agents', 'controller-revision-hash': '58f9c8d6b' },
      },
      revision: 3,
      data: {
        spec: { template: { $patch: 'replace', spec: template.spec, metadata: template.metadata } },
      },
    });
    await world.settle();
    assert.equal(world.cluster.list('controllerrevisions').length, 1);
    assert.equal(world.pods[0]?.metadata.labels?.['controller-revision-hash'], '58f9c8d6b');
    const [revision] = world.cluster.list('controllerrevisions');
    assert.ok(revision !== undefined);
    assert.equal(controllerUid(revision), world.daemonSet.metadata.uid);
  });

  it('that fails stops everything else, with back-off', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    world.cluster.hooks = {
      onRead: (what) =>
        what === 'LIST controllerrevisions'
          ? { kind: 'unavailable', message: '500', isRefused: false }
          : undefined,
    };
    assert.equal(codeOf(await world.run()), 'history');
    assert.equal(world.pods.length, 0);
    world.cluster.hooks = {};
    await world.settle();
    assert.equal(world.pods.length, 1);
  });
});

describe('a DaemonSet that is left alone', () => {
  const edited = (change: (spec: Record<string, unknown>) => void) => (object: never) => {
    const copy = structuredClone(object) as { spec: Record<string, unknown> };
    change(copy.spec);
    return copy as never;
  };

  it('with an empty selector: one warning event, nothing else (spec 2.3 step 4)', async () => {
    const world = new ReconcileWorld({
      nodes: 1,
      daemonSet: edited((spec) => {
        spec['selector'] = {};
      }) as never,
    });
    await world.mirror.sync();
    const result = await world.run();
    assert.equal(result.kind === 'refused' && result.reason, 'selecting-all');
    assert.equal((await world.run()).kind, 'skipped');
    assert.deepEqual(
      world.cluster.list('events').map((event) => event['reason']),
      ['SelectingAll'],
    );
    assert.equal(world.pods.length, 0);
  });

  it('being deleted: no write at all (spec 2.3 step 5)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 2 });
    world.change(({ metadata }) => ({
      metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    }));
    world.addNode('node-0003');
    await world.mirror.sync();
    const requests = world.cluster.requests.length;
    assert.equal((await world.run()).kind, 'terminating');
    assert.equal(world.cluster.requests.length, requests);
  });

  it('gone: nothing to do; re-created under its name: other names (rows 38, 82)', async () => {
    const world = await ReconcileWorld.settled({ nodes: 1 });
    const former = world.pods.map(({ metadata }) => metadata.name);
    const copy = sampleDaemonSet();
    world.cluster.remove('daemonsets', 'agents', 'system');
    await world.mirror.sync();
    assert.equal((await world.run()).kind, 'absent');
    world.cluster.put('daemonsets', copy as never);
    for (const name of former) world.cluster.remove('pods', name, 'system');
    await world.settle();
    assert.equal(world.pods.length, 1);
    assert.ok(!former.includes(world.pods[0]?.metadata.name ?? ''));
    assert.deepEqual(world.cluster.violations, []);
  });

  it('malformed: refused with one line and a metric, nothing lost', async () => {
    const world = new ReconcileWorld({
      nodes: 1,
      daemonSet: edited((spec) => {
        spec['template'] = 'not a template';
      }) as never,
    });
    await world.mirror.sync();
    const result = await world.run();
    assert.equal(result.kind === 'refused' && result.reason, 'malformed-daemon-set');
    assert.equal(world.log.at('warn').length, 1);
    assert.equal(world.metrics.sum('ReconcileRefusals', 'malformed-daemon-set'), 1);
    world.cluster.put('daemonsets', sampleDaemonSet() as never);
    await world.settle();
    assert.equal(world.pods.length, 1);
  });

  it('opaque: a live read decides, and an outage only puts it off (protocol 22)', async () => {
    const world = new ReconcileWorld({ nodes: 1 });
    await world.mirror.sync();
    const uid = world.daemonSet.metadata.uid as never;
    const ref = { clusterUid: world.mirror.clusterUid, uid };
    world.mirror.seq += 1;
    await world.view.writeDaemonSet(ref, {
      stamp: world.mirror.stamp,
      object: null,
      opaqueReason: 'too-large',
    });
    await world.mirror.syncMeta();
    world.connector.refusal = { kind: 'unavailable', message: 'no route' };
    const unseen = await world.run();
    assert.equal(unseen.kind === 'deferred' && unseen.code, 'cluster-unavailable');
    world.connector.refusal = undefined;
    await world.run();
    assert.equal(world.pods.length, 1);
  });
});
