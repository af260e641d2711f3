/** What `kubectl get` prints of each kind that has columns of its own, and of all others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, LivingName } from '../../../src/objects/api-object.ts';
import { tableOf } from '../../../src/tables/kinds.ts';
import type { Cell } from '../../../src/tables/table.ts';

const NOW = '2026-01-02T12:00:00Z';
const HOUR_AGO = '2026-01-02T11:00:00Z';

function objectOf(members: JsonObject & { readonly metadata?: JsonObject } = {}): ApiObject {
  const metadata = { name: 'x', creationTimestamp: HOUR_AGO, ...members.metadata };
  return { apiVersion: 'v1', kind: 'Any', ...members, metadata } as object as ApiObject; // as stored
}

/** Cells by the names of their columns. */
function rowOf(resource: LivingName, members: JsonObject): Readonly<Record<string, Cell>> {
  const { columns, cells } = tableOf(resource);
  const row = cells(objectOf(members), Date.parse(NOW));
  assert.equal(row.length, columns.length);
  return Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]));
}

const AGED = { Name: 'x', Age: '60m' };

describe('the table of', () => {
  test('namespaces', () => {
    const row = rowOf('namespaces', { status: { phase: 'Active' } });
    assert.deepEqual(row, { ...AGED, Status: 'Active' });
  });

  test('config maps, secrets and leases', () => {
    const data = { a: '1', b: '2' };
    assert.deepEqual(rowOf('configmaps', { data, binaryData: { c: '' } }), { ...AGED, Data: 3 });
    assert.deepEqual(rowOf('secrets', { type: 'Opaque', data }), {
      ...AGED,
      Type: 'Opaque',
      Data: 2,
    });
    const leases = 'leases.coordination.k8s.io';
    assert.deepEqual(rowOf(leases, { spec: { holderIdentity: 'me' } }), { ...AGED, Holder: 'me' });
  });

  test('a kind that nobody prints: name and age', () => {
    assert.deepEqual(rowOf('priorityclasses.scheduling.k8s.io', { value: 1 }), AGED);
  });

  test('nodes', () => {
    const none = { 'Internal-IP': '<none>', 'External-IP': '<none>' };
    const unknown = { 'OS-Image': '<unknown>', 'Container-Runtime': '<unknown>' };
    assert.deepEqual(rowOf('nodes', { spec: {}, status: {} }), {
      ...{ ...AGED, ...none, ...unknown, Roles: '<none>', Version: '' },
      ...{ Status: 'Unknown', 'Kernel-Version': '<unknown>' },
    });
    const known = rowOf('nodes', {
      metadata: {
        labels: { 'node-role.kubernetes.io/b': '', 'kubernetes.io/role': 'a', other: 'x' },
      },
      spec: { unschedulable: true },
      status: {
        conditions: [{ type: 'Ready', status: 'False' }],
        addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        nodeInfo: { kubeletVersion: 'v1.36.3', kernelVersion: '6.1', architecture: 'arm64' },
      },
    });
    assert.equal(known['Status'], 'NotReady,SchedulingDisabled');
    assert.equal(known['Roles'], 'a,b');
    assert.equal(known['Version'], 'v1.36.3');
    assert.equal(known['Internal-IP'], '10.0.0.1');
    assert.equal(known['Kernel-Version'], '6.1 (arm64)');
  });

  test('daemon sets', () => {
    const matchExpressions = [
      { key: 'aa', operator: 'In', values: ['z', 'y'] },
      { key: 'c', operator: 'Exists' },
      { key: 'd', operator: 'DoesNotExist' },
      { key: 'e', operator: 'NotIn', values: ['q'] },
    ];
    const containers = [{ name: 'x', image: 'i1' }, { name: 'y' }];
    const row = rowOf('daemonsets.apps', {
      spec: {
        selector: { matchLabels: { a: 'b' }, matchExpressions },
        template: { spec: { containers, nodeSelector: { z: '1', y: '2' } } },
      },
      status: { desiredNumberScheduled: 4, currentNumberScheduled: 3, numberReady: 2 },
    });
    assert.deepEqual(row, {
      ...AGED,
      ...{ Desired: 4, Current: 3, Ready: 2, 'Up-to-date': 0, Available: 0 },
      'Node Selector': 'y=2,z=1',
      Containers: 'x,y',
      Images: 'i1,',
      Selector: 'a=b,aa in (y,z),c,!d,e notin (q)',
    });
  });

  test('controller revisions', () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', controller: true };
    const owned = rowOf('controllerrevisions.apps', {
      metadata: { ownerReferences: [owner] },
      revision: 3,
    });
    assert.deepEqual(owned, { ...AGED, Controller: 'daemonset.apps/d', Revision: 3 });
    assert.equal(rowOf('controllerrevisions.apps', {})['Controller'], '<none>');
  });

  test('events, in the older style, in the newer one and in a series', () => {
    const involvedObject = { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{a}' };
    const older = rowOf('events', {
      involvedObject,
      ...{ type: 'Warning', reason: 'R', message: ' hi\n', count: 3 },
      source: { component: 'kubelet', host: 'n' },
      firstTimestamp: '2026-01-02T10:00:00Z',
      lastTimestamp: HOUR_AGO,
    });
    assert.deepEqual(older, {
      ...{ 'Last Seen': '60m', Type: 'Warning', Reason: 'R', Object: 'pod/p', Message: 'hi' },
      ...{ Subobject: 'spec.containers{a}', Source: 'kubelet, n', 'First Seen': '120m', Count: 3 },
      Name: 'x',
    });
    const newer = { involvedObject, eventTime: HOUR_AGO, reportingComponent: 'c' };
    const once = rowOf('events', newer);
    const of = ({ Source: source, Count: count, 'Last Seen': lastSeen }: typeof once): unknown => [
      source,
      count,
      lastSeen,
    ];
    assert.deepEqual(of(once), ['c', 1, '60m']);
    const series = { count: 9, lastObservedTime: '2026-01-02T11:58:00Z' };
    assert.deepEqual(of(rowOf('events', { ...newer, series })), ['c', 9, '2m']);
  });
});

