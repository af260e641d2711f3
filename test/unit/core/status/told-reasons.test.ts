/**
 * Which test brings about each reason: a code without one fails here (issue 43). What keeps runs from acting is brought about as a
 * guard of the plan; how each guard comes about is told where it is decided.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { Guard } from '../../../../src/core/model/plan.ts';
import type { GuardCode } from '../../../../src/core/model/verdict.ts';
import { decideCreate } from '../../../../src/core/pods/plan-create.ts';
import { preparePlanning } from '../../../../src/core/pods/planning.ts';
import type { Targets } from '../../../../src/core/pods/targets.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { groupReasons } from '../../../../src/core/status/reason-groups.ts';
import { REASONS } from '../../../../src/core/status/reasons.ts';
import type { ReasonCode } from '../../../../src/core/status/reasons.ts';
import { context, node, view } from '../../../support/core-fixtures.ts';

const ROOT = new URL('../../../../', import.meta.url).pathname;
const ON_A_CLUSTER = 'test/integration/why/why.test.ts';
const VERDICTS = 'test/unit/core/status/verdicts.test.ts';
const PLAN_CREATE = 'test/unit/core/pods/plan-create.test.ts';

const GUARDS: Readonly<Record<GuardCode, RegExp | undefined>> = {
  stopped: /stack resume/,
  frozen: /thaw/,
  'cluster-silent': /cluster doctor/,
  'watcher-stands-by': /cluster doctor/,
  'functions-behind': /stack check/,
  'cluster-unavailable': /cluster doctor/,
  'no-access': /cluster doctor/,
  'conflicting-controller': /cluster doctor/,
  'conflict-suspected': /cluster doctor/,
  'sentinel-missing': /cluster doctor/,
  'observe-mode': undefined,
  'not-opted-in': /rollcall\.dev\/rollout/,
  'rolling-update': /OnDelete/,
  'view-incomplete': /cluster doctor/,
  'cut-open': undefined,
  'own-writes-unseen': undefined,
};

/** The test of each other code. */
const TOLD: Readonly<Record<Exclude<ReasonCode, GuardCode>, string>> = {
  Running: ON_A_CLUSTER,
  KeptDespiteTaint: ON_A_CLUSTER,
  Outdated: ON_A_CLUSTER,
  WaitingForRollout: ON_A_CLUSTER,
  WaitingForTermination: ON_A_CLUSTER,
  Pending: ON_A_CLUSTER,
  SchedulingGated: ON_A_CLUSTER,
  Unschedulable: ON_A_CLUSTER,
  ImagePullBackOff: ON_A_CLUSTER,
  CreateContainerConfigError: ON_A_CLUSTER,
  CreateContainerError: ON_A_CLUSTER,
  CrashLoopBackOff: ON_A_CLUSTER,
  ContainerCreating: ON_A_CLUSTER,
  NotReady: ON_A_CLUSTER,
  ReadinessGatesNotReady: 'test/unit/core/status/pod-verdicts.test.ts',
  NodeNotReady: 'test/unit/core/status/pod-verdicts.test.ts',
  OtherNodeName: ON_A_CLUSTER,
  NodeSelectorMismatch: ON_A_CLUSTER,
  NodeAffinityMismatch: ON_A_CLUSTER,
  TaintNotTolerated: ON_A_CLUSTER,
  NotWanted: VERDICTS,
  NodeAffinityInvalid: VERDICTS,
  Eligible: VERDICTS,
  Creating: VERDICTS,
  Deleting: VERDICTS,
  WaitingForBurst: VERDICTS,
  FailedBackoff: 'test/unit/core/pods/plan-pods.test.ts',
  Updating: 'test/unit/core/rolling-update/plan-rollout.test.ts',
  WaitingForRequest: PLAN_CREATE,
  Refused: PLAN_CREATE,
  Blocked: PLAN_CREATE,
  WaitingForCluster: PLAN_CREATE,
  WaitingForRevision: 'test/unit/core/status/told-reasons.test.ts',
  LeftToBuiltIn: 'test/unit/core/plan/copilot.test.ts',
  HeldByRemovalGuard: 'test/unit/core/removal-guard/hold-removal.test.ts',
};

describe('each reason', () => {
  it('is brought about by a test', () => {
    const texts = new Map<string, string>();
    for (const [code, file] of Object.entries(TOLD)) {
      const text = texts.get(file) ?? readFileSync(path.join(ROOT, file), 'utf8');
      texts.set(file, text);
      assert.match(text, new RegExp(`\\b${code}\\b`), `${file} does not bring about ${code}`);
    }
  });

  it('is in one of the two lists, and in no third place', () => {
    const listed = [...Object.keys(TOLD), ...Object.keys(GUARDS)].toSorted();
    assert.deepEqual(Object.keys(REASONS).toSorted(), listed);
  });
});

describe('a node that is to run the last good revision', () => {
  it('WaitingForRevision: waits while that cannot be read', () => {
    const targets: Targets = {
      hashOf: () => 'good',
      isOnTarget: () => false,
      isFormer: () => true,
      areNamed: false,
    };
    const seen = view({ nodes: [node('n1')] });
    const intents = { unseen: [], unresolved: [], settled: [] };
    const planning = preparePlanning(seen, context(), { intents, targets });
    const [nodeView] = seen.nodes;
    assert.ok(nodeView !== undefined);
    const decided = decideCreate(planning, nodeView);
    assert.ok(decided.kind === 'wait' && decided.wait.code === 'WaitingForRevision');
    assert.match(
      decided.wait.message,
      /the last good revision \(good\), which is not readable now/,
    );
    assert.match(REASONS[decided.wait.code].remedy ?? '', /rollout resume/);
  });
});

describe('what keeps runs from acting', () => {
  for (const [code, remedy] of Object.entries(GUARDS)) {
    it(`is the reason of a node that lacks its pod, with what to do: ${code}`, () => {
      const guard = { kind: 'status-only', code, message: `It is so: ${code}.` } as Guard;
      const plan = planReconcile(view({ nodes: [node('n1')] }), context({ guard }));
      const [group] = groupReasons(plan.verdicts());
      assert.equal(group?.code, code);
      assert.match(group.message, new RegExp(`which waits: It is so: ${code}`));
      assert.match(group.remedy ?? '', remedy ?? /^$/);
    });
  }
});
