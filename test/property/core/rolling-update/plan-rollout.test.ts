/**
 * Rolling updates over generated nodes × DaemonSets × pods × open intents, held against the two tables
 * of spec 2.9 as test/support/reference-rollout.ts restates them.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { Plan, PlannedDelete } from '../../../../src/core/model/plan.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { computeView } from '../../../../src/core/view/view.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  OWNER_UID,
  answerOf,
  context,
  createIntent,
  deleteIntent,
  inWords,
  revision,
  state,
} from '../../../support/core-fixtures.ts';
import { referenceRollout, type ReferenceRollout } from '../../../support/reference-rollout.ts';
import { fleets, rollingSets, type Fleet } from '../../../support/rollout-arbitraries.ts';

const ROLLING = ['outdated', 'replaced', 'vacated'];

const isRolling = (planned: PlannedDelete): boolean =>
  ROLLING.includes(planned.repeats ?? planned.reason);

const isRest = (planned: PlannedDelete): boolean => !isRolling(planned);
/** With surge, of an old and a new pod the old one goes in the rest of the run, without a budget (spec 2.7). */
const isRestOrReplaced = (planned: PlannedDelete): boolean =>
  isRest(planned) || (planned.repeats ?? planned.reason) === 'replaced';

const isLive = (pod: PodProjection): boolean =>
  !pod.isTerminating && pod.phase !== 'Failed' && pod.phase !== 'Succeeded';

interface Turn {
  readonly turn?: <T>(items: readonly T[]) => readonly T[];
  readonly burstPodsMax?: number;
  readonly backoff?: Plan['backoff'];
}

function planOf(
  set: DaemonSetObject,
  fleet: Fleet,
  { turn = (items) => items, backoff = [], ...rest }: Turn = {},
): Plan {
  const view = computeView({
    daemonSet: set,
    nodes: turn(fleet.nodes),
    pods: turn(fleet.pods),
    revisions: turn([revision(1), revision(2), revision(3)]),
    nowMs: NOW_MS,
  });
  const before = state({ intents: turn(fleet.intents), backoff });
  return planReconcile(view, context({ state: before, ...rest }));
}

interface Already {
  /** What the rest of the run deletes: as good as terminating. */
  readonly plan: Plan;
  readonly isRest: (planned: PlannedDelete) => boolean;
  /** Open deletes that this run repeats: judged by what the pod is, not by what may befall it. */
  readonly repeated?: ReadonlySet<string>;
}

/** The tables as the rest of the run leaves them; open deletes count as unavailable, or as gone. */
function expected(set: DaemonSetObject, fleet: Fleet, already: Already): ReferenceRollout {
  const open = fleet.intents.filter((intent) => intent.kind === 'delete');
  const accepted = open.filter(({ isAccepted }) => isAccepted).map(({ name }) => name);
  const others = already.plan.deletes.filter((each) => already.isRest(each));
  const going = new Set([...accepted, ...others.map(({ name }) => name)]);
  const doomed = open
    .map(({ name }) => name)
    .filter((name) => already.repeated?.has(name) !== true);
  return referenceRollout({
    daemonSet: set,
    nodes: fleet.nodes,
    pods: fleet.pods.map((pod) => (going.has(pod.name) ? { ...pod, isTerminating: true } : pod)),
    currentHash: CURRENT_HASH,
    nowMs: NOW_MS,
    doomed: new Set(doomed),
  });
}

/** One healthy pod of its own on each node, and nothing open: nothing but the rollout has any work. */
function calm({ nodes, pods }: Fleet): Fleet {
  const ours = pods.filter((pod) => isLive(pod) && pod.labels['app'] === 'agent');
  const byNode = new Map(ours.map((pod) => [pod.targetNode, pod]));
  const owned = [...byNode.values()].map((pod) => ({ ...pod, ownerUid: OWNER_UID }));
  return { nodes, pods: owned, intents: [] };
}

/** Counts what a property met, so that none holds for want of cases. Demand a fifth of the usual number at most: seeds differ. */
class Cases {
  readonly #counts = new Map<string, number>();