const RUNNING = { running: {} };
const ended = (exitCode: number, reason?: string): JsonObject => ({
  terminated: { exitCode, ...(reason === undefined ? {} : { reason }) },
});
const waiting = (reason: string): JsonObject => ({ waiting: { reason } });
const container = (state: JsonObject, more: JsonObject = {}): JsonObject => ({
  ...{ name: 'c', ready: state === RUNNING, restartCount: 0, state },
  ...more,
});
const READY = { conditions: [{ type: 'Ready', status: 'True' }] };
const INITIALIZED = { conditions: [{ type: 'Initialized', status: 'True' }] };

/** A pod by its status; `init` and `sidecars` are how many such containers its spec has. */
function podOf(
  status: JsonObject,
  of: { readonly init?: number; readonly isSidecar?: true; readonly isGoing?: true } = {},
): JsonObject {
  const policy = of.isSidecar === true ? { restartPolicy: 'Always' } : {};
  return {
    metadata: of.isGoing === true ? { deletionTimestamp: HOUR_AGO } : {},
    spec: {
      containers: [{ name: 'c' }, { name: 'd' }],
      initContainers: Array.from({ length: of.init ?? 0 }, () => ({ name: 'i', ...policy })),
    },
    status: { phase: 'Pending', ...status },
  };
}
const init = (...states: readonly JsonObject[]): JsonObject => ({
  initContainerStatuses: states.map((state) => container(state, { name: 'i' })),
});
const main = (...states: readonly JsonObject[]): JsonObject => ({
  containerStatuses: states.map((state) => container(state)),
});

