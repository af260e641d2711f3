/**
 * Bugs in what a staged rollout is judged by: pods, nodes against their peers, and which nodes try first (issue 17).
 */
import type { PlantedBug } from './planted-bug.ts';

const CORE = 'src/core/health';
const UNIT = 'test/unit/core/health';
const SOAK_TEST = 'test/unit/core/stages/soak.test.ts';
const PROPERTY = 'test/property/core/health';

/** The rows of issue 17, Build 3 and 4. */
export const EVIDENCE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'terminating-pod-is-evidence': {
    bug: 'what a kubelet does to the containers of a pod that goes counts as a failure (17 Build 3)',
    file: `${CORE}/pod-signs.ts`,
    before: 'if (pod.isTerminating)',
    after: 'if (pod.isTerminating && pod.isReady)',
    killedBy: {
      file: `${UNIT}/pod-evidence.test.ts`,
      title: 'a terminating pod, whatever it shows',
    },
  },
  'back-off-of-before-is-a-crash': {
    bug: 'a pod in a back-off that began before the rollout halts it (17 Build 3: never the present word)',
    file: `${CORE}/pod-signs.ts`,
    before: 'last: isNew ? last : undefined',
    after: 'last',
    killedBy: { file: `${UNIT}/pod-evidence.test.ts`, title: 'in a back-off that began before' },
  },
  'reboot-is-a-crash': {
    bug: 'a reboot, which restarts every container of a pod, halts the rollout as restarts (17 Build 3)',
    file: `${CORE}/pod-signs.ts`,
    before: 'return isLostExit(last) ||',
    after: 'return',
    killedBy: {
      file: `${UNIT}/pod-evidence.test.ts`,
      title: 'however many containers it restarted',
    },
  },
  'leak-needs-a-loop': {
    bug: 'a first OOM waits for a second restart (17 Build 3)',
    file: `${CORE}/pod-signs.ts`,
    before: 'if (last.reason === OUT_OF_MEMORY)',
    after: 'if (restarts >= RESTARTS_HALT && last.reason === OUT_OF_MEMORY)',
    killedBy: { file: `${UNIT}/pod-evidence.test.ts`, title: 'a first OOM halts' },
  },
  'signs-are-mixed': {
    bug: 'later in a rollout two nodes with different troubles halt it (17 Build 3: the same reason)',
    file: `${CORE}/breach.ts`,
    before: 'Map.groupBy(failed, ({ failure }) => failure.sign)',
    after: 'Map.groupBy(failed, ({ failure }) => failure.kind)',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'with the same sign' },
  },
  'any-peer-excuses': {
    bug: 'a pod of the old revision in another stratum excuses a failure (17 Build 3)',
    file: `${CORE}/breach.ts`,
    before: 'const peers = pods.peers.filter(({ stratum }) => stratum === first.stratum);',
    after: 'const { peers } = pods;',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'in another stratum' },
  },
  'one-old-failure-excuses-all': {
    bug: 'one pod of the old revision that failed within the hour excuses every pod of the new one',
    file: `${CORE}/breach.ts`,
    before: 'return p > CHANCE_MIN;',
    after: 'return p > 0;',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'not by one old failure of 800' },
  },
  'old-pods-that-started-long-ago-are-counted': {
    bug: 'a registry that is down halts: the pods that got their image days ago speak against it',
    file: `${CORE}/breach.ts`,
    before: '(isStart ? isWithin(pod.createdAtMs) : hasRun(pod))',
    after: 'hasRun(pod)',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'by a registry that is down' },
  },
  'excused-failure-passes-a-soak': {
    bug: 'a failure that is excused lets its step soak: pods that are killed for memory are proven',
    file: 'src/core/stages/find-breach.ts',
    before: 'return findExcusedHold(breachInput(look));',
    after: 'return look.input.nowMs < 0 ? findExcusedHold(breachInput(look)) : undefined;',
    killedBy: { file: SOAK_TEST, title: 'keeps the soak from passing for an hour' },
  },
  'later-soak-is-strict': {
    bug: 'one restart of thousands of pods begins the soak of a later step anew: it never ends',
    file: 'src/core/rollout/soak.ts',
    before: 'Math.max(1, sparedNodes(step, nodes))',
    after: 'Math.min(0, nodes)',
    killedBy: { file: SOAK_TEST, title: 'goes on though pods of two percent' },
  },
  'canary-soaks-under-another-watcher': {
    bug: 'a canary soaks on though another watcher saw nothing of the time before it',
    file: 'src/core/rollout/soak.ts',
    before: "(kind !== 'canary' && before",
    after: '(kind.length > 0 && before',
    killedBy: { file: SOAK_TEST, title: 'goes on under another watcher' },
  },
  'hopeless-soak-is-progress': {
    bug: 'a soak that is begun anew for ever is no lack of progress',
    file: 'src/core/stages/find-breach.ts',
    before: 'step.wellSinceMs !== undefined && !isHopeless',
    after: 'step.wellSinceMs !== undefined',
    killedBy: { file: SOAK_TEST, title: 'is a lack of progress' },
  },
  'message-repeats-any-word': {
    bug: 'what somebody wrote into a status is repeated in events and logs (17 Build 3)',
    file: `${CORE}/breach.ts`,
    before: 'const said = PLAIN_WORD.test(word) ? word : sign;',
    after: 'const said = word;',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'repeats no word' },
  },
  'turns-never-end': {
    bug: 'a pod that turns not ready once a week flaps after three weeks (17 Build 3)',
    file: `${CORE}/flapping.ts`,
    before: 'return at.nowMs - entry.turnedAtMs <= quietMsOf(at.soakMs) ? entry.turns : 0;',
    after: 'return entry.turns;',
    killedBy: { file: `${UNIT}/flapping.test.ts`, title: 'of one chain' },
  },
  'first-dead-node-halts': {
    bug: 'one flaky node that happens to be the canary halts a harmless release',
    file: `${CORE}/trial.ts`,
    before: 'failed.length >= UPDATED_FAILED_MIN',
    after: 'failed.length > 0',
    killedBy: { file: `${UNIT}/breach.test.ts`, title: 'the first one halts nothing' },
  },
  'dead-before-is-a-failure': {
    bug: 'nodes that were dead before the rollout count when they die again (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: '[...trial.outside, ...trial.failed]',
    after: '[...trial.failed]',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'dead before are outside' },
  },
  'joining-node-is-a-failure': {
    bug: 'a node that joins, not Ready while it boots, counts against the release (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: 'createdAtMs <= startedAtMs',
    after: 'createdAtMs <= startedAtMs + 1e12',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'joined later' },
  },
  'flaky-node-is-drawn-again': {
    bug: 'a node that flaps is one more draw each time, so that it halts a harmless release',
    file: `${CORE}/trial.ts`,
    before: '[...trial.outside, ...trial.failed]',
    after: '[...trial.outside]',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'however often the node flaps' },
  },
  'outage-without-end': {
    bug: 'a release that kills node after node hides behind the first (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: 'within(OUTAGE_MS_MAX).filter',
    after: 'failures.filter',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'however fast' },
  },
  'outage-counts-node-by-node': {
    bug: 'a zone that goes down counts as many failures as it has nodes (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: 'const isCounted = !inOutage.has(stratum);',
    after: 'const isCounted = inOutage.size >= 0;',
    killedBy: { file: `${UNIT}/trial.test.ts`, title: 'die with their zone' },
  },
  'peers-say-nothing': {
    bug: 'failures of nodes that are not updated do not speak for the release: too many false alarms (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: '(isUpdated ? hazard : 1)',
    after: 'hazard',
    killedBy: { file: `${PROPERTY}/trial.test.ts`, title: 'falls with each of another' },
  },
  'ratio-without-share': {
    bug: 'E grows by the hazard ratio whatever share of nodes is updated: Ville no longer holds (17 Build 4)',
    file: `${CORE}/trial.ts`,
    before: '(hazard * share + 1 - share)',
    after: '(hazard * share * share + 1 - share)',
    killedBy: { file: `${PROPERTY}/trial.test.ts`, title: 'Ville' },
  },
  'canary-takes-controls': {
    bug: 'a canary uses up a stratum although others have nodes left (17 Build 2)',
    file: `${CORE}/canary-spread.ts`,
    before: '(keepsControl ? 0 : 1)',
    after: '(keepsControl ? 0 : 0)',
    killedBy: { file: `${UNIT}/canary-spread.test.ts`, title: 'leaves a control' },
  },
  'canary-on-dead-nodes': {
    bug: 'a canary is chosen of nodes that are not Ready (17 Build 2)',
    file: `${CORE}/canary-spread.ts`,
    before: '(node.isReady && !node.isTerminating)',
    after: '!node.isTerminating',
    killedBy: {
      file: `${UNIT}/canary-spread.test.ts`,
      title: 'never takes a node that is not Ready',
    },
  },
};
