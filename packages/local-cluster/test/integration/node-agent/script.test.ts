/** Stages 4d to 4i of the node agent: network, cgroup, volumes, pull secrets, environment, runtime; failure and recovery. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAgentWorld } from '../../support/agent-world.ts';

const CONFIG_VOLUME = { name: 'config', configMap: { name: 'settings' } };

describe('the network', () => {
  it('that is not ready holds back a pod, but not one on the host network', async () => {
    const world = await createAgentWorld({ machine: { network: 'daemon' } });
    await world.createPod('p');
    await world.createPod('host', { spec: { hostNetwork: true } });
    await world.clock.advance(2000);
    assert.equal(world.status('host').phase, 'Running');
    assert.equal(world.status('host')['podIP'], '172.16.0.1');
    assert.equal(world.status('p').phase, 'Pending');
    assert.match(
      world.eventsAbout('p')[0] ?? '',
      /^Warning NetworkNotReady: network is not ready: container runtime network not ready: NetworkReady=false/,
    );
    assert.ok(world.podRuntime.calls.every((call) => call === 'syncPod host'));
    await world.agent.stop();
  });
});

describe('cgroups', () => {
  it('stand by QoS class, and the runtime gets the parent', async () => {
    const world = await createAgentWorld();
    const bestEffort = await world.createPod('p');
    const burstable = await world.createPod('q', { requests: { cpu: '500m' } });
    await world.settle();
    const parents = world.podRuntime.syncInputs.map(({ cgroupParent }) => cgroupParent);
    assert.ok(parents.includes(`/kubepods/besteffort/pod${bestEffort.metadata.uid}`));
    assert.ok(parents.includes(`/kubepods/burstable/pod${burstable.metadata.uid}`));
    const line = world.log.lines.find(
      ({ message, fields }) => message === 'cgroup' && fields['pod'] === 'default/q',
    );
    assert.equal(line?.fields['cpuShares'], 512);
    await world.agent.stop();
  });
});

describe('volumes', () => {
  it('hold back a pod until its ConfigMap exists, with an event for each attempt', async () => {
    const world = await createAgentWorld();
    await world.createPod('p', { spec: { volumes: [CONFIG_VOLUME] } });
    await world.clock.advance(3000);
    assert.deepEqual(world.podRuntime.calls, []);
    assert.equal(
      world.status('p').containerStatuses?.[0]?.state.waiting?.reason,
      'ContainerCreating',
    );
    assert.deepEqual(world.eventsAbout('p'), [
      'Warning FailedMount: MountVolume.SetUp failed for volume "config" : configmap "settings" not found',
    ]);
    const [event] = world.store.list('events').filter(({ reason }) => reason === 'FailedMount');
    assert.equal(event?.['count'], 3, 'at 0, 0.5 and 1.5 s');

    await world.create('configmaps', { metadata: { name: 'settings', namespace: 'default' } });
    await world.clock.advance(4000);
    assert.equal(world.status('p').phase, 'Running');
    await world.agent.stop();
  });

  it('that are optional hold back nobody', async () => {
    const world = await createAgentWorld();
    const secret = { name: 'secret', secret: { secretName: 'none', optional: true } };
    await world.createPod('p', { spec: { volumes: [secret] } });
    await world.settle();
    assert.equal(world.status('p').phase, 'Running');
    await world.agent.stop();
  });

  it('are slow and fail as the pod asks', async () => {
    const world = await createAgentWorld();
    await world.createPod('p', {
      metadata: { annotations: { 'simulate.rollcall.dev/volumes': 'delay=3s,fail=1' } },
      spec: { volumes: [{ name: 'scratch', emptyDir: {} }], automountServiceAccountToken: false },
    });
    await world.clock.advance(6000);
    assert.equal(world.status('p').phase, 'Pending');
    await world.clock.advance(2000);
    assert.equal(world.status('p').phase, 'Running');
    assert.equal(world.eventsAbout('p').length, 1);
    await world.agent.stop();
  });

  it('give up waiting when the pod is deleted', async () => {
    const world = await createAgentWorld();
    await world.createPod('p', { spec: { volumes: [CONFIG_VOLUME] } });
    await world.clock.advance(3000);
    await world.admin.delete({ resource: 'pods', namespace: 'default', name: 'p' });
    await world.settle();
    assert.equal(world.pod('p'), undefined);
    await world.agent.stop();
  });
});

describe('image pull secrets', () => {
  it('that are missing are a warning and no obstacle', async () => {
    const world = await createAgentWorld();
    await world.createPod('p', { spec: { imagePullSecrets: [{ name: 'registry' }] } });
    await world.settle();
    assert.equal(world.status('p').phase, 'Running');
    assert.deepEqual(world.eventsAbout('p'), [
      'Warning FailedToRetrieveImagePullSecret: Unable to retrieve some image pull secrets (registry); attempting to pull the image may not succeed.',
    ]);
    await world.agent.stop();
  });
});

describe('the environment', () => {
  it('tells the runtime which ConfigMap, Secret or key is missing, for as long as it is', async () => {
    const world = await createAgentWorld();
    const missing = { waiting: new Map([['main', { reason: 'CreateContainerConfigError' }]]) };
    const result = { ...missing, failures: [{ action: 'start', message: 'no' }] };
    world.podRuntime.results.push(result, result);
    const env = [
      { name: 'A', valueFrom: { configMapKeyRef: { name: 'settings', key: 'a' } } },
      { name: 'B', valueFrom: { secretKeyRef: { name: 'none', key: 'b', optional: true } } },
    ];
    await world.createPod('p', {
      spec: { containers: [{ name: 'main', image: 'example/main:1', env }] },
    });
    await world.settle();
    assert.deepEqual(
      [...(world.podRuntime.syncInputs[0]?.configErrors ?? [])],
      [['main', 'configmap "settings" not found']],
    );
    await world.create('configmaps', {
      metadata: { name: 'settings', namespace: 'default' },
      data: { b: '1' },
    });
    await world.clock.advance(1000);
    assert.equal(
      world.podRuntime.syncInputs[1]?.configErrors.get('main'),
      "couldn't find key a in ConfigMap default/settings",
    );
    assert.equal(
      world.status('p').containerStatuses?.[0]?.state.waiting?.reason,
      'CreateContainerConfigError',
    );
    await world.agent.stop();
  });
});

describe('the runtime sync', () => {
  it('shows a new reason for waiting a second later, and comes back when its back-off ends', async () => {
    const world = await createAgentWorld();
    const pulling = { reason: 'ErrImagePull', message: 'not found' };
    const failures = [{ action: 'PullImage', message: 'not found' }];
    const result = { waiting: new Map([['main', pulling]]), failures, retryAfterMs: 10_000 };
    world.podRuntime.results.push(result, result);
    await world.createPod('p');
    await world.settle();
    assert.equal(
      world.status('p').containerStatuses?.[0]?.state.waiting?.reason,
      'ContainerCreating',
    );
    await world.clock.advance(1000);
    assert.deepEqual(world.status('p').containerStatuses?.[0]?.state.waiting, pulling);
    await world.clock.advance(9999);
    assert.equal(world.podRuntime.syncInputs.length, 2);
    await world.clock.advance(1);
    assert.equal(world.status('p').phase, 'Running');
    await world.agent.stop();
  });

  it('is repeated every one to one and a half minutes although nothing happens', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.clock.advance(1000);
    const before = world.podRuntime.syncInputs.length;
    await world.clock.advance(58_000);
    assert.equal(world.podRuntime.syncInputs.length, before);
    await world.clock.advance(32_000);
    assert.equal(world.podRuntime.syncInputs.length, before + 1);
    await world.agent.stop();
  });
});
