/** The plan as a whole (spec 2.3, 2.8): refusals, caps, guards, status, adoption. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plan, PlanContext } from '../../../../src/core/model/plan.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import {
  NOW_MS,
  context,
  daemonSet,
  failedPod,
  namedPod,
  node,
  pod,
  slot,
  state,
  statusOnly,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

function plan(options: ViewOptions, by: Partial<PlanContext> = {}): Plan {
  return planReconcile(view(options), context(by));
}

const isIdle = (made: Plan): boolean =>
  made.creates.length + made.deletes.length + made.adopts.length + made.releases.length === 0;

describe('DaemonSets that are left alone (spec 2.3)', () => {
  const nodes = [node('n1'), node('n2')];

  it('step 4: an empty selector gets its event and nothing else', () => {
    const set = daemonSet({ spec: { selector: {} }, metadata: { deletionTimestamp: 'now' } });
    const made = plan({ daemonSet: set, nodes });
    assert.ok(isIdle(made));
    assert.equal(made.status, undefined);
    assert.deepEqual(
      made.events.map(({ reason }) => reason),
      ['SelectingAll'],
    );
    assert.deepEqual(
      made.verdicts().map(({ code, message }) => `${code}: ${message}`),
      ['n1', 'n2'].map(
        (name) => `Blocked: Node ${name} is not looked at: its selector would select all pods.`,
      ),
    );
    assert.deepEqual(plan({ daemonSet: set }, { guard: statusOnly('frozen') }).events, []);
  });

  it('step 5: one being deleted gets no status, no adoption, no pods (S5)', () => {
    const set = daemonSet({ metadata: { deletionTimestamp: 'now' } });
    const orphan = namedPod('n1', 'orphan', { ownerUid: null });
    const made = plan({ daemonSet: set, nodes, pods: [orphan] });
    assert.ok(isIdle(made));
    assert.equal(made.status, undefined);
    assert.deepEqual(made.events, []);
    assert.equal(made.dueAtMs, undefined);
    assert.equal(
      made.verdicts()[0]?.message,
      'Node n1 is not looked at: the DaemonSet is being deleted.',
    );
  });

  it('a malformed selector touches no pod', () => {
    const selector = { matchExpressions: [{ key: 'app', operator: 'Near' }] };
    const made = plan({ daemonSet: daemonSet({ spec: { selector } }), nodes, pods: [pod('n1')] });
    assert.ok(isIdle(made));
    assert.match(made.verdicts()[0]?.message ?? '', /operator Near of app is not known/);
  });
});

describe('burst (spec 2.8 step 1, S9)', () => {
  const nodes = Array.from({ length: 600 }, (_, index) =>
    node(`n${String(index).padStart(3, '0')}`),
  );
  it('caps creates at 250 in node order, and counts what is left', () => {
    const made = plan({ nodes });
    assert.equal(made.creates.length, 250);
    assert.equal(made.cappedCount, 350);
    assert.equal(made.creates[249]?.node, 'n249');
    assert.equal(made.verdicts()[249]?.code, 'Creating');
    assert.equal(made.verdicts()[250]?.code, 'WaitingForBurst');
  });

  it('caps deletes separately; events and back-off go with the deletes that are sent', () => {
    const pods = nodes.slice(0, 300).map(({ name }) => failedPod(name));
    const made = plan({ nodes, pods });
    assert.equal(made.creates.length, 250);
    assert.equal(made.deletes.length, 250);
    assert.equal(made.events.length, 250);
    assert.equal(made.backoff.length, 250);
    assert.equal(made.cappedCount, 100);
    assert.equal(made.verdicts()[249]?.code, 'Deleting');
    assert.equal(made.verdicts()[299]?.code, 'WaitingForBurst');
  });
});

describe('guards (design 3.3)', () => {
  const options: ViewOptions = {
    nodes: [node('n1'), node('n2')],
    pods: [
      failedPod('n1'),
      namedPod('n2', 'orphan', { ownerUid: null }),
      namedPod('n2', 'released', { labels: { app: 'other' } }),
      namedPod('n2', 'duplicate', { createdAtMs: NOW_MS }),
    ],
  };

  it('act: pods, claims and status with the generation raised', () => {
    const made = plan(options);
    assert.equal(made.deletes.length, 2);
    assert.equal(made.adopts.length, 1);
    assert.equal(made.releases.length, 1);
    assert.equal(made.status?.observedGeneration, 1);
  });

  it('status-only: status without raising the generation, and verdicts that say why', () => {
    const made = plan(options, { guard: statusOnly('frozen') });
    assert.ok(isIdle(made));
    assert.deepEqual(made.events, []);
    assert.deepEqual(made.backoff, []);
    assert.equal(made.status?.desiredNumberScheduled, 2);
    assert.equal(made.status.observedGeneration, undefined);
    assert.deepEqual(
      made.verdicts().map(({ code }) => code),
      ['WaitingForCluster', 'WaitingForCluster'],
    );
    assert.match(made.verdicts()[0]?.message ?? '', /for the test/);
  });

  for (const code of ['view-incomplete', 'conflicting-controller'] as const) {
    it(`status-only for ${code}: no status either (faults 58, 81)`, () => {
      assert.equal(plan(options, { guard: statusOnly(code) }).status, undefined);
    });
  }

  it('observe: verdicts only', () => {
    const guard = { kind: 'observe', code: 'observe-mode', message: 'only looking' } as const;
    const made = plan(options, { guard });
    assert.ok(isIdle(made));
    assert.equal(made.status, undefined);
    assert.equal(made.verdicts().length, 2);
  });
});

describe('quiescence (L1)', () => {
  it('plans nothing for a DaemonSet that stands as it should', () => {
    const status = {
      currentNumberScheduled: 1,
      desiredNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 1,
      numberAvailable: 1,
      numberUnavailable: 0,
      updatedNumberScheduled: 1,
      observedGeneration: 1,
    };
    const made = plan({ daemonSet: daemonSet({ status }), nodes: [node('n1')], pods: [pod('n1')] });
    assert.ok(isIdle(made));
    assert.equal(made.status, undefined);
    assert.equal(made.dueAtMs, undefined);
    assert.equal(made.cappedCount, 0);
    assert.deepEqual(made.verdicts(), [
      {
        node: 'n1',
        placement: 'run',
        reason: { code: 'Eligible' },
        code: 'Running',
        pod: slot('n1'),
        message: `Node n1 has ready pod ${slot('n1')}.`,
      },
    ]);
  });

  it('says nothing of a rollout where nothing rolls', () => {
    const onDelete = daemonSet({ spec: { updateStrategy: { type: 'OnDelete' } } });
    assert.equal('rollout' in plan({ daemonSet: onDelete, nodes: [node('n1')] }), false);
    assert.equal('rollout' in plan({ nodes: [node('n1')] }), true);
  });

  it('sweeps back-off that expired, also while it may not act', () => {
    const backoff = [
      { node: node('n1').name, generation: 0, delayMs: 1000, advancedAtMs: NOW_MS - 86_400_000 },
    ];
    assert.deepEqual(plan({}, { state: state({ backoff }) }).backoff, []);
    const guard = statusOnly('frozen');
    assert.deepEqual(plan({}, { guard, state: state({ backoff }) }).backoff, []);
  });
});
