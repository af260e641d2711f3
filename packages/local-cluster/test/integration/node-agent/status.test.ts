/** Stage 4c and 7 of the node agent: how a status gets to the API, also when the API refuses, and what it says. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ClientOutcome, LocalClient } from '../../../src/client/local-client.ts';
import type { Condition } from '../../../src/node-agent/shared/pod-object.ts';
import { createAgentWorld } from '../../support/agent-world.ts';
import type { AgentWorld } from '../../support/agent-world.ts';

const POD = { resource: 'pods', namespace: 'default', name: 'p' } as const;
const DOWN: ClientOutcome = {
  kind: 'refused',
  status: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'InternalError',
    message: 'the server is down',
    code: 500,
  },
};

/** The same client, except where told otherwise. */
function withOverrides(client: LocalClient, overrides: Partial<LocalClient>): LocalClient {
  return {
    get: (ref) => client.get(ref),
    list: (selection) => client.list(selection),
    create: (resource, object) => client.create(resource, object),
    update: (ref, object) => client.update(ref, object),
    updateStatus: (ref, object) => client.updateStatus(ref, object),
    patch: (ref, patch) => client.patch(ref, patch),
    delete: (ref, options) => client.delete(ref, options),
    act: (ref, subresource, body) => client.act(ref, subresource, body),
    observe: (selection, onChange) => client.observe(selection, onChange),
    ...overrides,
  };
}

function condition(world: AgentWorld, type: string): Condition | undefined {
  return world.status('p').conditions?.find((each) => each.type === type);
}

describe('the status manager', () => {
  it('reads before each write, and writes nothing when nothing differs', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.settle();
    const before = world.requests.length;
    const uid = world.pod('p')?.metadata.uid ?? '';
    world.podRuntime.tell(uid);
    await world.settle();
    assert.deepEqual(
      world.requests.slice(before).filter((line) => line.includes('pods')),
      [],
    );
    const pods = world.requests.filter((line) => line.includes(' pods'));
    assert.deepEqual(pods, [
      'list pods  200',
      'watch pods  200',
      'get pods p 200',
      'patch pods/status p 200',
      'get pods p 200',
      'patch pods/status p 200',
    ]);
    await world.agent.stop();
  });

  it('tries a refused write again and brings only the newest status', async () => {
    let isDown = true;
    const world = await createAgentWorld({
      wrapClient: (client) =>
        withOverrides(client, {
          patch: (ref, patch) =>
            isDown && ref.resource === 'pods' ? Promise.resolve(DOWN) : client.patch(ref, patch),
        }),
    });
    await world.createPod('p');
    await world.settle();
    assert.equal(world.status('p').phase, 'Pending');
    assert.ok(world.log.at('warn').some(({ message }) => message === 'status not written'));
    isDown = false;
    await world.clock.advance(10_000);
    assert.equal(world.status('p').phase, 'Running');
    assert.deepEqual(world.podWrites, ['patch pods/status p 200']);
    await world.agent.stop();
  });

  it('writes again what somebody else has overwritten, and leaves conditions of others alone', async () => {
    const world = await createAgentWorld();
    await world.createPod('p');
    await world.settle();
    const conditions = [{ type: 'example.com/healthy', status: 'True' }];
    await world.admin.patch(POD, {
      type: 'strategic',
      body: { status: { phase: 'Pending', conditions } },
      subresource: 'status',
    });
    await world.clock.advance(10_000);
    assert.equal(world.status('p').phase, 'Running');
    assert.equal(condition(world, 'example.com/healthy')?.status, 'True');
    await world.agent.stop();
  });

  it('tries a refused final deletion again', async () => {
    let refusals = 1;
    const world = await createAgentWorld({
      wrapClient: (client) =>
        withOverrides(client, {
          delete: (ref, options) => {
            refusals -= 1;
            return refusals >= 0 ? Promise.resolve(DOWN) : client.delete(ref, options);
          },
        }),
    });
    await world.createPod('p');
    await world.settle();
    await world.admin.delete(POD);
    await world.settle();
    assert.ok(world.pod('p') !== undefined);
    await world.clock.advance(10_000);
    assert.equal(world.pod('p'), undefined);
    await world.agent.stop();
  });

  it('keeps transition times until a condition changes sides', async () => {
    const world = await createAgentWorld();
    world.probes.unready.add('main');
    const { metadata } = await world.createPod('p');
    await world.settle();
    assert.equal(condition(world, 'Ready')?.lastTransitionTime, '2026-01-01T00:00:00Z');
    await world.clock.advance(60_000);
    world.probes.unready.clear();
    tellProbe(world, metadata.uid, 'readiness');
    await world.settle();
    assert.equal(condition(world, 'Ready')?.status, 'True');
    assert.equal(condition(world, 'Ready')?.lastTransitionTime, '2026-01-01T00:01:00Z');
    assert.equal(condition(world, 'Initialized')?.lastTransitionTime, '2026-01-01T00:00:00Z');
    assert.equal(world.status('p').startTime, '2026-01-01T00:00:00Z');
    await world.agent.stop();
  });
});

