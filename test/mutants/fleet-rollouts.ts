/**
 * Bugs in how a fleet is rolled out: each would give a cluster what was not proven, or stop what should go on (issue 18).
 */
import type { PlantedBug } from './planted-bug.ts';

const CORE = 'src/core/fleet/rollout';
const UNIT = 'test/unit/core/fleet/rollout';
const STEPS_TEST = 'test/property/core/fleet/advance-fleet.test.ts';
const STEP = 'src/app/fleet/step';
const STEP_TEST = 'test/unit/app/fleet/step/step-fleets.test.ts';
const DAYS_TEST = 'test/simulation/fleet-rollouts.test.ts';

/** All of them. */
export const FLEET_ROLLOUT_BUGS: Readonly<Record<string, PlantedBug>> = {
  'fleet-first-cluster-alone': {
    bug: 'by default one cluster opens the next stage by its word alone',
    file: 'src/adapters/policy/fleet/fleet-schema.ts',
    before: "name: 'canary', clusters: 2, nodes: 1",
    after: "name: 'canary', clusters: 1, nodes: 1",
    killedBy: {
      file: 'test/unit/core/fleet/plan-fleet.test.ts',
      title: 'from one node of each of two clusters',
    },
  },
  'fleet-rebuilt-makes-room': {
    bug: 'a cluster that was rebuilt before its answer was heard makes room for one more (18.2)',
    file: 'src/app/fleet/observe/see-clusters.ts',
    before: 'const again = isRebuilt ? undefined : againOf(',
    after: 'const again = isRebuilt && record.version < 0 ? undefined : againOf(',
    killedBy: { file: STEP_TEST, title: 'make no room for others' },
  },
  'fleet-heals-all-at-once': {
    bug: 'an override that a label brings reaches all clusters at once (18.3)',
    file: `${STEP}/look-for-drift.ts`,
    before: "room === 'held' ? [] : again.slice(0, room)",
    after: "room === 'held' ? [] : again",
    killedBy: { file: STEP_TEST, title: 'as many at a time as the last stage allows' },
  },
  'fleet-heals-on-after-failures': {
    bug: 'what is healed fails in one cluster after the other, and goes on (18.3)',
    file: `${STEP}/look-for-drift.ts`,
    before: 'isBeyondForgiven(failed, last, given.length)',
    after: 'failed.length > given.length',
    killedBy: { file: STEP_TEST, title: 'no further once one of them fails' },
  },
  'fleet-ring-heals-all-at-once': {
    bug: 'clusters of the ring whose template changed are given it again all at once (18.6)',
    file: `${STEP}/serve-ring.ts`,
    before: 'changed.slice(0, Math.max(0, atOnce - onTheirWay))',
    after: 'changed',
    killedBy: { file: STEP_TEST, title: 'goes through the ring as many at a time' },
  },
  'fleet-gives-while-paused': {
    bug: 'a paused fleet goes on (18.1)',
    file: `${CORE}/judge-stage.ts`,
    before: "pausedBy: record.orders.paused && 'order',",
    after: 'pausedBy: undefined,',
    killedBy: { file: STEPS_TEST, title: 'while it is frozen, paused or halted' },
  },
  'fleet-gives-while-frozen': {
    bug: 'a frozen fleet goes on (18.5)',
    file: `${CORE}/judge-stage.ts`,
    before: '    freeze,\n    isReturning',
    after: '    isReturning',
    killedBy: { file: STEPS_TEST, title: 'while it is frozen, paused or halted' },
  },
  'fleet-old-approval-counts': {
    bug: 'what was agreed to of the gates of another strategy opens those of this one (18.1)',
    file: `${CORE}/begin-rollout.ts`,
    before: '    release,\n    orders,\n  };\n}',
    after: '    release,\n  };\n}',
    killedBy: { file: `${UNIT}/begin-rollout.test.ts`, title: 'with nothing agreed to' },
  },
  'fleet-undone-comes-again': {
    bug: 'what was undone goes out again when GitOps applies it again',
    file: 'src/core/fleet/rollout/order-clusters.ts',
    before: "refused: noteRefused(record.refused, bad, 'contentHash'),",
    after: '',
    killedBy: { file: `${UNIT}/begin-rollout.test.ts`, title: 'holds what was undone' },
  },
  'fleet-way-back-waits-for-approval': {
    bug: 'a cluster that never completed what the others go back to waits for a person and a window',
    file: `${STEP}/go-back.ts`,
    before: '!isThere && rendering.isGatedFor(registration)',
    after: 'isThere && rendering.isGatedFor(registration)',
    killedBy: {
      file: 'test/simulation/fleet-way-back.test.ts',
      title: 'brings a cluster that never had what the others go back to',
    },
  },
  'fleet-tenant-stops-the-way-back': {
    bug: 'a quota in one cluster keeps all others at a bad release',
    file: `${CORE}/way-back.ts`,
    before: "failedOfClass(inPlace, 'release')",
    after: 'inPlace',
    killedBy: { file: `${UNIT}/way-back.test.ts`, title: 'is none for what lies with a place' },
  },
  'fleet-bad-content-again': {
    bug: 'content that was halted goes out again when GitOps applies it again (18.2)',
    file: `${CORE}/begin-rollout.ts`,
    before: 'breach: knownBad(before.refused, beginning)',
    after: 'breach: undefined',
    killedBy: { file: `${UNIT}/begin-rollout.test.ts`, title: 'holds content that was halted' },
  },
  'fleet-one-batch-too-many': {
    bug: 'a freeze is not seen between two batches of gifts (18.5)',
    file: `${STEP}/give-clusters.ts`,
    before: 'freezeOf(freeze, record) === undefined &&',
    after: '',
    killedBy: { file: STEP_TEST, title: 'between two batches end the second one' },
  },
  'fleet-order-not-seen': {
    bug: 'an order is not seen between two batches of gifts (18.5)',
    file: `${STEP}/give-clusters.ts`,
    before: 'now.version === record.version',
    after: 'now.version >= record.version',
    killedBy: { file: STEP_TEST, title: 'between two batches end the second one' },
  },
  'fleet-asks-nobody': {
    bug: 'the first clusters of a stage are given what all of them refuse, and the fleet halts (40.5)',
    file: `${STEP}/make-step.ts`,
    before: 'open.seen.given.length === 0 ?',
    after: 'open.seen.given.length < 0 ?',
    killedBy: {
      file: 'test/unit/app/fleet/step/ask-first.test.ts',
      title: 'hold their stage before any of it',
    },
  },
  'fleet-refusal-is-stuck': {
    bug: 'a stage that clusters would refuse runs into its deadline, and its content is condemned (40.5)',
    file: `${CORE}/judge-stage.ts`,
    before: "gate.kind === 'refused' ? { refused: gate } : {}",
    after: "gate.kind === 'refused' && waiting < 0 ? { refused: gate } : {}",
    killedBy: {
      file: 'test/unit/app/fleet/step/ask-first.test.ts',
      title: 'hold their stage before any of it',
    },
  },
  'fleet-gift-to-the-frozen': {
    bug: 'a cluster that was frozen since the step saw it is given the release (40.4)',
    file: `${STEP}/give-clusters.ts`,
    before: 'stored?.configVersion === configVersion && whyUntouched(stored) === undefined',
    after: 'stored !== undefined && configVersion > 0',
    killedBy: {
      file: 'test/unit/app/fleet/step/give-clusters.test.ts',
      title: 'after its record was written',
    },
  },
  'fleet-batch-of-forty': {
    bug: 'forty clusters are given something between two looks at freeze and orders (18.5)',
    file: `src/app/fleet/observe/dependencies.ts`,
    before: 'GIVEN_AT_ONCE = 10',
    after: 'GIVEN_AT_ONCE = 40',
    killedBy: { file: STEP_TEST, title: 'between two batches end the second one' },
  },
  'fleet-ring-after-undo': {
    bug: 'a cluster that got the release through the ring keeps it at an undo (18.6)',
    file: `${STEP}/deal-clusters.ts`,
    before: 'const isTurned = record.dealtAtMs < turnedAtMs;',
    after: 'const isTurned = record.dealtAtMs < 0 * turnedAtMs;',
    killedBy: { file: STEP_TEST, title: 'sends every cluster back at an undo' },
  },
  'fleet-unanswered-for-ever': {
    bug: 'an apply that was not answered is never sent again (18.3)',
    file: `src/app/fleet/observe/see-clusters.ts`,
    before: '!noted.isToGive && !isUnanswered',
    after: '!noted.isToGive && !(isUnanswered && nowMs < 0)',
    killedBy: { file: STEP_TEST, title: 'whichever write of a turn fails' },
  },
  'fleet-nodes-of-before': {
    bug: 'a cluster whose nodes a release selects no more is empty, and no failure (18.4, Reddit 2023-03-14)',
    file: `${STEP}/give-clusters.ts`,
    before: ': { nodes };',
    after: ': {};',
    killedBy: { file: 'test/simulation/fleet-incidents.test.ts', title: 'Reddit 2023-03-14' },
  },
  'fleet-simulated-concurrency': {
    bug: 'a simulated fleet rolls more clusters at once than it may (18.1)',
    file: `${CORE}/advance-fleet.ts`,
    before: 'rollingMaxOf(record, strategy) - record.counts.rolling',
    after: 'rollingMaxOf(record, strategy)',
    killedBy: {
      file: DAYS_TEST,
      title: 'keeps every promise through a day of releases under faults',
    },
  },
  'fleet-simulated-halt': {
    bug: 'a simulated fleet that was halted goes on (18.4)',
    file: `${CORE}/judge-stage.ts`,
    before: 'isHalted: record.breach !== undefined,',
    after: 'isHalted: false,',
    killedBy: {
      file: DAYS_TEST,
      title: 'keeps every promise through a day of releases under faults',
    },
  },
  'fleet-begun-and-late': {
    bug: 'the ring takes from a cluster what some of its nodes have, and its stage gives it again (18.6)',
    file: 'src/app/fleet/step/make-step.ts',
    before: 'return offline.filter((id) => !goingOn.has(id));',
    after: 'return offline;',
    killedBy: {
      file: 'test/unit/app/fleet/step/make-step.test.ts',
      title: 'go on with the next stage',
    },
  },
  'fleet-simulated-pause': {
    bug: 'a simulated fleet that is paused goes on (18.1)',
    file: `${CORE}/judge-stage.ts`,
    before: "pausedBy: record.orders.paused && 'order',",
    after: 'pausedBy: undefined,',
    killedBy: {
      file: DAYS_TEST,
      title: 'keeps every promise through a day of releases under faults',
    },
  },
  'fleet-dark-rack-mutes-the-others': {
    bug: 'old nodes that die in one cluster outweigh what all others show (41)',
    file: `${CORE}/find-fleet-breach.ts`,
    before: '.map(({ ratios = NO_EVIDENCE }) => ratios.map(halfKept))',
    after: '.map(({ ratios = NO_EVIDENCE }) => ratios)',
    killedBy: {
      file: 'test/property/core/fleet/pooled-evidence.test.ts',
      title: 'do not mute the others',
    },
  },
  'fleet-liar-takes-back': {
    bug: 'a watcher that lies takes the release from the other eleven clusters (40)',
    file: `${CORE}/way-back.ts`,
    before: "breach.grounds === undefined && onBreach === 'rollback'",
    after: "onBreach === 'rollback'",
    killedBy: {
      file: 'test/simulation/fleet-liar.test.ts',
      title: 'takes nothing back from any other cluster',
    },
  },
  'fleet-simulated-budget': {
    bug: 'a simulated fleet forgives three clusters more than it may (18.1)',
    file: `${CORE}/find-fleet-breach.ts`,
    before: 'failed.length <= clustersMax',
    after: 'failed.length <= clustersMax + 3',
    killedBy: {
      file: DAYS_TEST,
      title: 'keeps every promise through a day of releases under faults',
    },
  },
};
