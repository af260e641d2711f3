/** Which test brings about each reason: a code without one does not compile, one whose test is gone fails here (issue 43). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { REASONS, type ReasonCode } from '../../../src/core/status/reasons.ts';

const ROOT = new URL('../../../', import.meta.url).pathname;

/** Where a reason is brought about through the engine, on local clusters, and `why` is asked. */
const OF_PODS = 'test/integration/why/why.test.ts';
const OF_HOLDS = 'test/integration/why/held.test.ts';

/** Why it is not brought about there, and the nearest running part that does so. */
interface Elsewhere {
  readonly because: string;
  readonly test: string;
  /** What that test asks for. */
  readonly told: string;
}

const TOLD: Readonly<Record<ReasonCode, typeof OF_PODS | typeof OF_HOLDS | Elsewhere>> = {
  Running: OF_PODS,
  KeptDespiteTaint: OF_PODS,
  Outdated: OF_PODS,
  WaitingForRollout: OF_PODS,
  WaitingForRevision: OF_PODS,
  WaitingForTermination: OF_PODS,
  Updating: OF_PODS,
  Pending: OF_PODS,
  SchedulingGated: OF_PODS,
  Unschedulable: OF_PODS,
  ImagePullBackOff: OF_PODS,
  CreateContainerConfigError: OF_PODS,
  CreateContainerError: OF_PODS,
  CrashLoopBackOff: OF_PODS,
  ContainerCreating: OF_PODS,
  NotReady: OF_PODS,
  ReadinessGatesNotReady: OF_PODS,
  NodeNotReady: OF_PODS,
  FailedBackoff: OF_PODS,
  Refused: OF_PODS,
  Blocked: OF_PODS,
  HeldByRemovalGuard: OF_PODS,
  OtherNodeName: OF_PODS,
  NodeSelectorMismatch: OF_PODS,
  NodeAffinityMismatch: OF_PODS,
  NodeAffinityInvalid: OF_PODS,
  TaintNotTolerated: OF_PODS,
  NotWanted: OF_PODS,
  Eligible: OF_PODS,
  frozen: OF_PODS,
  Creating: OF_HOLDS,
  Deleting: OF_HOLDS,
  WaitingForBurst: OF_HOLDS,
  WaitingForCluster: OF_HOLDS,
  WaitingForRequest: OF_HOLDS,
  LeftToBuiltIn: OF_HOLDS,
  stopped: OF_HOLDS,
  'functions-behind': OF_HOLDS,
  'cluster-silent': OF_HOLDS,
  'watcher-stands-by': OF_HOLDS,
  'cluster-unavailable': OF_HOLDS,
  'no-access': OF_HOLDS,
  'conflicting-controller': OF_HOLDS,
  'sentinel-missing': OF_HOLDS,
  'observe-mode': OF_HOLDS,
  'not-opted-in': OF_HOLDS,
  'rolling-update': OF_HOLDS,
  'cut-open': OF_HOLDS,
  'conflict-suspected': {
    because: 'a local cluster does not note who owns a status; a real API server does',
    test: 'test/conformance/handover/tenant.test.ts',
    told: 'StatusWrittenByAnother',
  },
  'view-incomplete': {
    because: 'on a local cluster the watcher mends a gap with its next report, before why can ask',
    test: 'test/unit/core/status/told-reasons.test.ts',
    told: 'view-incomplete',
  },
  StartingUp: {
    because: 'a node has to wait for ten minutes: a simulation has its own clock',
    test: 'test/unit/core/start-up/start-up-words.test.ts',
    told: 'the start-up taint',
  },
  'own-writes-unseen': {
    because:
      'a run alone waits for its own writes; why plans with them and says Creating or WaitingForRequest',
    test: 'test/unit/core/status/told-reasons.test.ts',
    told: 'own-writes-unseen',
  },
};

describe('each reason', () => {
  it('is brought about by a test, on a local cluster unless it says why not', () => {
    assert.deepEqual(Object.keys(TOLD).toSorted(), Object.keys(REASONS).toSorted());
    const texts = new Map<string, string>();
    for (const [code, where] of Object.entries(TOLD)) {
      const file = typeof where === 'string' ? where : where.test;
      const text = texts.get(file) ?? readFileSync(path.join(ROOT, file), 'utf8');
      texts.set(file, text);
      const isBroughtAbout =
        typeof where === 'string'
          ? new RegExp(`code: '${code}'|it\\('[^']*\\b${code}\\b`).test(text)
          : text.includes(where.told);
      assert.ok(isBroughtAbout, `${file} does not bring about ${code}`);
    }
  });
});
