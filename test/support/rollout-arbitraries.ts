/**
 * Generators for rolling updates: DaemonSets with every strategy, and fleets that are half-way through
 * something. Most nodes are in one of the situations of spec 2.9's tables; some are a mess.
 */
import fc from 'fast-check';
import { uid } from '../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeProjection, PodProjection } from '../../src/core/model/projections.ts';
import type { Intent } from '../../src/core/model/state.ts';
import { CURRENT_HASH, NOW_MS, daemonSet, deleteIntent, node, pod, slot } from './core-fixtures.ts';

/** Names of the nodes that fleets are made of. */
const FLEET = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6', 'n7', 'n8'] as const;
/** Hash of the revision before the current one, in fleets. */
const FORMER_HASH = 'former';

const counts = fc.constantFrom<number | string>(1, 2, 3, 8, '10%', '25%', '50%', '100%');

const rollingUpdates: fc.Arbitrary<JsonObject | undefined> = fc.oneof(
  { weight: 4, arbitrary: counts.map((maxUnavailable) => ({ maxUnavailable, maxSurge: 0 })) },
  { weight: 4, arbitrary: counts.map((maxSurge) => ({ maxSurge, maxUnavailable: 0 })) },
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant({ maxUnavailable: '0%', maxSurge: 0 }) },
);

/** Update strategies that the API server accepts, and one that it refuses: nothing may ever move. */
const strategies: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 8,
    arbitrary: rollingUpdates.map((rollingUpdate) => ({
      type: 'RollingUpdate',
      ...(rollingUpdate === undefined ? {} : { rollingUpdate }),
    })),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'OnDelete' }) },
);

/** A DaemonSet with any strategy; `generation` is the value of the deprecated annotation. */
export const rollingSets: fc.Arbitrary<DaemonSetObject> = fc
  .record({
    updateStrategy: strategies,
    minReadySeconds: fc.constantFrom(0, 0, 10),
    nodeSelector: fc.constantFrom({}, {}, { disk: 'ssd' }),
    isTolerant: fc.boolean(),
    hasGeneration: fc.constantFrom(false, false, true),
    isStrict: fc.constantFrom(false, false, true),
  })
  .map(({ nodeSelector, isTolerant, hasGeneration, isStrict, ...spec }) =>
    daemonSet({
      spec,
      podSpec: {
        nodeSelector,
        tolerations: isTolerant ? [{ key: 'dedicated', operator: 'Exists' }] : [],
      },
      metadata: {
        annotations: {
          ...(hasGeneration ? { 'deprecated.daemonset.template.generation': '7' } : {}),
          ...(isStrict ? { 'rollcall.dev/compat': 'strict' } : {}),
        },
      },
      status: {
        observedGeneration: 1,
        currentNumberScheduled: 0,
        numberMisscheduled: 0,
        desiredNumberScheduled: 0,
        numberReady: 0,
      },
    }),
  );

/** A pod by what matters about it. */
const KINDS = {
  old: {},
  oldYoung: { readyChangedAtMs: NOW_MS - 4000 },
  oldUnready: { isReady: false },
  oldGoing: { isTerminating: true },
  oldFailed: { phase: 'Failed', isReady: false },
  oldSucceeded: { phase: 'Succeeded', isReady: false },
  oldHeld: { phase: 'Failed', isReady: false, isTerminating: true },
  new: {},
  newYoung: { readyChangedAtMs: NOW_MS - 4000 },
  newUnready: { isReady: false, phase: 'Pending' },
  newGoing: { isTerminating: true },
  newFailed: { phase: 'Failed', isReady: false },
} as const satisfies Record<string, Partial<PodProjection>>;

type PodKind = keyof typeof KINDS;

/** What is to be found on one node: mostly a row of the tables, sometimes anything. */
const situations: fc.Arbitrary<readonly PodKind[]> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<PodKind[]>(['old']) },
  {
    weight: 6,
    arbitrary: fc.constantFrom<PodKind[]>(
      ['oldUnready'],
      ['new'],
      ['newYoung'],
      ['newUnready'],
      ['old', 'new'],
      ['old', 'newYoung'],
      ['oldUnready', 'newUnready'],
      ['oldGoing'],
      ['oldGoing', 'new'],
      [],
    ),
  },
  {
    weight: 2,
    arbitrary: fc.array(fc.constantFrom(...(Object.keys(KINDS) as PodKind[])), { maxLength: 3 }),
  },
);

