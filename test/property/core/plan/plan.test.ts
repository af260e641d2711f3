/** Properties of the plan: order, restraint, completeness. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { computeView } from '../../../../src/core/view/view.ts';
import { intents, nodeSets, podSets } from '../../../support/core-arbitraries.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  context,
  daemonSet,
  inWords,
  state,
  surging,
} from '../../../support/core-fixtures.ts';

const plain = daemonSet({ podSpec: { tolerations: [{ key: 'gpu', operator: 'Exists' }] } });
const surge = daemonSet({ spec: surging() });
const sets = fc.constantFrom(plain, surge);
const intentLists = fc.array(intents, { maxLength: 4 });

const isRunning = (pod: PodProjection): boolean =>
  !pod.isTerminating && pod.phase !== 'Failed' && pod.phase !== 'Succeeded';

test('a plan does not depend on the order of nodes, pods or intents', () => {
  fc.assert(
    fc.property(fc.tuple(sets, nodeSets, podSets, intentLists), ([set, nodes, pods, list]) => {
      const plan = (turn: <T>(items: readonly T[]) => readonly T[]): unknown => {
        const view = computeView({
          daemonSet: set,
          nodes: turn(nodes),
          pods: turn(pods),
          revisions: [],
          nowMs: NOW_MS,
        });
        return inWords(planReconcile(view, context({ state: state({ intents: turn(list) }) })));
      };
      const unique = new Set(list.map(({ name, kind }) => `${kind}/${name}`));
      fc.pre(unique.size === list.length);
      assert.deepEqual(
        plan((items) => items),
        plan((items) => items.toReversed()),
      );
    }),
    { numRuns: 400 },
  );
});

test('never two creates for a node, and no delete of the one healthy pod of a run node (S1, S3)', () => {
  fc.assert(
    fc.property(fc.tuple(sets, nodeSets, podSets, intentLists), ([set, nodes, mixed, list]) => {
      // All of one revision: what a rolling update does beside this has properties of its own.
      const pods = mixed.map((pod) => ({
        ...pod,
        labels: { ...pod.labels, 'controller-revision-hash': CURRENT_HASH },
      }));
      const view = computeView({ daemonSet: set, nodes, pods, revisions: [], nowMs: NOW_MS });
      const plan = planReconcile(view, context({ state: state({ intents: list }) }));
      assert.equal(new Set(plan.creates.map((create) => create.node)).size, plan.creates.length);
      const victims = new Set(plan.deletes.map(({ uid }) => uid));
      assert.equal(victims.size, plan.deletes.length);
      for (const each of view.nodes) {
        const running = each.pods.filter(isRunning);
        if (each.placement === 'leave' || running.length === 0) continue;
        assert.ok(
          running.some(({ uid }) => !victims.has(uid)),
          'one running pod stays',
        );
        const isCreated = plan.creates.some((create) => create.node === each.node.name);
        assert.ok(!isCreated, 'no second pod beside a running one');
      }
    }),
    { numRuns: 600 },
  );
});

test('every run node without a pod gets a create, up to the cap, once no claim is left (L1, S9)', () => {
  fc.assert(
    fc.property(nodeSets, podSets, fc.integer({ min: 0, max: 6 }), (nodes, pods, cap) => {
      const view = computeView({ daemonSet: plain, nodes, pods, revisions: [], nowMs: NOW_MS });
      const empty = view.nodes.filter((each) => each.placement === 'run' && each.pods.length === 0);
      const plan = planReconcile(view, context({ burstPodsMax: cap }));
      // Nothing is done on top of claims that are left for the next run (spec 2.4).
      const isClaimed = view.toAdopt.length + view.toRelease.length <= cap;
      assert.deepEqual(
        plan.creates.map((create) => create.node),
        isClaimed ? empty.slice(0, cap).map((each) => each.node.name) : [],
      );
      assert.ok(plan.adopts.length + plan.releases.length <= cap);
      assert.ok(plan.deletes.length <= cap);
    }),
    { numRuns: 400 },
  );
});
