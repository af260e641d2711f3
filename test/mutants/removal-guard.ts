/**
 * Bugs by which a shrink goes although nobody confirmed it, or waits although nothing holds it (ADR 0057, S14).
 */
import type { PlantedBug } from './planted-bug.ts';

const RULES = 'src/core/removal-guard/removal-rules.ts';
const COUNT = 'src/core/removal-guard/count-removal.ts';
const DECIDE = 'src/core/removal-guard/decide-removal.ts';
const HOLD = 'src/core/removal-guard/hold-removal.ts';
const CORE_TEST = 'test/unit/core/removal-guard/hold-removal.test.ts';
const APP_TEST = 'test/unit/app/reconcile/removal-rules.test.ts';

/** The rows of the removal guard. */
export const REMOVAL_GUARD_BUGS: Readonly<Record<string, PlantedBug>> = {
  'shrink-at-once': {
    bug: 'the first pods of fifty go before the others are seen',
    file: DECIDE,
    before: "if (nowMs < untilMs) return { kind: 'settle', record: next, untilMs };",
    after: '',
    killedBy: { file: APP_TEST, title: 'lose none either when only a few are seen at first' },
  },
  'shrink-counts-sent-only': {
    bug: 'pods whose delete was accepted do not count, so six more go',
    file: COUNT,
    before: 'if (nodeView.pods.length > 0 || gone.has(nodeView.node.name))',
    after: 'if (gone.has(nodeView.node.name))',
    killedBy: { file: CORE_TEST, title: 'counts pods whose delete was accepted' },
  },
  'shrink-holds-the-drained': {
    bug: 'the last pod of a cluster that is emptied waits for somebody',
    file: COUNT,
    before: 'if (node.isTerminating || node.unschedulable) return true;',
    after: '',
    killedBy: { file: CORE_TEST, title: 'is drained or deleted' },
  },
  'shrink-holds-evictions': {
    bug: 'a NoExecute taint on many nodes is held, though the taint manager evicts',
    file: COUNT,
    before: "reason.code === 'TaintNotTolerated' && !isEdit",
    after: 'false',
    killedBy: { file: CORE_TEST, title: 'is evicted by the taint manager' },
  },
  'shrink-holds-tolerated': {
    bug: 'an edit that takes a toleration away takes every pod',
    file: COUNT,
    before: "reason.code === 'TaintNotTolerated' && !isEdit",
    after: "reason.code === 'TaintNotTolerated'",
    killedBy: { file: CORE_TEST, title: 'takes a toleration away' },
  },
  'shrink-any-token': {
    bug: 'an annotation that an earlier shrink was confirmed by confirms each later one',
    file: DECIDE,
    before: 'tokens.includes(former.token)',
    after: 'tokens.some((token) => token !== undefined)',
    killedBy: { file: CORE_TEST, title: 'and by no other' },
  },
  'shrink-confirmed-for-ever': {
    bug: 'a confirmation covers whatever comes later',
    file: DECIDE,
    before: '&& shrink.pods <= pods',
    after: '|| pods > 0',
    killedBy: { file: CORE_TEST, title: 'that was confirmed for a part begins anew' },
  },
  'shrink-ends-below-the-share': {
    bug: 'nodes that get their label back one by one lose the last pods on the way',
    file: DECIDE,
    before: 'const untilMs = sinceMs + REMOVAL_WINDOW_MS;\n  if (nowMs',
    after: 'const untilMs = sinceMs;\n  if (nowMs',
    killedBy: { file: CORE_TEST, title: 'keeps the pods of nodes that wait for their label' },
  },
  'shrink-holds-upstream': {
    bug: 'compat: strict does not restore upstream',
    file: RULES,
    before: " || readCompat(daemonSet) === 'strict'",
    after: " || readCompat(daemonSet) === ('none' as never)",
    killedBy: { file: CORE_TEST, title: 'with compat: strict goes as upstream' },
  },
  'shrink-repeats': {
    bug: 'a delete that was not answered is sent again although it is held by now',
    file: HOLD,
    before: "(kind === 'hold' || planned.reason !== 'repeat')",
    after: "planned.reason !== 'repeat'",
    killedBy: { file: CORE_TEST, title: 'repeats no delete that was recorded before it' },
  },
  'shrink-not-recorded': {
    bug: 'a hold is told anew by each run, and nobody can confirm it',
    file: 'src/app/reconcile/run/record-state.ts',
    before: 'const after = plan.shrink?.record ?? shrink;',
    after: 'const after = shrink;',
    killedBy: { file: APP_TEST, title: 'one Event names the cause' },
  },
  'shrink-confirmed-asleep': {
    bug: 'a confirmation by the command is not looked at until something else happens',
    file: 'src/core/removal-guard/confirm-removal.ts',
    before: 'const { memo: _memo, ...kept } = state;',
    after: 'const kept = state;',
    killedBy: { file: APP_TEST, title: 'lose them once the state says so' },
  },
};