const occupants = fc.record({
  on: fc.constantFrom(...FLEET, 'vanished'),
  kinds: situations,
  naming: fc.constantFrom('slot', 'revision', 'foreign'),
  isOrphan: fc.constantFrom(false, false, false, true),
  isBound: fc.constantFrom(true, true, true, false),
  isUpdatedByGeneration: fc.constantFrom(false, false, false, true),
  isOther: fc.constantFrom(false, false, false, false, true),
  ageMs: fc.constantFrom(0, 1000, 2000),
});

type Occupants = typeof occupants extends fc.Arbitrary<infer T> ? T : never;

function podsOn(place: Occupants): readonly PodProjection[] {
  const { on, kinds, naming, ageMs } = place;
  return kinds.map((kind, index) => {
    const hash = kind.startsWith('new') ? CURRENT_HASH : FORMER_HASH;
    const ownName = naming === 'slot' ? slot(on) : slot(on, hash);
    const name = naming === 'foreign' || index > 1 ? `agent-${on}-${index}` : ownName;
    const isTaken = index > 0 && naming === 'slot';
    return pod(on, {
      name: isTaken ? `agent-${on}-${index}` : name,
      uid: uid(`pod-${on}-${index}`),
      labels: {
        app: place.isOther ? 'other' : 'agent',
        'controller-revision-hash': hash,
        'pod-template-generation': place.isUpdatedByGeneration ? '7' : '6',
      },
      createdAtMs: NOW_MS - 7_200_000 - ageMs + index,
      ...KINDS[kind],
      ...(place.isOrphan ? { ownerUid: null } : {}),
      ...(place.isBound ? {} : { boundNode: null }),
    });
  });
}

/** Nodes and pods of one moment, and intents that are still open about some of the pods. */
export interface Fleet {
  readonly nodes: readonly NodeProjection[];
  readonly pods: readonly PodProjection[];
  readonly intents: readonly Intent[];
}

const machines: fc.Arbitrary<readonly NodeProjection[]> = fc.uniqueArray(
  fc
    .record({
      name: fc.constantFrom(...FLEET),
      labels: fc.constantFrom({ disk: 'ssd' }, { disk: 'ssd' }, {}),
      taint: fc.constantFrom(
        undefined,
        undefined,
        undefined,
        'NoSchedule',
        'NoSchedule',
        'NoExecute',
      ),
      isReady: fc.boolean(),
    })
    .map(({ name, labels, taint, isReady }) => {
      const taints =
        taint === undefined ? [] : [{ key: 'dedicated', effect: taint as 'NoExecute' }];
      return node(name, { labels, taints, isReady });
    }),
  { selector: ({ name }) => name, minLength: 3, maxLength: FLEET.length },
);

/** Fleets half-way through something. */
export const fleets: fc.Arbitrary<Fleet> = fc
  .record({
    nodes: machines,
    occupied: fc.uniqueArray(occupants, {
      selector: ({ on }) => on,
      minLength: 5,
      maxLength: FLEET.length + 1,
    }),
    open: fc.array(fc.record({ pick: fc.nat(20), isAccepted: fc.boolean() }), { maxLength: 2 }),
  })
  .map(({ nodes, occupied, open }) => {
    const pods = uniqueByName(occupied.flatMap(podsOn));
    const victims = uniqueByName(open.flatMap(({ pick }) => pods[pick] ?? []));
    const intents = victims.map((victim, index) =>
      deleteIntent(victim, { isAccepted: open[index]?.isAccepted === true }),
    );
    return { nodes, pods, intents };
  });

function uniqueByName(pods: readonly PodProjection[]): readonly PodProjection[] {
  return [...new Map(pods.map((each) => [each.name, each])).values()];
}