  note(name: string, isMet: boolean): void {
    if (isMet) this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  demand(least: number, ...names: readonly string[]): void {
    for (const name of names) {
      const count = this.#counts.get(name) ?? 0;
      assert.ok(count >= least, `${name}: only ${count} cases`);
    }
  }
}

test('S3: an available pod goes for a rolling update only within maxUnavailable, an unavailable one always may (spec 2.9)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, fleet) => {
      const plan = planOf(set, fleet);
      const rolling = plan.deletes.filter(
        ({ reason, repeats = reason }) => repeats === 'outdated' || repeats === 'vacated',
      );
      const sent = new Set(rolling.filter((each) => each.isAvailable).map(({ name }) => name));
      const table = expected(set, fleet, { plan, isRest, repeated: sent });
      if (table.maxSurge > 0) return;
      const available = rolling.filter(({ name }) => table.candidates.includes(name));
      const others = rolling.filter(({ name }) => !table.candidates.includes(name));
      if (available.length > 0) {
        // One that is only repeated adds nothing to what may happen anyway: it need not count the others.
        const isFresh = available.some(({ reason }) => reason !== 'repeat');
        const open = new Set(fleet.intents.map(({ name }) => name));
        const counted = isFresh ? table : expected(set, fleet, { plan, isRest, repeated: open });
        const count = counted.unavailable + available.length;
        assert.ok(count <= table.maxUnavailable, `${count} of ${table.maxUnavailable} unavailable`);
      }
      for (const { name, isAvailable } of others) {
        assert.ok(
          table.deletes.includes(name),
          `${name} is in no row of the table that deletes it`,
        );
        assert.ok(!isAvailable, `${name} is available`);
      }
      cases.note('available ones', available.length > 0);
      cases.note('unavailable ones', others.length > 0);
      cases.note('budget used up', table.candidates.length > 0 && table.deletesMax === 0);
      cases.note('intents', available.length > 0 && fleet.intents.length > 0);
    }),
    { numRuns: 1500 },
  );
  cases.demand(20, 'available ones', 'unavailable ones', 'budget used up');
  cases.demand(3, 'intents');
});

test('S2: surge stays within maxSurge, and never a second pod of one revision or a third revision (spec 2.9)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, fleet) => {
      const plan = planOf(set, fleet);
      const table = expected(set, fleet, { plan, isRest: isRestOrReplaced });
      const accepted = fleet.intents.filter(
        (intent) => intent.kind === 'delete' && intent.isAccepted,
      );
      const isGone = (pod: PodProjection): boolean =>
        accepted.some(({ name }) => name === pod.name);
      const beside = plan.creates.filter(({ node }) =>
        fleet.pods.some(
          (pod) => pod.targetNode === node && isLive(pod) && isOurs(set, pod) && !isGone(pod),
        ),
      );
      if (table.maxSurge === 0) {
        assert.deepEqual(beside, [], 'no pod beside another without surge');
        return;
      }
      const chosen = beside.filter(({ node }) => table.createCandidates.includes(node));
      assert.ok(chosen.length <= table.createsMax, `${chosen.length} of ${table.createsMax}`);
      for (const { node } of beside) {
        const isInTable = [...table.createCandidates, ...table.creates].includes(node);
        assert.ok(isInTable, `${node} is in no row of the table that creates there`);
        const live = fleet.pods.filter(
          (pod) => pod.targetNode === node && isLive(pod) && !isGone(pod),
        );
        assert.equal(live.filter((pod) => isOurs(set, pod)).length, 1, 'exactly one old pod there');
      }
      cases.note('candidates', chosen.length > 0);
      cases.note('regardless of maxSurge', beside.length > chosen.length);
      cases.note('surge used up', table.createCandidates.length > table.createsMax);
    }),
    { numRuns: 1500 },
  );
  cases.demand(20, 'candidates');
  cases.demand(5, 'regardless of maxSurge', 'surge used up');
});

function isOurs(set: DaemonSetObject, pod: PodProjection): boolean {
  if (pod.labels['app'] !== 'agent') return false;
  return pod.ownerUid === undefined || pod.ownerUid === set.metadata.uid;
}

test('S3: with surge an available pod goes only when another one of its node is available and stays, or its node is vacated (spec 2.7, 2.9)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, fleet) => {
      const plan = planOf(set, fleet);
      const repeated = new Set(plan.deletes.filter(isRolling).map(({ name }) => name));
      const table = expected(set, fleet, { plan, isRest, repeated });
      if (table.maxSurge === 0) return;
      const rolling = plan.deletes.filter((each) => isRolling(each) && each.isAvailable);
      const [vacated, replaced] = [
        rolling.filter(isVacated),
        rolling.filter((each) => !isVacated(each)),
      ];
      for (const { name } of vacated) assert.ok(table.vacates.includes(name), `${name} may not go`);
      const staying = availableAfter(set, fleet, [...plan.deletes, ...fleet.intents]);
      if (vacated.length > 0) {
        // Those that are only repeated add nothing to what may happen anyway.
        const isFresh = vacated.some(({ reason }) => reason !== 'repeat');
        const left = isFresh ? staying : availableAfter(set, fleet, plan.deletes);
        assert.ok(left.nodes.size >= table.desired, 'nothing is vacated that is needed');
      }
      for (const { name, node } of replaced) {
        assert.ok(staying.ofCurrent.has(node ?? ''), `${name} goes and nothing takes its place`);
      }
      cases.note('replaced', replaced.length > 0);
      cases.note('vacated', vacated.length > 0);
    }),
    { numRuns: 2000 },
  );
  cases.demand(3, 'replaced', 'vacated');
});

