// A DaemonSet of any shape that passes the schemas: judged, planned and put on the wire without a crash (row 67).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import { clusterUid, uid } from '../../../src/core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { isExtension, meaningOf } from '../../../src/core/history/history-meaning.ts';
import { planReconcile } from '../../../src/core/plan/plan.ts';
import { isDaemonSetOf } from '../../../src/adapters/sqs/schema/projection-schema.ts';
import { judgeDaemonSet } from '../../../src/app/reconcile/read/judge-daemon-set.ts';
import type { StoredInputs } from '../../../src/app/reconcile/read/stored-inputs.ts';
import {
  OWNER_UID,
  context,
  daemonSet,
  failedPod,
  node,
  pod,
  view,
} from '../../support/core-fixtures.ts';
import { fuzz } from '../../support/fuzz/fuzz.ts';
import { bendJson } from '../../support/fuzz/hostile-input.ts';

const RICH: JsonObject = daemonSet({
  metadata: { annotations: { 'rollcall.dev/compat': 'strict' }, generation: 3 },
  spec: {
    minReadySeconds: 5,
    revisionHistoryLimit: 3,
    updateStrategy: {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: '10%', maxSurge: 0 },
    },
    selector: {
      matchLabels: { app: 'agent' },
      matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['x'] }],
    },
  },
  podSpec: {
    nodeSelector: { disk: 'ssd' },
    containers: [{ name: 'main', image: 'agent:1', ports: [{ containerPort: 80 }] }],
    tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule', tolerationSeconds: 3 }],
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'cpu', operator: 'Gt', values: ['2'] }] },
            { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] },
          ],
        },
      },
    },
  }, // a raw pod spec; the core reads the members it knows
  status: { observedGeneration: 2, conditions: [{ type: 'x' }], numberReady: 1 },
}) as unknown as JsonObject; // raw JSON

function basisOf(object: DaemonSetObject): StoredInputs {
  const ref = { clusterUid: clusterUid('uid-1'), uid: uid(OWNER_UID) };
  return { ref, daemonSet: { object } } as unknown as StoredInputs; // the members that judging it reads
}

test('row 67: whatever a DaemonSet says, it is malformed or it has a plan', async () => {
  const kinds = new Map<string, number>();
  const nodes = [node('n1', { labels: { disk: 'ssd', cpu: '4' } }), node('n2')];
  const pods = [pod('n1'), failedPod('n2')];
  const count = await fuzz({
    name: 'digest and plan of a DaemonSet',
    feed: async (random) => {
      const bent = bendJson(RICH, random);
      const identity = { name: 'agent', namespace: 'ns', uid: OWNER_UID, resourceVersion: '100' };
      if (!isDaemonSetOf(bent, identity)) return;
      const object = bent as DaemonSetObject; // as the schema lets it through
      const judged = await judgeDaemonSet(basisOf(object), identity, () =>
        Promise.resolve(undefined),
      );
      kinds.set(judged.kind, (kinds.get(judged.kind) ?? 0) + 1);
      if (judged.kind !== 'usable') return;
      const plan = planReconcile(view({ daemonSet: judged.daemonSet, nodes, pods }), context());
      assert.ok(plan.creates.length <= 2 && plan.deletes.length <= 2);
      JSON.stringify(plan, (_key, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      );
    },
  });
  if (count > 1)
    for (const kind of ['usable', 'malformed']) assert.ok((kinds.get(kind) ?? 0) > 100, kind);
});

test('row 67: templates of any shape are compared without a crash, each equal to itself', async () => {
  const { template } = RICH['spec'] as JsonObject;
  await fuzz({
    name: 'meaning of templates',
    feed: (random) => {
      const [one, other] = [bendJson(template, random) as Json, bendJson(template, random) as Json];
      assert.equal(meaningOf(one), meaningOf(one));
      assert.ok(isExtension(one, one));
      isExtension(one, other);
      if (isJsonObject(one)) assert.equal(typeof meaningOf(one), 'string');
    },
  });
});
