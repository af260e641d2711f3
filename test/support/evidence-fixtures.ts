/**
 * Builders for tests of evidence: judged pods, nodes of a trial, and a trial that is looked at failure by failure.
 */
import { nodeName, type NodeName } from '../../src/core/model/identifiers.ts';
import type { Trial } from '../../src/core/model/rollout-record.ts';
import type { JudgedPod, FailedPod } from '../../src/core/health/pod-signs.ts';
import { advanceTrial, startTrial, type TrialNode } from '../../src/core/health/trial.ts';
import { NOW_MS } from './core-fixtures.ts';

const MINUTE_MS = 60_000;

/** Names `n000`, `n001` …, so that order by name is order by number. */
export function nthNode(index: number): NodeName {
  return nodeName(`n${String(index).padStart(3, '0')}`);
}

/** So many good nodes of one stratum; the first `updated` of them are updated. */
export function trialNodes(count: number, updated: number): TrialNode[] {
  return Array.from({ length: count }, (_, index) => ({
    name: nthNode(index),
    stratum: 'a/pool',
    isUpdated: index < updated,
    isBad: false,
  }));
}

/** The same nodes, these of them bad. */
export function withBad(nodes: readonly TrialNode[], bad: readonly number[]): TrialNode[] {
  return nodes.map((node, index) => ({ ...node, isBad: bad.includes(index) }));
}

/** Starts a trial and lets these nodes fail, one every two minutes; each look in the order that is given. */
export function failOneByOne(nodes: readonly TrialNode[], failing: readonly number[]): Trial {
  let trial = startTrial(nodes, NOW_MS);
  for (const [at] of failing.entries()) {
    const bad = failing.slice(0, at + 1);
    trial = advanceTrial(trial, withBad(nodes, bad), NOW_MS + (at + 1) * 2 * MINUTE_MS);
  }
  return trial;
}

/** A pod that failed because its image cannot be pulled, unless a test says otherwise. */
export function failed(options: Partial<FailedPod> = {}): FailedPod {
  return {
    kind: 'failed',
    class: 'start',
    sign: 'ImagePull',
    word: 'ImagePullBackOff',
    container: 'agent',
    atMs: NOW_MS,
    restarts: 0,
    ...options,
  };
}

/** A judged pod on the nth node: well unless a test says otherwise. */
export function judged(index: number, options: Partial<JudgedPod> = {}): JudgedPod {
  return {
    node: nthNode(index),
    stratum: 'a/pool',
    evidence: { kind: 'well', restarts: 0 },
    createdAtMs: NOW_MS - 86_400_000,
    ...options,
  };
}