const isVacated = (planned: PlannedDelete): boolean =>
  (planned.repeats ?? planned.reason) === 'vacated';

/**
 * Nodes with a pod that is available and does not go: all of them, and those where it is of the
 * current revision. Vanished nodes count with `strict` only.
 */
function availableAfter(
  set: DaemonSetObject,
  fleet: Fleet,
  going: readonly { readonly name: string }[],
): { readonly nodes: ReadonlySet<string>; readonly ofCurrent: ReadonlySet<string> } {
  const doomed = new Set(going.map(({ name }) => name));
  const minReadyMs = (set.spec.minReadySeconds ?? 0) * 1000;
  const isStrict = set.metadata.annotations?.['rollcall.dev/compat'] === 'strict';
  const names = new Set(fleet.nodes.map(({ name }) => name as string));
  const staying = fleet.pods.filter(
    (pod) =>
      isLive(pod) &&
      isOurs(set, pod) &&
      pod.isReady &&
      NOW_MS - (pod.readyChangedAtMs ?? NOW_MS) >= minReadyMs &&
      !doomed.has(pod.name),
  );
  const nodesOf = (pods: readonly PodProjection[]): ReadonlySet<string> =>
    new Set(pods.map(({ targetNode }) => targetNode ?? ''));
  return {
    nodes: nodesOf(staying.filter((pod) => isStrict || names.has(pod.targetNode ?? ''))),
    ofCurrent: nodesOf(
      staying.filter((pod) => pod.labels['controller-revision-hash'] === CURRENT_HASH),
    ),
  };
}

test('where nothing else is to be done, exactly what the tables say is done, and counted (spec 2.9)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, full) => {
      const fleet = calm(full);
      const plan = planOf(set, fleet);
      if (set.spec.updateStrategy?.type === 'OnDelete') {
        assert.equal(plan.rollout, undefined);
        return;
      }
      const table = expected(set, fleet, { plan, isRest });
      const deleted = plan.deletes.filter(isRolling).map(({ name }) => name);
      const fixed = deleted.filter((name) => table.deletes.includes(name));
      assert.deepEqual(fixed.toSorted(), table.deletes);
      const [candidates, most] =
        table.maxSurge === 0
          ? [table.candidates, table.deletesMax]
          : [table.vacates, table.vacatesMax];
      assert.equal(deleted.length - fixed.length, Math.min(candidates.length, most));
      const beside = plan.creates
        .map(({ node }) => node as string)
        .filter((on) => holds(fleet, on));
      const always = beside.filter((node) => table.creates.includes(node));
      assert.deepEqual(always.toSorted(), table.creates);
      const chosen = Math.min(table.createCandidates.length, table.createsMax);
      assert.equal(beside.length - always.length, chosen);
      const { rollout } = plan;
      assert.equal(rollout?.desiredNodes, table.desired);
      assert.equal(rollout?.surgeNodesMax, table.maxSurge);
      assert.equal(rollout?.unavailableNodesMax, table.maxSurge > 0 ? 0 : table.maxUnavailable);
      cases.note('fixed deletes', fixed.length > 0);
      cases.note('candidates', deleted.length > fixed.length);
      cases.note('fixed creates', always.length > 0);
      cases.note('candidate creates', chosen > 0);
    }),
    { numRuns: 1500 },
  );
  cases.demand(20, 'fixed deletes', 'candidates', 'candidate creates');
  cases.demand(5, 'fixed creates');
});

const holds = (fleet: Fleet, node: string): boolean =>
  fleet.pods.some((pod) => pod.targetNode === node);

test('S3: a rolling update never counts fewer unavailable nodes than the table (spec 2.9)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, fleet) => {
      const plan = planOf(set, fleet);
      const { rollout } = plan;
      if (rollout === undefined) return;
      const table = expected(set, fleet, { plan, isRest });
      assert.equal(rollout.desiredNodes, table.desired);
      if (table.maxSurge > 0) return;
      assert.ok(rollout.unavailableNodes >= table.unavailable);
      cases.note('unavailable', table.unavailable > 0);
    }),
    { numRuns: 600 },
  );
  cases.demand(20, 'unavailable');
});