function tellProbe(world: AgentWorld, podUid: string, kind: 'readiness' | 'startup'): void {
  world.probes.tell({
    podUid,
    containerName: 'main',
    containerId: 'main-0',
    kind,
    isSuccess: true,
  });
}

describe('what a status says', () => {
  it('of a pod that is not ready names the containers', async () => {
    const world = await createAgentWorld();
    world.probes.unready.add('main');
    await world.createPod('p');
    await world.settle();
    assert.equal(world.status('p').phase, 'Running');
    assert.equal(condition(world, 'Ready')?.reason, 'ContainersNotReady');
    assert.equal(
      condition(world, 'ContainersReady')?.message,
      'containers with unready status: [main]',
    );
    await world.agent.stop();
  });

  it('of a container whose startup probe has not succeeded is neither started nor ready', async () => {
    const world = await createAgentWorld();
    world.probes.unstarted.add('main');
    const { metadata } = await world.createPod('p');
    await world.settle();
    const [before] = world.status('p').containerStatuses ?? [];
    assert.deepEqual([before?.started, before?.ready], [false, false]);
    world.probes.unstarted.clear();
    tellProbe(world, metadata.uid, 'startup');
    await world.settle();
    const [after] = world.status('p').containerStatuses ?? [];
    assert.deepEqual([after?.started, after?.ready], [true, true]);
    assert.ok(world.messages().includes('SyncLoop (probe)'));
    await world.agent.stop();
  });

  it('of a container that was restarted tells how the one before ended', async () => {
    const world = await createAgentWorld();
    const { metadata } = await world.createPod('p');
    await world.settle();
    world.podRuntime.end(metadata.uid, 'main', 3);
    await world.settle();
    const [status] = world.status('p').containerStatuses ?? [];
    assert.equal(status?.restartCount, 1);
    assert.equal(status.lastState.terminated?.exitCode, 3);
    assert.ok(status.state.running !== undefined);
    await world.agent.stop();
  });

  it('of a pod that has ended is Succeeded or Failed, and stays so', async () => {
    const world = await createAgentWorld();
    const good = await world.createPod('good', { spec: { restartPolicy: 'Never' } });
    const bad = await world.createPod('bad', { spec: { restartPolicy: 'Never' } });
    await world.settle();
    world.podRuntime.end(good.metadata.uid, 'main', 0);
    world.podRuntime.end(bad.metadata.uid, 'main', 1);
    await world.clock.advance(120_000);
    assert.equal(world.status('good').phase, 'Succeeded');
    assert.equal(world.status('bad').phase, 'Failed');
    const ready = world.status('bad').conditions?.find(({ type }) => type === 'Ready');
    assert.deepEqual([ready?.status, ready?.reason], ['False', 'PodFailed']);
    assert.equal(world.podRuntime.status(bad.metadata.uid).sandboxes[0]?.state, 'notReady');
    await world.agent.stop();
  });
});
