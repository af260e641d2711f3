/**
 * Bodies of pods, DaemonSets and ControllerRevisions.
 */
import type { Json } from '@rollcall/base/json.ts';
import type { Change } from '../step.ts';
import { changesOf, makeMetadata, METADATA_CHANGES, sometimes, type Bodies } from './body.ts';
import { makePodSpec, POD_SPEC_CHANGES } from './pod-template.ts';

/** Pods. */
export const POD_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: makeMetadata(seeded, identity),
    spec: makePodSpec(seeded, { nodeName: `${identity.prefix}-one`, isTemplate: false }),
    ...sometimes(seeded, 0.05, { status: { phase: 'Running' } }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...under('spec.', POD_SPEC_CHANGES),
    ...changesOf([['spec'], ['status.phase', 'Running']]),
  ],
  updates: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['spec.containers.0.image', 'registry.example/agent:2'],
      ['status.phase', 'Running'],
    ]),
  ],
  statusChanges: changesOf([
    ['status.phase', 'Running'],
    ['status.phase', 'Failed'],
    ['status.phase', 'Dancing'],
    ['status.phase', 5],
    ['status.reason', 'Evicted'],
    ['status.podIP', '10.1.2.3'],
    ['status.hostIP', '10.0.0.1'],
    ['status.podIPs', [{ ip: '10.1.2.3' }, { ip: 'fd00::1' }]],
    ['status.startTime', '2020-02-03T04:05:06Z'],
    ['status.startTime', 'soon'],
    ['status.conditions', [{ type: 'Ready', status: 'True' }]],
    [
      'status.conditions',
      [{ type: 'Ready', status: 'True', lastTransitionTime: '2020-02-03T04:05:06Z' }],
    ],
    ['status.conditions', [{ type: 'example.com/gate', status: 'Maybe' }]],
    [
      'status.containerStatuses',
      [
        {
          name: 'main',
          ready: true,
          restartCount: 0,
          image: 'i',
          imageID: '',
          started: true,
          state: { running: { startedAt: '2020-02-03T04:05:06Z' } },
        },
      ],
    ],
    ['status.containerStatuses', [{ name: 'main' }]],
    ['status.observedGeneration', 1],
    ['status.unknownMember', 1],
    ['status', null],
    ['status', {}],
    ['spec.containers.0.image', 'changed-through-status'],
    ['metadata.labels.tier', 'through-status'],
    ['metadata.annotations.[example.com/note]', 'through-status'],
    ['metadata.finalizers', []],
  ]),
};

/** DaemonSets. */
export const DAEMON_SET_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: makeMetadata(seeded, identity),
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: makePodSpec(seeded, { isTemplate: true }),
      },
      ...sometimes(seeded, 0.2, {
        updateStrategy: seeded.pick([
          { type: 'OnDelete' },
          { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '10%' } },
          { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
        ]),
        minReadySeconds: 5,
        revisionHistoryLimit: 3,
      }),
    },
    ...sometimes(seeded, 0.05, { status: { numberReady: 3 } }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...under('spec.template.spec.', POD_SPEC_CHANGES),
    ...changesOf([
      ['spec.selector', { matchLabels: { app: 'other' } }],
      ['spec.selector', {}],
      ['spec.selector', null],
      ['spec.selector'],
      ['spec.selector.matchLabels.more', 'x'],
      ['spec.selector', { matchExpressions: [{ key: 'app', operator: 'Exists' }] }],
      ['spec.template'],
      ['spec.template.metadata'],
      ['spec.template.metadata.labels', {}],
      ['spec.template.metadata.labels.app', 'other'],
      ['spec.template.metadata.labels.extra', 'x'],
      ['spec.template.metadata.annotations.[example.com/restarted]', 'now'],
      ['spec.template.metadata.name', 'named'],
      ['spec.template.metadata.finalizers', ['example.com/hold']],
      ['spec.template.spec', {}],
      ['spec.template.spec.activeDeadlineSeconds', 5],
      ['spec.updateStrategy', {}],
      ['spec.updateStrategy.type', 'OnDelete'],
      ['spec.updateStrategy.type', 'Recreate'],
      ['spec.updateStrategy', { type: 'OnDelete', rollingUpdate: { maxUnavailable: 1 } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: 0 } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: 1, maxSurge: 1 } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: '50%' } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: '150%' } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: 'half' } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: -1 } }],
      ['spec.updateStrategy', { rollingUpdate: { maxUnavailable: 0, maxSurge: '20%' } }],
      ['spec.minReadySeconds', 10],
      ['spec.minReadySeconds', -1],
      ['spec.minReadySeconds', '10'],
      ['spec.revisionHistoryLimit', 0],
      ['spec.revisionHistoryLimit', -1],
      ['spec.revisionHistoryLimit', null],
      ['spec.templateGeneration', 7],
      ['spec.unknownMember', 1],
      ['spec', {}],
      ['status.numberReady', 4],
    ]),
  ],
  statusChanges: changesOf([
    ['status.numberReady', 2],
    ['status.numberReady', -1],
    ['status.numberReady', 'two'],
    ['status.desiredNumberScheduled', 5],
    ['status.currentNumberScheduled', -2],
    ['status.observedGeneration', 1],
    ['status.observedGeneration', -1],
    ['status.collisionCount', 1],
    ['status.collisionCount', -1],
    ['status.numberAvailable', 3],
    ['status.conditions', [{ type: 'Odd', status: 'True' }]],
    ['status.unknownMember', 1],
    ['status', {}],
    ['status', null],
    ['spec.minReadySeconds', 30],
    ['metadata.labels.tier', 'through-status'],
    ['metadata.finalizers', []],
  ]),
};

/** ControllerRevisions. */
export const CONTROLLER_REVISION_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: makeMetadata(seeded, identity),
    revision: seeded.integer({ from: 0, to: 5 }),
    data: seeded.pick([
      { spec: { template: { $patch: 'replace', spec: { a: [1, 2.5, null] } } } },
      // Not of a kind that the real server knows: it would read that with its own types, and call it changed.
      { apiVersion: 'example.com/v1', kind: 'Other', data: { a: 'b' } },
      {},
    ]),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['revision', 9],
      ['revision', 'nine'],
      ['revision'],
      ['data', { changed: true }],
      ['data', null],
      ['data', 'text'],
      ['data', [1, 2]],
      ['data'],
      ['data.spec.added', { deep: 1 }],
    ]),
  ],
  statusChanges: [],
};

function under(prefix: string, entries: readonly (readonly [string, Json?])[]): readonly Change[] {
  return entries.map(([path, value]) => ({ path: `${prefix}${path}`, value }));
}
