/**
 * Bugs by which evidence of a bad rollout is not told, or by which telling it costs a message each time (issue 17).
 */
import type { PlantedBug } from './planted-bug.ts';

const READ = 'src/core/projections/pod-trouble.ts';
const READ_TEST = 'test/unit/core/projections/pod-trouble.test.ts';
const COST_TEST = 'test/unit/watcher/session/trouble.test.ts';
const PRIORITY = 'src/watcher/outbox/change-priority.ts';
const PRIORITY_TEST = 'test/unit/watcher/outbox/quiet-priority.test.ts';

/** The rows of trouble. */
export const TROUBLE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'pull-words-flap': {
    bug: 'each try of a failed pull is two messages and two runs of its key (L5)',
    file: READ,
    before: 'return FAILED_PULLS.has(word) ? PULL_BACK_OFF : word;',
    after: 'return word;',
    killedBy: { file: COST_TEST, title: 'is one message, at once' },
  },
  'sidecars-are-well': {
    bug: 'a sidecar or init container that fails is never told',
    file: READ,
    before: "for (const field of ['initContainerStatuses', 'containerStatuses'] as const) {",
    after: "for (const field of ['containerStatuses'] as const) {",
    killedBy: { file: READ_TEST, title: 'is told of where it ended last' },
  },
  'exits-are-of-one-state': {
    bug: 'the exit of a container that was started again is forgotten: a slow leak shows nothing',
    file: READ,
    before: "return ['lastState', 'state'].flatMap(",
    after: "return ['state'].flatMap(",
    killedBy: { file: READ_TEST, title: 'as a slow leak does' },
  },
  'restarts-are-unbounded': {
    bug: 'a made-up restart count makes a message that functions refuse: the cluster loses its view (L4)',
    file: READ,
    before: 'restarts: Math.min(restarts, RESTARTS_MAX)',
    after: 'restarts',
    killedBy: { file: 'test/property/watcher/trouble.test.ts', title: 'trouble of a pod' },
  },
  'stops-are-failures': {
    bug: 'what a kubelet makes of a pod that was deleted counts as its failure',
    file: 'src/core/projections/project.ts',
    before: 'pod.isTerminating ? undefined : readTrouble(status, reading)',
    after: 'readTrouble(status, reading)',
    killedBy: { file: READ_TEST, title: 'is each that is going' },
  },
  'back-off-is-news': {
    bug: 'each crash of a container is a message more than its exit and its restart',
    file: PRIORITY,
    before: "? 'aside'",
    after: "? 'detail'",
    killedBy: { file: COST_TEST, title: 'is one message a crash' },
  },
  'back-off-is-never-sent': {
    bug: 'what comes with a CrashLoopBackOff, as a new node or label, waits for the next message',
    file: PRIORITY,
    before:
      'isBackOff(former, next) && isSameProjection(withoutWaiting(before), withoutWaiting(after))',
    after: 'isBackOff(former, next)',
    killedBy: { file: PRIORITY_TEST, title: 'CrashLoopBackOff comes and goes' },
  },
  'exits-wait': {
    bug: 'a rollout goes on for seconds after its canary crashed',
    file: PRIORITY,
    before: 'trouble?.lastExit && { trouble: { lastExit: trouble.lastExit } };',
    after: '{ trouble: {} };\n  void trouble;',
    killedBy: { file: PRIORITY_TEST, title: 'an exit decides' },
  },
  'judged-by-nobody': {
    bug: 'a canary whose image cannot be pulled is never judged: no message comes while it waits (L1)',
    file: 'src/core/stages/find-breach.ts',
    before: ', moments: lateMoments',
    after: '',
    killedBy: {
      file: 'test/simulation/halted-rollouts.test.ts',
      title: 'by bad-image although nothing comes',
    },
  },
  'pull-judged-by-its-grace': {
    bug: 'a canary whose image cannot be pulled is looked at after minutes only (L1)',
    file: 'src/core/health/pod-signs.ts',
    before: 'const failsAtMs = Math.min(lateAtMs, retriedAtMs);',
    after: 'const failsAtMs = Math.max(lateAtMs, retriedAtMs);',
    killedBy: {
      file: 'test/property/core/health/pod-evidence.test.ts',
      title: 'becomes a failure when it said',
    },
  },
  'kubelets-are-awaited': {
    bug: 'every status write of a kubelet is a heartbeat within a second',
    file: 'src/watcher/session/epoch.ts',
    before: ' && tracked.slim?.isStatusWrite !== true',
    after: '',
    killedBy: { file: COST_TEST, title: 'is one message, at once' },
  },
  'own-writes-look-like-kubelets': {
    bug: 'a run waits long for its own write, because a kubelet wrote in the same second (row 91)',
    file: 'src/watcher/project/project-object.ts',
    before: 'isStatus &&= isOfStatus',
    after: 'isStatus ||= isOfStatus',
    killedBy: {
      file: 'test/unit/watcher/project/status-write.test.ts',
      title: 'one of anything else, later or in the same second, is none',
    },
  },
};
