/**
 * Bugs in what halts a rollout beside its pods: the API server's own latency, causes that Events tell, clocks (ADR 0062).
 */
import type { PlantedBug } from './planted-bug.ts';

const ANSWERS = 'src/core/health/answer-times.ts';
const ANSWERS_TEST = 'test/unit/core/health/answer-times.test.ts';
const LOG = 'src/adapters/kubernetes/transport/answer-log.ts';
const LOG_TEST = 'test/unit/adapters/kubernetes/transport/answer-log.test.ts';

const EVENTS = 'src/core/health/event-causes.ts';
const EVENTS_TEST = 'test/unit/core/health/event-causes.test.ts';

const CLOCKS_TEST = 'test/property/core/stages/clocks.test.ts';
const OBSERVE = 'src/core/stages/observe.ts';
const OBSERVE_TEST = 'test/unit/core/stages/observe.test.ts';

/** The rows of what halts. */
export const HALT_BUGS: Readonly<Record<string, PlantedBug>> = {
  'answers-one-outlier': {
    bug: 'one slow answer before the rollout hides a server that became slow (17 Build 3)',
    file: ANSWERS,
    before: 'const SLOWEST_PERCENT = 90;',
    after: 'const SLOWEST_PERCENT = 100;',
    killedBy: { file: ANSWERS_TEST, title: 'that was slow now and then before' },
  },
  'answers-of-new-connections': {
    bug: 'the making of a connection, and a first look at a token, count as a slow answer (17 Build 3)',
    file: LOG,
    before: '!isReused ||',
    after: '',
    killedBy: { file: LOG_TEST, title: 'on a new connection' },
  },
  'answers-beside-our-own': {
    bug: 'a burst of our own requests looks like a slow server (17 Build 3)',
    file: LOG,
    before: ' || isCrowded) return;',
    after: ' || (isCrowded && kind === "")) return;',
    killedBy: { file: LOG_TEST, title: 'beside many of our own' },
  },
  'evictions-are-nothing': {
    bug: 'a node that evicts its daemons is well (17 Build 4)',
    file: OBSERVE,
    before: "['Evicted', 'Rebooted']",
    after: "['Rebooted']",
    killedBy: { file: OBSERVE_TEST, title: 'that evicted its pod' },
  },
  'demand-of-the-halted': {
    bug: 'what a halted release asked for is what the next one is compared with (rollouts facts 1)',
    file: 'src/core/stages/start-record.ts',
    before: 'const before = isOfFormer ? record?.formerDemand : undefined;',
    after: 'const before = isOfFormer ? record?.demand : undefined;',
    killedBy: {
      file: 'test/unit/core/stages/start-record.test.ts',
      title: 'of the proven revision asked',
    },
  },
  'clocks-exits-before': {
    bug: 'exits of the first minutes are taken for older than the rollout, where kubelets are behind (17 Build 3)',
    file: 'src/core/stages/find-breach.ts',
    before: 'return isWhole ? {} : { sinceMs: startedAtMs };',
    after: 'return { sinceMs: startedAtMs + (isWhole ? 0 : 1) };',
    killedBy: { file: CLOCKS_TEST, title: 'halts on the canary, when it shows' },
  },
  'clocks-first-turn': {
    bug: 'pods that come up have turned, where kubelets are ahead (17 Build 3)',
    file: 'src/core/health/flapping.ts',
    before: '120_000 + CLOCKS_DIFFER_MS',
    after: '120_000',
    killedBy: {
      file: 'test/unit/core/health/flapping.test.ts',
      title: 'long after its creation',
    },
  },
  'after-holds': {
    bug: 'a policy with a field of an earlier release is refused, and holds the rollout (ADR 0058)',
    file: 'src/adapters/policy/policy-schema.ts',
    before: '.filter(([name]) => !RETIRED.has(name))',
    after: '.filter(() => true)',
    killedBy: {
      file: 'test/unit/adapters/policy/policy-reader.test.ts',
      title: 'a field of an earlier release is ignored',
    },
  },
  'after-holds-a-fleet': {
    bug: 'a FleetDaemonSet whose policy has a field of an earlier release is refused, and its fleet stands (ADR 0061)',
    file: 'src/adapters/policy/policy-schema.ts',
    before: 'v.transform(withoutRetired),',
    after: '',
    killedBy: {
      file: 'test/unit/adapters/policy/fleet/fleet-reader.test.ts',
      title: 'takes a policy with fields of an earlier release',
    },
  },
  'events-text-repeated': {
    bug: 'what somebody wrote into an Event is repeated in statuses and logs (17 Build 3)',
    file: EVENTS,
    before: 'const detail = detailOf(newest.message);',
    after: 'const detail = newest.message;',
    killedBy: { file: EVENTS_TEST, title: 'repeats nothing else' },
  },
  'events-any-reason': {
    bug: 'an Event of another kind is taken for the cause (17 Build 3)',
    file: EVENTS,
    before: 'Object.hasOwn(SAYS, reason)',
    after: 'reason in SAYS',
    killedBy: { file: EVENTS_TEST, title: 'repeats nothing else' },
  },
};
