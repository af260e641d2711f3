/**
 * The witness beside the differential suite says no: a deletion of an available pod is excused by what takes its place, by
 * the budget, and by nothing else.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createApiClient } from '../../conformance/control-plane/api.ts';
import type { KubernetesObject } from '../../conformance/control-plane/api.ts';
import type { Mirror, MirrorEvent } from '../../differential/mirror.ts';
import type { Side } from '../../differential/pair.ts';
import { placeOf } from '../../differential/place.ts';
import { newDaemonSet } from '../../differential/set-spec.ts';
import type { StrategyForm } from '../../differential/scenario.ts';
import { watchBounds } from '../../differential/watch-bounds.ts';

const PLACE = placeOf('p1');
const LONG_AGO = '2026-11-22T00:00:00Z';
const NODES = ['n1', 'n2'].map((name): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: { 'differential.rollcall.test/place': PLACE.id } },
  spec: {},
}));

function daemonSet(strategy: StrategyForm): KubernetesObject {
  const made = newDaemonSet(PLACE, 'd1', { strategy });
  return { ...made, metadata: { ...made.metadata, uid: 'd1' } };
}

function pod(name: string, { isReady }: { readonly isReady: boolean }): KubernetesObject {
  const [node, hash = ''] = name.split('-');
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd1', uid: 'd1' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid: name,
      namespace: PLACE.namespace,
      labels: { app: 'd1', 'controller-revision-hash': hash },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: { nodeName: node, containers: [] },
    status: {
      phase: 'Running',
      conditions: [
        { type: 'Ready', status: isReady ? 'True' : 'False', lastTransitionTime: LONG_AGO },
      ],
    },
  };
}

/** What the witness says when the first of these pods is deleted beside the others. */
function verdictsOn(
  strategy: StrategyForm,
  [going, ...others]: readonly [KubernetesObject, ...KubernetesObject[]],
): readonly string[] {
  let tell: (event: MirrorEvent) => void = () => undefined;
  const mirrorOf = (isJudged: boolean): Mirror => ({
    at: () => ({
      pods: [going, ...others],
      nodes: NODES,
      daemonSets: [daemonSet(strategy)],
      revisions: [],
    }),
    changedAtMs: () => 0,
    follow: (_place, onEvent) => {
      if (isJudged) tell = onEvent;
      return () => undefined;
    },
    stop: () => Promise.resolve(),
  });
  const admin = createApiClient({ server: 'https://127.0.0.1:1', caPem: '', token: '' });
  const side = (name: Side['name']): Side => ({
    name,
    admin,
    mirror: mirrorOf(name === 'rollcall'),
  });
  const watch = watchBounds({ original: side('original'), rollcall: side('rollcall') }, PLACE);
  try {
    tell({ kind: 'pods', type: 'DELETED', object: going, before: going });
    return watch.violations.map(({ side: name, bound }) => `${name}: ${bound}`);
  } finally {
    watch.stop();
    admin.close();
  }
}

const READY = { isReady: true };
const UNREADY = { isReady: false };
const SURGE: StrategyForm = { type: 'RollingUpdate', maxSurge: 1 };
const ONE: StrategyForm = { type: 'RollingUpdate', maxUnavailable: 1 };

describe('an available pod that goes', () => {
  it('is excused by an available one in its place, with surge', () => {
    const pods = [pod('n1-old', READY), pod('n1-new', READY), pod('n2-new', READY)] as const;
    assert.deepEqual(verdictsOn(SURGE, pods), []);
  });

  it('is not excused by one in its place that is not available, with surge', () => {
    const pods = [pod('n1-old', READY), pod('n1-new', UNREADY), pod('n2-new', READY)] as const;
    assert.deepEqual(verdictsOn(SURGE, pods), ['rollcall: availability']);
  });

  it('is excused by the budget, while all others are available', () => {
    assert.deepEqual(verdictsOn(ONE, [pod('n1-old', READY), pod('n2-old', READY)]), []);
  });

  it('is not excused where the budget is used up', () => {
    const pods = [pod('n1-old', READY), pod('n2-new', UNREADY)] as const;
    assert.deepEqual(verdictsOn(ONE, pods), ['rollcall: availability']);
  });
});
