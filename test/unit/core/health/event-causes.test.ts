/** Why a pod never started, as its Events tell: known words and names in known places, and nothing else of anybody's text. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { causeOfEvents, withCause } from '../../../../src/core/health/event-causes.ts';
import type { PodEvent } from '../../../../src/core/model/projections.ts';
import type { Breach } from '../../../../src/core/model/rollout-record.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const mount = (message: string, atMs = NOW_MS): PodEvent => ({
  reason: 'FailedMount',
  message,
  atMs,
});

function wordsOf(...events: readonly PodEvent[]): string {
  const cause = causeOfEvents(events);
  return cause.kind === 'known' ? cause.words : cause.kind;
}

describe('the cause of a pod that never started', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    [
      'FailedMount',
      'MountVolume.SetUp failed for volume "config" : configmap "agent-config" not found',
      'FailedMount: a volume cannot be mounted (volume config, configmap agent-config is missing)',
    ],
    [
      'FailedMount',
      'MountVolume.SetUp failed for volume "token" : secret "agent.token" not found',
      'FailedMount: a volume cannot be mounted (volume token, secret agent.token is missing)',
    ],
    [
      'FailedMount',
      'kubernetes.io/csi: attacher.MountDevice failed: driver name ebs.csi.aws.com not found in the list of registered CSI drivers',
      'FailedMount: a volume cannot be mounted (CSI driver ebs.csi.aws.com is not on the node)',
    ],
    [
      'FailedAttachVolume',
      'AttachVolume.Attach failed for volume "pvc-1" : rpc error',
      'FailedAttachVolume: a volume cannot be attached (volume pvc-1)',
    ],
    [
      'FailedCreatePodSandBox',
      'Failed to create pod sandbox: plugin type="cilium-cni" failed (add): timeout',
      'FailedCreatePodSandBox: the sandbox cannot be made, which is mostly the node’s (network plugin cilium-cni)',
    ],
    [
      'NetworkNotReady',
      'network is not ready: x',
      'NetworkNotReady: the network of the node is not ready',
    ],
  ];
  for (const [reason, message, words] of cases) {
    it(`is told of ${reason}: ${message.slice(0, 60)}`, () => {
      assert.equal(wordsOf({ reason, message }), words);
    });
  }

  it('is the newest, and of two told at once the one that says more', () => {
    const older = mount('failed for volume "old"', NOW_MS - 1);
    const newer = mount('failed for volume "new"');
    assert.match(wordsOf(older, newer), /volume new/);
    assert.match(wordsOf(newer, older), /volume new/);
    const untimed: PodEvent = { reason: 'NetworkNotReady', message: '' };
    assert.match(wordsOf(untimed, older), /volume old/);
    assert.match(wordsOf(mount('timed out'), newer), /volume new/);
  });

  it('repeats nothing else of what somebody wrote', () => {
    const text = 'failed for volume "x y" option password=hunter2 secret "A_B" not found';
    assert.equal(wordsOf(mount(text)), 'FailedMount: a volume cannot be mounted');
    assert.equal(wordsOf({ reason: 'FailedMount hunter2', message: text }), 'silent');
    assert.equal(wordsOf({ reason: 'constructor', message: text }), 'silent');
  });

  it('is none where no Event tells one', () => {
    assert.equal(wordsOf(), 'silent');
    assert.equal(wordsOf({ reason: 'BackOff', message: 'Back-off pulling image' }), 'silent');
  });
});

describe('a breach', () => {
  const breach: Breach = { cause: 'StartFailure', atMs: NOW_MS, message: 'one node', nodes: [] };

  it('has the first cause that is known', () => {
    const causes = [
      { kind: 'silent' },
      { kind: 'unreadable' },
      { kind: 'known', words: 'FailedMount: a' },
      { kind: 'known', words: 'FailedMount: b' },
    ] as const;
    assert.deepEqual(withCause(breach, causes), { ...breach, message: 'one node; FailedMount: a' });
  });

  it('says that none is known, and why', () => {
    const unreadable = withCause(breach, [{ kind: 'silent' }, { kind: 'unreadable' }]);
    assert.equal(unreadable.message, 'one node; no cause is known: its Events cannot be read');
    const silent = withCause(breach, [{ kind: 'silent' }]);
    assert.equal(silent.message, 'one node; no cause is known: no Event tells one');
  });
});
