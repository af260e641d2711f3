/** Which test brings about each reason of a node: a code without one does not compile, one whose test is gone fails here (issue 43). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import type { GuardCode } from '../../../src/core/model/verdict.ts';
import type { ReasonCode } from '../../../src/core/status/reasons.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;
const ON_A_CLUSTER = 'test/integration/why/why.test.ts';
const VERDICTS = 'test/unit/core/status/verdicts.test.ts';
const PLAN_CREATE = 'test/unit/core/pods/plan-create.test.ts';

/** The test of each code; what keeps runs from acting has test/unit/core/status/told-reasons.test.ts. */
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
});
