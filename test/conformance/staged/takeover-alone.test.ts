/** What only takeover can in staged rollouts, on a real control plane where the built-in loop is off (issue 17). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { deleteNodes } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { daemonSetPath, podPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { daemonSetUid, livePodsByNode } from '../scenarios/expectations.ts';
import {
  DEADLINE_MS,
  GUARDED,
  joiningNode,
  NAME,
  NODES_COUNT,
  policyOf,
  StagedStage,
  WATCH,
} from './staged-stage.ts';

const skip =
  (process.env['ROLLCALL_TEST_KUBECONFIG'] ?? '') === ''
    ? skipWithoutTools([TOOLS.go])
    : 'needs a control plane of its own';

describe('what only takeover can in staged rollouts', { timeout: 1_700_000, skip }, () => {
  let stage: StagedStage;

  before(async () => {
    stage = await StagedStage.open('takeover');
    await stage.setPolicy(policyOf('3s'));
    await stage.release({ version: 'b' });
    const done = await stage.follow();
    assert.equal(done.code, 0, done.stdout);
    await stage.untilVersion('b');
  });
  after(async () => {
    await (stage as StagedStage | undefined)?.close();
  });

  it('gives nodes that join during the canary the good revision, and the new one in their turn', async () => {
    await stage.setPolicy(policyOf('20s', 'approval: after-canary'));
    await stage.release({ version: 'd' });
    await stage.until('the canary', () => stage.nodesAt('d').length === 3);
    for (const name of ['joined-1', 'joined-2']) {
      await stage.bare.admin.post('/api/v1/nodes', joiningNode(name));
    }
    await stage.until(
      'pods on them',
      () => stage.versions().has('joined-1') && stage.versions().has('joined-2'),
    );
    assert.equal(stage.versions().get('joined-1'), 'b');
    assert.equal(stage.versions().get('joined-2'), 'b');
    assert.equal(stage.nodesAt('d').length, 3, 'the canary alone');
    const approved = await stage.rollout('approve', '--step', '1', ...WATCH);
    assert.equal(approved.code, 0, `${approved.stdout}\n${approved.stderr}`);
    await stage.untilVersion('d');
    await deleteNodes(stage.bare.admin, ['joined-1', 'joined-2']);
    await stage.until('them gone', () => stage.nodeNames().length === NODES_COUNT);
  });

  it('keeps what a partition keeps; raised, nodes go back; lowered, they go on', async () => {
    const counts = (): readonly number[] => [stage.nodesAt('d').length, stage.nodesAt('e').length];
    const reaches = (old: number, fresh: number): Promise<void> =>
      stage.until(`${String(old)} old, ${String(fresh)} new`, () => {
        return counts()[0] === old && counts()[1] === fresh;
      });
    await stage.setPolicy(policyOf('3s', 'partition: 80%'));
    await stage.release({ version: 'e' });
    await reaches(40, 10);
    await stage.untilStill();
    assert.deepEqual(counts(), [40, 10]);
    await stage.setPolicy(policyOf('3s', 'partition: 90%'));
    await reaches(45, 5);
    await stage.setPolicy(policyOf('3s'));
    const done = await stage.follow();
    assert.equal(done.code, 0, done.stdout);
    await stage.untilVersion('e');
  });

  it('surges under a policy: never a node without a Ready pod, canary first', async () => {
    const rollingUpdate = { maxUnavailable: 0, maxSurge: '20%' };
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate };
    await stage.bare.admin.patch(daemonSetPath({ name: NAME }), { spec: { updateStrategy } });
    const fromEvent = await stage.release({ version: 'f' });
    await stage.until('the rollout over', () => stage.nodesAt('f').length === NODES_COUNT);
    await stage.untilVersion('f');
    const { availableNodesMin, surgingNodesMax, creations } = stage.report(fromEvent);
    assert.equal(availableNodesMin, NODES_COUNT);
    assert.ok(surgingNodesMax <= 10, String(surgingNodesMax));
    const { staged } = await stage.status();
    const first = creations.slice(0, 3).map(({ node }) => node);
    assert.deepEqual(first.toSorted(), staged?.canary.toSorted());
  });

  it('holds the removal of 50 pods when their nodes lose a label in one second, names it, and lets it go once confirmed', async () => {
    const { admin, observer } = stage.bare;
    const name = GUARDED;
    const label = (value: string | null): Promise<unknown> =>
      Promise.all(
        stage
          .nodeNames()
          .map((node) =>
            admin.patch(`/api/v1/nodes/${node}`, { metadata: { labels: { daemon: value } } }),
          ),
      );
    await label('yes');
    await admin.post(daemonSetPath({}), testDaemonSet({ name, nodeSelector: { daemon: 'yes' } }));
    const uid = await daemonSetUid(stage.bare, { namespace: 'default', name });
    const live = (): number => livePodsByNode(observer, uid).size;
    await stage.until('its pods', () => live() === NODES_COUNT);
    await stage.untilStill();
    await label(null);
    const [message = ''] = await pollUntil(
      { deadlineMs: DEADLINE_MS, description: 'the Event' },
      async () => {
        const told = await stage.events('RemovalHeld');
        return told.length === 0 ? undefined : told;
      },
    );
    await stage.untilStill();
    assert.equal(live(), NODES_COUNT, 'no pod went');
    assert.match(message, /50 of 50 pods go within ten minutes: .*label daemon=yes/);
    const shown = await stage.rolloutOf(name, 'status');
    assert.match(shown.stdout, /! 50 of 50 pods go .*rollcall rollout confirm/);
    const confirmed = await stage.rolloutOf(name, 'confirm');
    assert.equal(confirmed.code, 0, confirmed.stderr);
    await stage.until('all of them gone', () => live() === 0);
  });

  it('removed, leaves a DaemonSet that the built-in loop goes on with: no pod restarts', async () => {
    const former = stage.podUids();
    await stage.stop();
    await stage.controlPlane.setDaemonSetController('on');
    const [node = ''] = stage.nodeNames();
    const victim = [...stage.bare.observer.pods.values()].find((pod) => pod.node === node);
    assert.ok(victim !== undefined);
    await stage.bare.admin.delete(podPath(victim));
    await stage.until('its pod back', () => {
      const now = stage.podUids().get(node);
      return now !== undefined && now !== former.get(node);
    });
    await stage.untilVersion('f');
    const now = stage.podUids();
    for (const [each, uid] of former) if (each !== node) assert.equal(now.get(each), uid, each);
  });
});