describe('a pod is shown as', () => {
  const cases: readonly (readonly [ready: string, status: string, pod: JsonObject])[] = [
    ['0/2', 'Pending', podOf({})],
    ['0/2', 'Evicted', podOf({ phase: 'Failed', reason: 'Evicted' })],
    [
      '0/2',
      'SchedulingGated',
      podOf({ conditions: [{ type: 'PodScheduled', reason: 'SchedulingGated' }] }),
    ],
    ['0/2', 'Terminating', podOf({ phase: 'Running' }, { isGoing: true })],
    ['0/2', 'Unknown', podOf({ phase: 'Running', reason: 'NodeLost' }, { isGoing: true })],
    ['0/2', 'Succeeded', podOf({ phase: 'Succeeded' }, { isGoing: true })],
    ['0/2', 'Init:0/2', podOf(init(RUNNING), { init: 2 })],
    ['0/2', 'Init:1/2', podOf(init(ended(0), waiting('PodInitializing')), { init: 2 })],
    ['0/2', 'Init:ErrImagePull', podOf(init(waiting('ErrImagePull')), { init: 1 })],
    ['0/2', 'Init:Error', podOf(init(ended(1, 'Error')), { init: 1 })],
    ['0/2', 'Init:ExitCode:3', podOf(init(ended(3)), { init: 1 })],
    ['2/2', 'Running', podOf({ ...main(RUNNING, RUNNING), ...READY, phase: 'Running' })],
    ['1/2', 'CrashLoopBackOff', podOf(main(waiting('CrashLoopBackOff'), RUNNING))],
    ['0/2', 'ImagePullBackOff', podOf(main(waiting('ImagePullBackOff'), ended(1, 'Error')))],
    ['1/2', 'Running', podOf({ ...main(ended(0, 'Completed'), RUNNING), ...READY })],
    ['1/2', 'NotReady', podOf(main(ended(0, 'Completed'), RUNNING))],
    ['0/2', 'Error', podOf(main(ended(0, 'Completed'), ended(1, 'Error')))],
    ['0/2', 'Completed', podOf(main(ended(0, 'Completed'), ended(0, 'Completed')))],
    ['1/2', 'Init:0/1', podOf({ ...init(RUNNING), ...main(RUNNING), ...INITIALIZED }, { init: 1 })],
    [
      '1/3',
      'Init:0/1',
      podOf({ ...init(RUNNING), ...INITIALIZED, ...main(RUNNING) }, { init: 1, isSidecar: true }),
    ],
  ];
  for (const [ready, status, pod] of cases) {
    test(`${ready} ${status}`, () => {
      const row = rowOf('pods', pod);
      assert.deepEqual([row['Ready'], row['Status']], [ready, status]);
    });
  }

  test('with sidecars among the containers that are ready', () => {
    const sidecar = container(RUNNING, { name: 'i', started: true });
    const pod = podOf(
      { initContainerStatuses: [sidecar], ...main(RUNNING, RUNNING), phase: 'Running' },
      { init: 1, isSidecar: true },
    );
    const row = rowOf('pods', pod);
    assert.deepEqual([row['Ready'], row['Status']], ['3/3', 'Running']);
  });

  test('with its restarts, and when the last one was', () => {
    const lastState = { terminated: { exitCode: 1, finishedAt: '2026-01-02T11:30:00Z' } };
    const restarted = container(RUNNING, { restartCount: 2, lastState });
    const once = container(RUNNING, { restartCount: 1 });
    const pod = podOf({ containerStatuses: [restarted, once] });
    assert.equal(rowOf('pods', pod)['Restarts'], '3 (30m ago)');
    assert.equal(rowOf('pods', podOf({ containerStatuses: [once] }))['Restarts'], '1');
    assert.equal(rowOf('pods', podOf({}))['Restarts'], '0');
  });

  test('with where it is', () => {
    const { spec, status } = podOf({ podIPs: [{ ip: '10.0.0.9' }] });
    const where = (row: Readonly<Record<string, Cell>>): unknown =>
      ['IP', 'Node', 'Nominated Node', 'Readiness Gates'].map((name) => row[name]);
    const gates = [{ conditionType: 'Ready' }, { conditionType: 'other' }];
    const bound = { ...(spec as JsonObject), nodeName: 'n', readinessGates: gates };
    const ready = { ...(status as JsonObject), ...READY };
    assert.deepEqual(where(rowOf('pods', { spec: bound, status: ready })), [
      ...['10.0.0.9', 'n', '<none>', '1/2'],
    ]);
    assert.deepEqual(where(rowOf('pods', podOf({}))), ['<none>', '<none>', '<none>', '<none>']);
  });

  test('completed, as a condition of its row, once it has ended', () => {
    const conditionsOf = (phase: string): readonly JsonObject[] | undefined =>
      tableOf('pods').rowConditions?.(objectOf(podOf({ phase })));
    assert.equal(conditionsOf('Running'), undefined);
    assert.equal(conditionsOf('Succeeded')?.[0]?.['reason'], 'Succeeded');
    assert.equal(conditionsOf('Failed')?.[0]?.['reason'], 'Failed');
  });
});
