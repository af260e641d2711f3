/** The mass-shrink removal guard (ADR 0057, issue 17): what goes, what is held, and what ends a hold. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defined } from '@rollcall/base/defined.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { confirmRemoval } from '../../../../src/core/removal-guard/confirm-removal.ts';
import { SETTLE_MS } from '../../../../src/core/removal-guard/decide-removal.ts';
import {
  CONFIRM_ANNOTATION,
  REMOVAL_WINDOW_MS,
} from '../../../../src/core/removal-guard/removal-rules.ts';
import type { Plan, PlanContext } from '../../../../src/core/model/plan.ts';
import type { NodeProjection, PodProjection } from '../../../../src/core/model/projections.ts';
import type {
  DaemonSetState,
  HeldRemoval,
  RemovalRecord,
} from '../../../../src/core/model/state.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import {
  NOW_MS,
  context,
  daemonSet,
  deleteIntent,
  node,
  pod,
  state,
  surging,
  tombstone,
  view,
} from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';

const LABELLED = { labels: { pool: 'a' } };
/** Of a DaemonSet whose policy says so. */
function policyOf(removalPercent: number): NonNullable<PlanContext['staging']> {
  const reading = { kind: 'policy', policy: policy({ removalPercent }) } as const;
  return { reading, mode: 'takeover', seenView: '1/1', isViewFresh: true, unheardMs: 0 };
}
const POLICY = policyOf(20);
const SELECTING = { nodeSelector: { pool: 'a' }, containers: [{ name: 'main', image: 'agent:1' }] };

const nameOf = (index: number): string => `n${String(index).padStart(2, '0')}`;

interface Cluster {
  /** Nodes with a pod. */
  readonly pods: number;
  /** Of these the first so many have lost the label. */
  readonly unlabelled: number;
  readonly change?: Partial<NodeProjection>;
  readonly metadata?: JsonObject;
  readonly podSpec?: JsonObject;
  readonly spec?: JsonObject;
  /** Of the unlabelled, so many have lost their pod a minute ago. */
  readonly goneAlready?: number;
  readonly nowMs?: number;
  readonly podOptions?: Partial<PodProjection>;
}

/** A plan for so many nodes; the placement of the record is what the template says. */
function plan(cluster: Cluster, by: Partial<PlanContext> = {}): Plan {
  const { pods: count, unlabelled, change = {}, goneAlready = 0, nowMs = NOW_MS } = cluster;
  const nodes = Array.from({ length: count }, (_, index) =>
    node(nameOf(index), index < unlabelled ? change : LABELLED),
  );
  const set = daemonSet({
    podSpec: cluster.podSpec ?? SELECTING, // raw JSON
    metadata: cluster.metadata ?? {},
    spec: cluster.spec ?? {},
  });
  const standing = nodes.slice(goneAlready).map(({ name }) => pod(name, cluster.podOptions ?? {}));
  const gone = nodes.slice(0, goneAlready).map(({ name }) => tombstone(name));
  return planReconcile(view({ daemonSet: set, nodes, pods: standing, gone, nowMs }), context(by));
}

function calmRecord(cluster: Partial<Cluster> = {}): RemovalRecord {
  const { shrink } = plan({ pods: 1, unlabelled: 0, ...cluster });
  assert.ok(shrink !== undefined);
  return shrink.record;
}

function settled(options: Partial<DaemonSetState> = {}): DaemonSetState {
  return state({ shrink: { ...calmRecord(), sinceMs: NOW_MS - SETTLE_MS }, ...options });
}

function heldBy(made: Plan): HeldRemoval {
  const held = made.shrink?.record.held;
  assert.ok(held !== undefined, 'nothing is held');
  return held;
}

const codesOf = (made: Plan): readonly string[] => [
  ...new Set(made.verdicts().map(({ code }) => code)),
];

