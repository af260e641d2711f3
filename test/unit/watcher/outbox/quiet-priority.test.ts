/** Which changes of a known object decide nothing, and so wait for others (ADR 0079). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WatchedKind } from '../../../../src/core/model/projections.ts';
import { quietPriority } from '../../../../src/watcher/outbox/change-priority.ts';
import { createInterner } from '../../../../src/watcher/project/projection.ts';
import { createProjector } from '../../../../src/watcher/project/projection.ts';
import type { SlimObject } from '../../../../src/watcher/project/projection.ts';

const projector = createProjector({
  interner: createInterner(),
  objectBytesMax: 10_000,
  unsendable: new Map(),
  onOpaque: () => undefined,
});

interface Draft {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

function slim(kind: WatchedKind, { metadata = {}, spec = {}, status = {} }: Draft): SlimObject {
  const identity = { name: 'o', uid: 'u', resourceVersion: '7' };
  const born = { creationTimestamp: '2026-01-01T00:00:00Z' };
  const namespace = kind === 'Node' ? {} : { namespace: 'infra' };
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'd', controller: true };
  const owned = kind === 'Pod' ? { ownerReferences: [owner] } : {};
  const raw = {
    metadata: { ...identity, ...born, ...namespace, ...owned, ...metadata },
    spec,
    status,
  };
  const result = projector.project(kind, raw);
  return result.kind === 'tracked' ? result.slim : assert.fail('not tracked');
}

const AIMED = {
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [
          { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
        ],
      },
    },
  },
};

const ready = (status: string, second = '00'): object => ({
  type: 'Ready',
  status,
  lastTransitionTime: `2026-01-01T00:00:${second}Z`,
});

const weigh = (kind: WatchedKind, before: Draft, after: Draft): string =>
  quietPriority(slim(kind, before), slim(kind, after)) ?? 'decides';

describe('a change that only explains', () => {
  it('is a pod that was bound where it was aimed at, or started without being ready', () => {
    const status = { phase: 'Pending' };
    const bound = { spec: { ...AIMED, nodeName: 'n1' }, status };
    assert.equal(weigh('Pod', { spec: AIMED, status }, bound), 'detail');
    const started = { ...bound, status: { phase: 'Running', conditions: [ready('False')] } };
    assert.equal(weigh('Pod', bound, started), 'detail');
    const again = { ...bound, status: { phase: 'Running', conditions: [ready('False', '09')] } };
    assert.equal(weigh('Pod', started, again), 'detail');
  });

  it('is a node that became ready, was cordoned or is going, as long as its taints stand', () => {
    const before = { status: { conditions: [ready('False')] } };
    assert.equal(weigh('Node', before, { status: { conditions: [ready('True')] } }), 'detail');
    assert.equal(weigh('Node', before, { ...before, spec: { unschedulable: true } }), 'detail');
    const going = { ...before, metadata: { deletionTimestamp: '2026-01-01T00:00:09Z' } };
    assert.equal(weigh('Node', before, going), 'detail');
  });
});

const container = (state: object, more: object = {}): Draft => ({
  spec: { nodeName: 'n1' },
  status: {
    phase: 'Running',
    containerStatuses: [{ name: 'agent', restartCount: 0, state, ...more }],
  },
});
const running = { running: {} };
const waiting = (reason: string): object => ({ waiting: { reason } });
const ended = (reason: string, second: string): object => ({
  terminated: { reason, exitCode: 1, finishedAt: `2026-01-01T00:00:${second}Z` },
});

describe('of the trouble of a pod', () => {
  it('an exit decides, and why a container cannot start; what follows explains', () => {
    const exited = container(ended('Error', '05'));
    assert.equal(weigh('Pod', container(running), exited), 'decides');
    const lastState = ended('Error', '05');
    const again = container(running, { restartCount: 1, lastState });
    assert.equal(weigh('Pod', exited, again), 'detail');
    const second = container(ended('Error', '09'), { restartCount: 1, lastState });
    assert.equal(weigh('Pod', again, second), 'decides');
    const creating = container(waiting('ContainerCreating'));
    for (const word of ['ErrImagePull', 'CreateContainerConfigError', 'RunContainerError']) {
      assert.equal(weigh('Pod', creating, container(waiting(word))), 'decides');
    }
    const refused = container(waiting('CreateContainerError'));
    assert.equal(weigh('Pod', container(waiting('ErrImagePull')), refused), 'decides');
    assert.equal(weigh('Pod', refused, container(running)), 'detail');
  });

  it('CrashLoopBackOff comes and goes with whatever is sent next', () => {
    const lastState = ended('StartError', '05');
    const counted = { restartCount: 1, lastState };
    const backingOff = container(waiting('CrashLoopBackOff'), counted);
    const exited = container(ended('StartError', '05'), { restartCount: 1 });
    assert.equal(weigh('Pod', exited, backingOff), 'aside');
    const refused = container(waiting('RunContainerError'), counted);
    assert.equal(weigh('Pod', refused, backingOff), 'aside');
    assert.equal(weigh('Pod', backingOff, container(running, counted)), 'aside');
    // It was not told before.
    const again = container(running, { restartCount: 2, lastState });
    assert.equal(weigh('Pod', backingOff, again), 'detail');
    const bound = { ...backingOff, spec: { nodeName: 'n2' } };
    assert.equal(weigh('Pod', container(running, counted), bound), 'decides');
  });

  it('conditions explain', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
    const pending = { spec: AIMED, status: { phase: 'Pending' } };
    const stuck = { spec: AIMED, status: { phase: 'Pending', conditions } };
    assert.equal(weigh('Pod', pending, stuck), 'detail');
    assert.equal(weigh('Pod', stuck, pending), 'detail');
  });

  it('and a boot or a kernel of a node explain', () => {
    const nodeOf = (bootID: string, kernelVersion: string): Draft => ({
      status: { nodeInfo: { bootID, kernelVersion } },
    });
    assert.equal(weigh('Node', nodeOf('a', '6.12'), nodeOf('b', '6.13')), 'detail');
    assert.equal(weigh('Node', {}, nodeOf('b', '6.13')), 'detail');
  });
});

describe('a change that decides', () => {
  it('is a pod that is aimed elsewhere, becomes ready or not, ends, goes, or changes its labels or owner', () => {
    const running = { phase: 'Running', conditions: [ready('True')] };
    const before = { spec: { nodeName: 'n1' }, status: running };
    const changes: readonly Draft[] = [
      { ...before, spec: { nodeName: 'n2' } },
      { ...before, status: { phase: 'Running', conditions: [ready('False')] } },
      { ...before, status: { phase: 'Running', conditions: [ready('True', '09')] } },
      { ...before, status: { ...running, phase: 'Failed' } },
      { ...before, status: { ...running, phase: 'Succeeded' } },
      { ...before, status: { ...running, reason: 'Evicted' } },
      { ...before, metadata: { deletionTimestamp: '2026-01-01T00:00:09Z' } },
      { ...before, metadata: { labels: { app: 'other' } } },
      { ...before, metadata: { ownerReferences: [] } },
    ];
    for (const after of changes) {
      assert.equal(weigh('Pod', before, after), 'decides', JSON.stringify(after));
    }
  });

  it('is a node whose labels or taints change, whatever changed beside them', () => {
    const taints = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }];
    assert.equal(weigh('Node', {}, { spec: { unschedulable: true, taints } }), 'decides');
    assert.equal(weigh('Node', {}, { metadata: { labels: { pool: 'a' } } }), 'decides');
  });

  it('is a DaemonSet of which anything but the status changed, and a revision always', () => {
    const spec = { selector: { matchLabels: { app: 'a' } }, template: {} };
    const before = { metadata: { generation: 1 }, spec, status: { numberReady: 1 } };
    const status = { numberReady: 2 };
    assert.equal(weigh('DaemonSet', before, { ...before, status }), 'calm');
    assert.equal(
      weigh('DaemonSet', before, { spec, metadata: { generation: 2 }, status }),
      'decides',
    );
    // The next run waits for the first status of a generation before it makes or deletes anything.
    const first = { ...status, observedGeneration: 1 };
    assert.equal(weigh('DaemonSet', before, { ...before, status: first }), 'decides');
    const second = { ...before, status: { ...first, numberReady: 3 } };
    assert.equal(weigh('DaemonSet', { ...before, status: first }, second), 'calm');
    assert.equal(weigh('DaemonSet', { ...before, status: first }, before), 'calm');
    const labels = { metadata: { labels: { a: 'b' } } };
    assert.equal(weigh('ControllerRevision', {}, labels), 'decides');
  });
});
