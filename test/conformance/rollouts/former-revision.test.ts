/**
 * Stage-true revisions in takeover, with DaemonSets listed one by one in the admission policy where the control plane knows
 * policies (issue 17; ADR 0063): what a staged rollout makes of the former revision is let in.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, it } from 'node:test';
import { createNodes, fakeNode, plainNodes } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { describeOnBackends } from '../scenarios/backends.ts';
import { daemonSetPath } from '../scenarios/daemon-set.ts';
import { listInAdmission } from '../scenarios/list-admission.ts';
import { openStage } from '../scenarios/stage.ts';
import type { Stage } from '../scenarios/stage.ts';
import { createRolled, edit, nodesAt, removeAll, rollingUpdate, waitFor } from './rolled.ts';
import type { Rolled } from './rolled.ts';

const COPIES = '/api/v1/namespaces/default/podtemplates';

describeOnBackends('the former revision', { timeout: 1_200_000, usually: 'real' }, (backend) => {
  const nodes = plainNodes(6);
  const names = nodes.map(({ metadata }) => metadata.name);
  let stage: Stage;

  before(async () => {
    stage = await openStage({ backend, name: 'former-revision', nodes });
    if (backend === 'real')
      await listInAdmission(stage.admin, ['returned', 'joined', 'partitioned']);
  });
  afterEach(() => removeAll(stage));
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('comes back to the canary’s nodes after a breach with onHalt: rollback', async () => {
    const rolled = await create('returned', 'canary: {nodes: 1}\nsoak: 5s\nonHalt: rollback');
    await edit(stage, rolled, { version: 'b', isBad: true });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length === 1, {
      description: 'the canary has the bad revision',
    });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'a').length === names.length, {
      description: 'all nodes are back',
    });
  });

  it('is given to a node that joins in mid-canary', async () => {
    // What runs first is good, and copied, after its soak; the rollout has a longer one.
    const rolled = await create('joined', 'canary: {nodes: 1}\nsoak: 5s');
    await setPolicy(rolled.name, 'canary: {nodes: 1}\nsoak: 1h');
    await edit(stage, rolled, { version: 'b' });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length === 1, {
      description: 'the canary is updated',
    });
    await createNodes(stage.admin, [fakeNode({ name: 'late-1' })]);
    const all = { ...rolled, nodes: [...names, 'late-1'] };
    await waitFor(stage, (observer) => nodesAt(observer, all, 'a').includes('late-1'), {
      description: 'the node that joined runs the proven revision',
    });
    assert.equal(nodesAt(stage.observer, all, 'b').length, 1);
    await stage.admin.delete('/api/v1/nodes/late-1');
  });

  it('comes back where the partition is raised', async () => {
    const policy = 'canary: {nodes: 1}\nsoak: 1s\nmaxUnavailable: 2';
    const rolled = await create('partitioned', policy);
    await edit(stage, rolled, { version: 'b' });
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'b').length === names.length, {
      description: 'all nodes are updated',
    });
    await setPolicy(rolled.name, `${policy}\npartition: 3`);
    await waitFor(stage, (observer) => nodesAt(observer, rolled, 'a').length === 3, {
      description: 'three nodes are back',
    });
    assert.equal(nodesAt(stage.observer, rolled, 'b').length, 3);
  });

  /** At rest, listed, and with the copy that the first rollout will need. */
  async function create(name: string, policy: string): Promise<Rolled> {
    const strategy = rollingUpdate({ maxUnavailable: 1 });
    const rolled = await createRolled(stage, { name, nodes: names, strategy });
    await setPolicy(name, policy);
    await pollUntil({ deadlineMs: 120_000, description: 'the copy' }, async () => {
      const path = `${COPIES}/${name}-rollcall-proven-a`;
      const { status } = await stage.admin.request({ method: 'GET', path });
      return status === 200 ? true : undefined;
    });
    return rolled;
  }

  async function setPolicy(name: string, policy: string): Promise<void> {
    const annotations = { 'rollcall.dev/rollout': policy };
    await stage.admin.patch(daemonSetPath({ name }), { metadata: { annotations } });
  }
});
