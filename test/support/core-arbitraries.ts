/**
 * Generators for the core: small vocabularies, so that things meet by chance often enough.
 */
import fc from 'fast-check';
import type {
  NodeSelectorRequirement,
  PodSpec,
  Taint,
  Toleration,
} from '@rollcall/base/objects.ts';
import { nodeName, resourceVersion } from '../../src/core/model/identifiers.ts';
import type { NodeProjection, PodProjection } from '../../src/core/model/projections.ts';
import type { Intent } from '../../src/core/model/state.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  answerOf,
  createIntent,
  deleteIntent,
  namedPod,
  node,
  slot,
} from './core-fixtures.ts';

const NODES = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const keys = fc.constantFrom('zone', 'cores', 'gpu', 'node.kubernetes.io/not-ready');
const values = fc.constantFrom('', 'a', 'b', '3', '7', '-1', '07', 'node.kubernetes.io/x');

const requirement: fc.Arbitrary<NodeSelectorRequirement> = fc.record(
  {
    key: fc.oneof(keys, fc.constant('metadata.name')),
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt', 'Odd'),
    values: fc.array(fc.oneof(values, fc.constantFrom(...NODES)), { maxLength: 2 }),
  },
  { requiredKeys: ['key', 'operator'] },
);

const effect = fc.constantFrom('NoSchedule', 'NoExecute', 'PreferNoSchedule');
const taint: fc.Arbitrary<Taint> = fc.record(
  {
    key: fc.oneof(
      keys,
      fc.constantFrom(
        'node.kubernetes.io/unschedulable',
        'node.kubernetes.io/network-unavailable',
        'node.kubernetes.io/unreachable',
      ),
    ),
    value: values,
    effect,
  },
  { requiredKeys: ['key', 'effect'] },
);

const toleration: fc.Arbitrary<Toleration> = fc.record(
  {
    key: fc.oneof(keys, fc.constant('')),
    operator: fc.constantFrom('', 'Exists', 'Equal', 'Gt', 'Lt', 'Odd'),
    value: values,
    effect: fc.oneof(effect, fc.constant('')),
  },
  { requiredKeys: [] },
);

const term = fc.record(
  {
    matchExpressions: fc.array(requirement, { maxLength: 2 }),
    matchFields: fc.array(requirement, { maxLength: 1 }),
  },
  { requiredKeys: [] },
);

/** A pod spec as far as placement reads it, valid or not. */
export const podSpecs: fc.Arbitrary<PodSpec> = fc
  .record(
    {
      nodeName: fc.constantFrom('', ...NODES),
      nodeSelector: fc.dictionary(keys, values, { maxKeys: 1 }),
      hostNetwork: fc.boolean(),
      tolerations: fc.array(toleration, { maxLength: 3 }),
      terms: fc.array(term, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  .map(({ terms: nodeSelectorTerms, ...spec }) =>
    nodeSelectorTerms === undefined
      ? spec
      : {
          ...spec,
          affinity: {
            nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
          },
        },
  );

/** A node of the small vocabulary. */
export const nodes: fc.Arbitrary<NodeProjection> = fc
  .record({
    name: fc.constantFrom(...NODES),
    labels: fc.dictionary(keys, values, { maxKeys: 3 }),
    taints: fc.array(taint, { maxLength: 3 }),
    isReady: fc.boolean(),
  })
  .map(({ name, ...options }) => node(name, options));

/** Some nodes, each name once. */
export const nodeSets: fc.Arbitrary<readonly NodeProjection[]> = fc.uniqueArray(nodes, {
  selector: ({ name }) => name,
  maxLength: 6,
});

const podNumbers = fc.integer({ min: 0, max: 30 });

/** A pod on some node: any phase, owned, orphaned or somebody else's, of some revision. */
const pods: fc.Arbitrary<PodProjection> = fc
  .record({
    on: fc.constantFrom(...NODES),
    number: podNumbers,
    isSlot: fc.boolean(),
    isBound: fc.boolean(),
    phase: fc.constantFrom('Pending', 'Running', 'Running', 'Succeeded', 'Failed', 'Unknown'),
    isTerminating: fc.boolean(),
    isReady: fc.boolean(),
    readyChangedAtMs: fc.constantFrom(NOW_MS, NOW_MS - 60_000),
    createdAtMs: fc.constantFrom(1, 2, 3),
    owner: fc.constantFrom('ours', 'ours', 'orphan'),
    app: fc.constantFrom('agent', 'agent', 'agent', 'other'),
    hash: fc.constantFrom(CURRENT_HASH, 'old'),
  })
  .map(({ on, number, isSlot, isBound, owner, app, hash, ...options }) =>
    namedPod(on, isSlot ? slot(on) : `pod-${number}`, {
      ...options,
      ...(isBound ? {} : { boundNode: null }),
      ...(owner === 'orphan' ? { ownerUid: null } : {}),
      labels: { app, 'controller-revision-hash': hash },
    }),
  );

/** Some pods, each name once. */
export const podSets: fc.Arbitrary<readonly PodProjection[]> = fc.uniqueArray(pods, {
  selector: ({ name }) => name,
  maxLength: 10,
});

/** An intent of any kind, age and knowledge. */
export const intents: fc.Arbitrary<Intent> = fc
  .record({
    on: fc.constantFrom(...NODES),
    number: podNumbers,
    kind: fc.constantFrom('slot', 'create', 'delete'),
    ageMs: fc.constantFrom(0, 1000, 60_000),
    startsInMs: fc.constantFrom(0, 25_000, 35_000),
    isAnswered: fc.boolean(),
    version: fc.constantFrom('59', '60', '61', '100'),
  })
  .map(({ on, number, kind, ageMs, startsInMs, isAnswered, version }): Intent => {
    const recordedAtMs = NOW_MS - ageMs;
    const startsBy = { startsByMs: recordedAtMs + startsInMs };
    if (kind === 'delete') {
      return deleteIntent(namedPod(on, `pod-${number}`), {
        recordedAtMs,
        ...startsBy,
        isAccepted: isAnswered,
        resourceVersion: resourceVersion(version),
      });
    }
    const name = kind === 'slot' ? slot(on) : `pod-${number}`;
    const answer = isAnswered ? { answer: answerOf(name, version) } : {};
    return createIntent(nodeName(on), { name, recordedAtMs, ...startsBy, ...answer });
  });