describe('S14: a change of nodes', () => {
  it('takes no pod of fifty that lose the label, not at first and not when it is clear', () => {
    const first = plan({ pods: 50, unlabelled: 3 });
    assert.deepEqual(first.deletes, []);
    assert.equal(first.dueAtMs, NOW_MS + SETTLE_MS);
    assert.equal(first.shrink?.notice, undefined);
    const then = plan({ pods: 50, unlabelled: 50 }, { state: settled() });
    assert.deepEqual(then.deletes, []);
    const { pods, basePods, cause } = heldBy(then);
    assert.deepEqual([pods, basePods], [50, 50]);
    assert.match(cause, /n00, n01, n02 and 47 more are a node that lacks the label pool=a/);
    assert.equal(then.shrink?.notice?.kind, 'held');
    assert.deepEqual(codesOf(then), ['HeldByRemovalGuard']);
  });

  it('goes after some seconds where it is a small share', () => {
    const made = plan({ pods: 50, unlabelled: 10 }, { state: settled() });
    assert.equal(made.deletes.length, 10);
    assert.equal(made.shrink?.notice, undefined);
    assert.equal(plan({ pods: 50, unlabelled: 11 }, { state: settled() }).deletes.length, 0);
  });

  it('adds up with what went within ten minutes, and not with what went before', () => {
    const cluster = { pods: 50, unlabelled: 11, goneAlready: 6 };
    assert.equal(plan(cluster, { state: settled() }).deletes.length, 0);
    const nowMs = NOW_MS + REMOVAL_WINDOW_MS;
    const later = plan({ ...cluster, nowMs }, { state: settled() });
    assert.equal(later.deletes.length, 5);
  });

  it('counts pods whose delete was accepted and is not seen yet', () => {
    const victims = Array.from({ length: 6 }, (_, index) => pod(nameOf(index)));
    const intents = victims.map((victim) => deleteIntent(victim, { isAccepted: true }));
    const made = plan({ pods: 50, unlabelled: 11 }, { state: settled({ intents }) });
    assert.deepEqual(made.deletes, []);
    assert.equal(heldBy(made).pods, 11);
  });

  it('of fewer than ten pods is none of ours without a policy, nor waits', () => {
    assert.equal(plan({ pods: 9, unlabelled: 9 }).deletes.length, 9);
    assert.equal(plan({ pods: 1, unlabelled: 1 }).deletes.length, 1);
  });

  it('with compat: strict goes as upstream, and so does 100 percent', () => {
    const metadata = { annotations: { 'rollcall.dev/compat': 'strict' } };
    assert.equal(plan({ pods: 50, unlabelled: 50, metadata }).deletes.length, 50);
    const staging = policyOf(100);
    assert.equal(plan({ pods: 50, unlabelled: 50 }, { staging }).deletes.length, 50);
  });

  it('holds nothing that goes for another reason', () => {
    const failed = { phase: 'Failed' as const, isReady: false };
    const nodes = Array.from({ length: 20 }, (_, index) =>
      node(nameOf(index), index < 10 ? {} : LABELLED),
    );
    const set = daemonSet({ podSpec: SELECTING }); // raw JSON
    const pods = nodes.map(({ name }, index) => pod(name, index === 19 ? failed : {}));
    const made = planReconcile(
      view({ daemonSet: set, nodes, pods }),
      context({ state: settled() }),
    );
    assert.deepEqual(
      made.deletes.map(({ reason }) => reason),
      ['failed'],
    );
  });
});

describe('what is on neither side', () => {
  const taints = [{ key: 'gone', effect: 'NoExecute' as const }];

  it('is evicted by the taint manager: a NoExecute taint holds nothing', () => {
    const made = plan({ pods: 50, unlabelled: 50, change: { ...LABELLED, taints } });
    assert.equal(made.deletes.length, 50);
  });

  it('is drained or deleted: its pod goes, also beside a hold, and the last one of a cluster', () => {
    for (const change of [{ unschedulable: true }, { isTerminating: true }]) {
      assert.equal(plan({ pods: 50, unlabelled: 50, change }).deletes.length, 50);
      const made = plan({ pods: 1, unlabelled: 1, change }, { staging: POLICY });
      assert.equal(made.deletes.length, 1);
    }
  });

  it('is a node that is gone: fifty that the cloud took away leave nothing to hold', () => {
    const set = daemonSet({ podSpec: SELECTING }); // raw JSON
    const pods = Array.from({ length: 50 }, (_, index) => pod(nameOf(index)));
    const made = planReconcile(view({ daemonSet: set, pods }), context({ staging: POLICY }));
    assert.deepEqual([made.deletes, made.shrink?.notice], [[], undefined]);
  });
});

