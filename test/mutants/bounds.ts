/**
 * Bugs in what judges: bounds that stretch with the regression, excuses without end, tries without a count.
 */
import type { PlantedBug } from './planted-bug.ts';

const CHAOS = 'test/conformance/chaos';
const SUPPORT = 'test/unit/support';

/** The rows of finding 14 A.5. */
export const BOUNDS_BUGS: Readonly<Record<string, PlantedBug>> = {
  'attended-clock-excuses-computing': {
    bug: 'a loop that is blocked by what it computes itself stops the clock that judges it (14 A.5)',
    file: 'test/support/machine-pace.ts',
    before: 'Math.max(TICK_MS + TICK_LATE_MS, computedMs)',
    after: 'TICK_MS + TICK_LATE_MS',
    killedBy: { file: `${SUPPORT}/machine-pace.test.ts`, title: 'would excuse itself' },
  },
  'pace-counts-own-threads': {
    bug: 'an engine that burns processors stretches its own bound (14 A.5)',
    file: 'test/support/machine-pace.ts',
    before: 'Math.max(0, running - ours)',
    after: 'Math.max(0, running - 1)',
    killedBy: { file: `${SUPPORT}/machine-pace.test.ts`, title: 'measured programs do themselves' },
  },
  'pace-forgets-children': {
    bug: 'only the threads of the test itself are ours, not those of the programs it started (14 A.5)',
    file: 'test/support/own-threads.ts',
    before: 'left.push(...(children.get(entry.pid) ?? []));',
    after: 'children.get(entry.pid);',
    killedBy: { file: `${SUPPORT}/own-threads.test.ts`, title: 'and of its children' },
  },
  'chaos-effects-late-for-minutes': {
    bug: 'chaos excuses whatever is younger than three minutes (14 A.5)',
    file: `${CHAOS}/lateness.ts`,
    before: 'effectMs: REQUEST_LIFE_MS + freezeMsMax',
    after: 'effectMs: 180_000 + freezeMsMax',
    killedBy: { file: `${CHAOS}/lateness.test.ts`, title: 'lets an effect be late' },
  },
  'chaos-view-older-than-promised': {
    bug: 'a busy machine lets a view be older than the 90 s of the promise (14 A.5)',
    file: `${CHAOS}/lateness.ts`,
    before: 'Math.min(FRESH_MS, LEASE_MS + stretched(TO_WORK_MS, slowdown))',
    after: 'Math.max(FRESH_MS, LEASE_MS + stretched(TO_WORK_MS, slowdown))',
    killedBy: { file: `${CHAOS}/lateness.test.ts`, title: 'lets a view be as old' },
  },
  'chaos-live-reads-as-late-as-views': {
    bug: 'what is read live may be as late as what a watcher tells (14 A.5)',
    file: `${CHAOS}/judge.ts`,
    before: 'present !== undefined && atMs - present.sinceMs > effectMs',
    after: 'present !== undefined && atMs - present.sinceMs > 2 * effectMs',
    killedBy: {
      file: `${CHAOS}/judge.test.ts`,
      title: 'excuses no deletion of the present version',
    },
  },
  'chaos-settles-after-collectors': {
    bug: 'the time to settle stands still while any garbage is left to be collected: L1 says nothing (14 A.5)',
    file: `${CHAOS}/settle.ts`,
    before: 'wrong.length > 0 && wrong.every(({ isWaiting }) => isWaiting)',
    after: 'wrong.some(({ isWaiting }) => isWaiting)',
    killedBy: { file: `${CHAOS}/settle.test.ts`, title: 'counts from its beginning' },
  },
  'chaos-excuses-any-wrong-pod': {
    bug: 'a pod that is missing is excused by one of a node that is gone (14 A.5)',
    file: `${CHAOS}/wrong.ts`,
    before: 'isHeld && is === OLD_POD',
    after: 'isHeld',
    killedBy: { file: `${CHAOS}/settle.test.ts`, title: 'excuses no missing pod' },
  },
  'surge-excused-by-any-pod': {
    bug: 'a surged pod may go for any pod object on its node (14 A.5)',
    file: `${CHAOS}/judge.ts`,
    before: 'pods.filter((pod) => isAvailable(set, pod, { atMs, marginMs: 0 }))',
    after: 'pods',
    killedBy: { file: `${CHAOS}/judge.test.ts`, title: 'the other is not ready' },
  },
  'surge-excused-by-any-revision': {
    bug: 'a pod of the present version may go for one of a former version (14 A.5)',
    file: `${CHAOS}/successors.ts`,
    before: '(rightVersions.has(version) || isFormer)',
    after: '(rightVersions.has(version) || !isFormer || isFormer)',
    killedBy: { file: `${CHAOS}/judge.test.ts`, title: 'the other is of a former version' },
  },
  'surge-excused-for-ever': {
    bug: 'a successor that others took away long ago still excuses (14 A.5)',
    file: `${CHAOS}/successors.ts`,
    before: 'uid !== victim.uid && servedAtMs >= sinceMs &&',
    after: 'uid !== victim.uid && servedAtMs <= Math.max(servedAtMs, sinceMs) &&',
    killedBy: { file: `${CHAOS}/judge.test.ts`, title: 'only as long as word of it may take' },
  },
  'engine-crash-is-no-failure': {
    bug: 'an engine that crashes by itself passes a run of chaos (14 A.5)',
    file: `${CHAOS}/report.ts`,
    before: 'engine: engineOwnEnds }',
    after: 'engine: Math.min(0, engineOwnEnds) }',
    killedBy: { file: `${CHAOS}/report.test.ts`, title: 'ended by itself' },
  },
  'engine-crash-is-a-start-in-vain': {
    bug: 'every end of the engine counts as a start that its cluster refused (14 A.5)',
    file: `${CHAOS}/program.ts`,
    before: 'component.exitCode() === IN_VAIN_CODE',
    after: 'component.exitCode() !== -1',
    killedBy: { file: `${CHAOS}/program.test.ts`, title: 'counts each end by itself' },
  },
  'chaos-counts-no-snapshots': {
    bug: 'a watcher that sends a snapshot each second passes as quiet (14 A.5)',
    file: `${CHAOS}/rest.ts`,
    before: 'count > SNAPSHOTS_MAX',
    after: 'count > 1000 * SNAPSHOTS_MAX',
    killedBy: { file: `${CHAOS}/rest.test.ts`, title: 'snapshots make look every second' },
  },
  'one-good-rollout-suffices': {
    bug: 'of several rollouts with surge only the last one is judged (14 A.5)',
    file: 'test/conformance/rollouts/steps.ts',
    before: 'const steps = rollouts.flatMap(',
    after: 'const steps = rollouts.slice(-1).flatMap(',
    killedBy: { file: 'test/conformance/rollouts/steps.test.ts', title: 'two slow steps' },
  },
  'one-good-back-off-suffices': {
    bug: 'a back-off may end any time later, where another one ended in time (14 A.5)',
    file: 'test/conformance/scenarios/back-off-steps.ts',
    before: 'lateMs <= lateMsMax',
    after: 'Math.min(...steps.map((step) => step.lateMs)) <= lateMsMax',
    killedBy: {
      file: 'test/conformance/scenarios/back-off-steps.test.ts',
      title: 'late beside others that are not',
    },
  },
  'deploy-bound-beyond-the-suite': {
    bug: 'the bound of a deployment lies beyond the time-out of its suite (14 A.5)',
    file: 'test/deploy/deploy-time.ts',
    before: 'return WAITED_MS + stretched(PROMISED_MS - WAITED_MS, slowdown);',
    after: 'return stretched(PROMISED_MS, slowdown);',
    killedBy: { file: `${SUPPORT}/deploy-time.test.ts`, title: 'before the time-out of the suite' },
  },
  'noisy-cluster-adds-15-seconds': {
    bug: 'a hung cluster may add 15 s where the promise grants 5 s (14 A.5)',
    file: 'test/support/isolation/latency-bound.ts',
    before: 'onceMs: 5000',
    after: 'onceMs: 15_000',
    killedBy: { file: `${SUPPORT}/latency-bound.test.ts`, title: 'docs/promise.md' },
  },
  'noisy-cluster-adds-them-always': {
    bug: 'a hung cluster may add its 5 s to each change (14 A.5)',
    file: 'test/support/isolation/latency-bound.ts',
    before: 'late.length > 1',
    after: 'late.length > beside.length',
    killedBy: { file: `${SUPPORT}/latency-bound.test.ts`, title: 'added once' },
  },
  'requests-compare-no-writes-in-a-lag': {
    bug: 'a try in which the view lagged compares nothing (14 A.5)',
    file: 'test/conformance/scenarios/request-counts.ts',
    before: "if (writes.length > 0) return { kind: 'failed', why: writes };",
    after: 'void writes;',
    killedBy: {
      file: 'test/conformance/scenarios/request-counts.test.ts',
      title: 'a pod too many or too few',
    },
  },
  'requests-last-try-passes': {
    bug: 'a view that lags in each try is tried without end (14 A.5)',
    file: 'test/conformance/scenarios/request-counts.ts',
    before: 'if (lagged.length > 0 && tries.left > 0)',
    after: 'if (lagged.length > 0 && tries.left >= 0)',
    killedBy: {
      file: 'test/conformance/scenarios/request-counts.test.ts',
      title: 'fails the last one',
    },
  },
};