test('OnDelete deletes and adds nothing for an update (spec 2.9)', () => {
  fc.assert(
    fc.property(rollingSets, fleets, (set, fleet) => {
      const onDelete = { ...set, spec: { ...set.spec, updateStrategy: { type: 'OnDelete' } } };
      const plan = planOf(onDelete, fleet);
      assert.deepEqual(plan.deletes.filter(isRolling), []);
      const beside = plan.creates.filter(({ node }) =>
        fleet.pods.some((pod) => pod.targetNode === node && isLive(pod) && isOurs(set, pod)),
      );
      assert.deepEqual(beside, []);
    }),
    { numRuns: 300 },
  );
});

test('a second plan on the unchanged view sends nothing, once the effects of the first are answered (issue 5)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, { nodes, pods }) => {
      const first = planOf(set, { nodes, pods, intents: [] });
      const sent = [
        ...first.creates.map(({ node, name }) =>
          createIntent(node, { name, answer: answerOf(name) }),
        ),
        ...pods
          .filter((pod) => first.deletes.some(({ uid }) => uid === pod.uid))
          .map((pod) => deleteIntent(pod, { isAccepted: true })),
      ];
      // A name that a pod of nobody holds is the shell's business (faults 88).
      const names = new Set(pods.map(({ name }) => name));
      const taken = new Set(
        first.creates.filter(({ name }) => names.has(name)).map(({ node }) => node),
      );
      const again = planOf(set, { nodes, pods, intents: sent }, { backoff: first.backoff });
      assert.deepEqual(
        again.creates.filter(({ node }) => !taken.has(node)).map(({ name }) => name),
        [],
      );
      assert.deepEqual(
        again.deletes.map(({ name }) => name),
        [],
      );
      cases.note('rolling', first.deletes.some(isRolling));
      cases.note('surging', first.creates.length > 0 && first.rollout?.surgeNodesMax !== 0);
    }),
    { numRuns: 600 },
  );
  cases.demand(20, 'rolling', 'surging');
});

test('a rolling update does not depend on the order of nodes, pods, revisions or intents', () => {
  fc.assert(
    fc.property(rollingSets, fleets, fc.array(fc.nat(), { maxLength: 12 }), (set, fleet, seeds) => {
      const shuffle = <T>(items: readonly T[]): readonly T[] =>
        items
          .map((item, index) => ({ item, key: (seeds[index % seeds.length] ?? 0) * (index + 1) }))
          .toSorted((left, right) => left.key - right.key)
          .map(({ item }) => item);
      const plan = inWords(planOf(set, fleet));
      const turned = (turn: typeof shuffle): unknown => inWords(planOf(set, fleet, { turn }));
      assert.deepEqual(turned(shuffle), plan);
      assert.deepEqual(
        turned((items) => items.toReversed()),
        plan,
      );
    }),
    { numRuns: 500 },
  );
});

test('candidates go by a rule: unavailable ones first, then those longest not updated, then by name (issue 5)', () => {
  const cases = new Cases();
  fc.assert(
    fc.property(rollingSets, fleets, (set, full) => {
      const fleet = calm(full);
      const plan = planOf(set, fleet);
      const table = expected(set, fleet, { plan, isRest });
      const byAge = fleet.pods
        .filter((pod) => isLive(pod) && isOurs(set, pod))
        .toSorted(
          (left, right) =>
            left.createdAtMs - right.createdAtMs ||
            ((left.targetNode ?? '') < (right.targetNode ?? '') ? -1 : 1),
        );
      const deleted = plan.deletes.filter(isRolling).map(({ name }) => name);
      const chosen = deleted.filter((name) => table.candidates.includes(name));
      const inOrder = byAge
        .map(({ name }) => name)
        .filter((name) => table.candidates.includes(name));
      assert.deepEqual(chosen, inOrder.slice(0, chosen.length));
      const made: string[] = plan.creates
        .map(({ node }) => node as string)
        .filter((node) => table.createCandidates.includes(node));
      const nodesInOrder = byAge
        .map(({ targetNode }) => targetNode as string)
        .filter((node) => table.createCandidates.includes(node));
      assert.deepEqual(made, nodesInOrder.slice(0, made.length));
      cases.note('deletes', chosen.length > 0 && chosen.length < inOrder.length);
      cases.note('creates', made.length > 0 && made.length < nodesInOrder.length);
    }),
    { numRuns: 1500 },
  );
  cases.demand(5, 'deletes', 'creates');
});