describe('an edit of the placement', () => {
  const EDITED = { ...SELECTING, nodeSelector: { pool: 'b' } };
  const before = calmRecord();

  it('goes as upstream where there is no policy, and is not held against the next change', () => {
    const made = plan(
      { pods: 50, unlabelled: 0, podSpec: EDITED },
      { state: state({ shrink: before }) },
    );
    assert.equal(made.deletes.length, 50);
    assert.equal(made.shrink?.record.allowed?.pods, 60);
    // All are on their way: what was allowed outlives them by one window.
    const shrink = made.shrink?.record;
    assert.ok(shrink !== undefined);
    const left = { pods: 50, unlabelled: 50, goneAlready: 50, podSpec: EDITED };
    const after = plan(left, { state: state({ shrink }) }).shrink?.record;
    assert.equal(after?.allowed?.pods, 60);
    assert.notEqual(after?.placement, before.placement);
  });

  it('is held with a policy at once, and names the edit', () => {
    const made = plan(
      { pods: 50, unlabelled: 0, podSpec: EDITED },
      { state: state({ shrink: before }), staging: POLICY },
    );
    assert.deepEqual(made.deletes, []);
    assert.match(heldBy(made).cause, /^the pod template's placement was edited: /);
    const { notice } = made.shrink ?? {};
    assert.ok(notice?.kind === 'held');
    assert.deepEqual(notice.suspect, { kind: 'daemon-set' });
  });

  it('that takes a toleration away is held, too: no taint manager evicts what tolerates', () => {
    const taints = [{ key: 'gpu', effect: 'NoExecute' as const }];
    const change = { ...LABELLED, taints };
    const made = plan(
      { pods: 50, unlabelled: 50, change },
      {
        state: state({ shrink: { placement: before.placement + 1 } }),
        staging: POLICY,
      },
    );
    assert.deepEqual(made.deletes, []);
    assert.equal(heldBy(made).pods, 50);
  });
});

describe('a policy', () => {
  it('guards the last pod of few, and leaves the others alone', () => {
    const by = { state: settled(), staging: POLICY };
    assert.equal(plan({ pods: 4, unlabelled: 3 }, by).deletes.length, 3);
    assert.equal(plan({ pods: 4, unlabelled: 4 }, by).deletes.length, 0);
    assert.equal(plan({ pods: 1, unlabelled: 1 }, by).deletes.length, 0);
  });

  it('says how large the share is', () => {
    const staging = policyOf(50);
    const by = { state: settled(), staging };
    assert.equal(plan({ pods: 10, unlabelled: 5 }, by).deletes.length, 5);
    assert.equal(plan({ pods: 10, unlabelled: 6 }, by).deletes.length, 0);
  });

  it('holds nodes that are vacated under a NoSchedule taint with surge', () => {
    const taints = [{ key: 'maintenance', effect: 'NoSchedule' as const }];
    const old = { labels: { app: 'agent', 'controller-revision-hash': 'older' } };
    const cluster = {
      pods: 10,
      unlabelled: 5,
      change: { ...LABELLED, taints },
      spec: surging(),
      podOptions: old,
    };
    const vacated = (made: Plan): number =>
      made.deletes.filter(({ reason }) => reason === 'vacated').length;
    const staging = policyOf(100);
    assert.ok(vacated(plan(cluster, { staging })) > 2, 'the case is none');
    const made = plan(cluster, { state: settled(), staging: POLICY });
    assert.equal(vacated(made), 0);
    assert.match(heldBy(made).cause, /taint maintenance/);
    assert.ok(codesOf(made).includes('HeldByRemovalGuard'));
  });
});

describe('a hold', () => {
  const lost = { pods: 50, unlabelled: 50 };
  const begun = plan(lost, { state: settled() });
  const stored = state({ shrink: begun.shrink?.record ?? { placement: 0 } });

  it('stands without being told again, without a timer, and writes the same record', () => {
    const again = plan({ ...lost, nowMs: NOW_MS + 60_000 }, { state: stored });
    assert.deepEqual(again.deletes, []);
    assert.equal(again.shrink?.notice, undefined);
    assert.deepEqual(again.shrink?.record, stored.shrink);
    assert.equal(again.dueAtMs, undefined);
  });

  it('has one token for a run whose write was lost, and another for another day', () => {
    assert.equal(heldBy(plan(lost, { state: settled() })).token, heldBy(begun).token);
    const other = settled({ shrink: { ...calmRecord(), sinceMs: NOW_MS - 60_000 } });
    assert.notEqual(heldBy(plan(lost, { state: other })).token, heldBy(begun).token);
  });

  it('is confirmed by the annotation with its token, once for all of it, and by no other', () => {
    const annotated = (value: string): JsonObject => ({
      annotations: { [CONFIRM_ANNOTATION]: value },
    });
    const wrong = plan({ ...lost, metadata: annotated('other') }, { state: stored });
    assert.deepEqual(wrong.deletes, []);
    const made = plan(
      { ...lost, metadata: annotated(heldBy(begun).token) },
      { state: stored, burstPodsMax: 20 },
    );
    assert.equal(made.deletes.length, 20);
    assert.equal(made.shrink?.notice?.kind, 'confirmed');
    const shrink = made.shrink?.record;
    assert.ok(shrink !== undefined);
    const rest = plan({ ...lost, goneAlready: 20 }, { state: state({ shrink }), burstPodsMax: 20 });
    assert.equal(rest.deletes.length, 20);
  });

  it('is confirmed in the state by the command, whatever memo stands there', () => {
    const confirmed = confirmRemoval(stored, { by: 'ada', atMs: NOW_MS });
    assert.equal(confirmed.memo, undefined);
    assert.equal(plan(lost, { state: confirmed }).deletes.length, 50);
    const idle = state();
    assert.equal(confirmRemoval(idle, { by: 'ada', atMs: NOW_MS }), idle);
  });

  it('that was confirmed for a part begins anew beyond it', () => {
    const { placement } = calmRecord();
    const allowed = { pods: 22, untilMs: NOW_MS + 60_000 };
    const shrink: RemovalRecord = { placement, allowed };
    assert.equal(
      plan({ pods: 50, unlabelled: 22 }, { state: state({ shrink }) }).deletes.length,
      22,
    );
    const beyond = plan({ pods: 50, unlabelled: 23 }, { state: state({ shrink }) });
    assert.deepEqual(beyond.deletes, []);
    const over = { placement, allowed: { pods: 22, untilMs: NOW_MS } };
    assert.equal(
      plan({ pods: 50, unlabelled: 12 }, { state: state({ shrink: over }) }).deletes.length,
      0,
    );
  });

  it('ends when the change is taken back', () => {
    const back = plan({ pods: 50, unlabelled: 0 }, { state: stored });
    assert.equal(back.shrink?.notice?.kind, 'ended');
    assert.deepEqual(back.shrink?.record, calmRecord());
  });

  it('keeps the pods of nodes that wait for their label while others have it back', () => {
    const few = { pods: 50, unlabelled: 4 };
    const made = plan(few, { state: stored });
    assert.deepEqual(made.deletes, []);
    assert.equal(made.dueAtMs, NOW_MS + REMOVAL_WINDOW_MS);
    const shrink = made.shrink?.record;
    assert.ok(shrink !== undefined);
    const nowMs = NOW_MS + REMOVAL_WINDOW_MS;
    assert.equal(
      plan({ ...few, nowMs: nowMs - 1 }, { state: state({ shrink }) }).deletes.length,
      0,
    );
    assert.equal(plan({ ...few, nowMs }, { state: state({ shrink }) }).deletes.length, 4);
  });

  it('does not end because nodes went, however long ago: nine of nine are still all, and three more than a share', () => {
    for (const unlabelled of [9, 3]) {
      let shrink = stored.shrink;
      for (const nowMs of [NOW_MS, NOW_MS + REMOVAL_WINDOW_MS, NOW_MS + 2 * REMOVAL_WINDOW_MS]) {
        const made = plan({ pods: 9, unlabelled, nowMs }, { state: state(defined({ shrink })) });
        assert.deepEqual(made.deletes, []);
        shrink = made.shrink?.record;
      }
    }
  });

  it('repeats no delete that was recorded before it', () => {
    const victim = pod(nameOf(0));
    const intents = [deleteIntent(victim, { recordedAtMs: NOW_MS - 1000 })];
    assert.deepEqual(plan(lost, { state: { ...stored, intents } }).deletes, []);
    // While it only waits for more, what may be on its way anyway is sent again.
    const waiting = state({ intents, shrink: { ...calmRecord(), sinceMs: NOW_MS } });
    assert.deepEqual(
      plan(lost, { state: waiting }).deletes.map(({ reason }) => reason),
      ['repeat'],
    );
  });
});

describe('a run that may not act', () => {
  it('leaves the record alone where its view is in doubt, and watches where another controller acts', () => {
    const doubt = { kind: 'status-only', code: 'frozen', message: '' } as const;
    assert.equal(plan({ pods: 50, unlabelled: 50 }, { guard: doubt }).shrink, undefined);
    const observe = { kind: 'observe', code: 'observe-mode', message: '' } as const;
    const few = plan({ pods: 50, unlabelled: 10 }, { guard: observe });
    assert.equal(few.shrink?.notice, undefined);
    const gone = plan({ pods: 50, unlabelled: 50, goneAlready: 50 }, { guard: observe });
    assert.equal(gone.shrink?.notice?.kind, 'alarmed');
    const shrink = gone.shrink.record;
    const again = plan(
      { pods: 50, unlabelled: 50, goneAlready: 50 },
      { guard: observe, state: state({ shrink }) },
    );
    assert.equal(again.shrink?.notice, undefined);
  });

  it('believes no clock that was ahead', () => {
    const ahead = state({ shrink: { ...calmRecord(), sinceMs: NOW_MS + 3_600_000 } });
    assert.equal(plan({ pods: 50, unlabelled: 1 }, { state: ahead }).dueAtMs, NOW_MS + SETTLE_MS);
    const allowed = { pods: 50, untilMs: NOW_MS + 86_400_000 };
    const far = settled({ shrink: { ...calmRecord(), sinceMs: NOW_MS - SETTLE_MS, allowed } });
    assert.equal(plan({ pods: 50, unlabelled: 50 }, { state: far }).deletes.length, 0);
  });
});
