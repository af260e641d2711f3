/** Planted bugs of what the functions do beside the runs (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const APP_BUGS: PlantedBugs = {
  'log-of-gone-lost-for-one-write': {
    bug: 'one write that fails loses the log of a DaemonSet that is gone (S18)',
    at: 'src/app/log/flush-log.ts#keepLogOfGone',
    change: 'if (!isItemTooLarge(error)) throw error;',
    to: 'if (!(error instanceof Error)) throw error;',
    killedBy:
      'test/unit/app/coverage/note-coverage.test.ts: lets the state of one that is gone stay while the table takes nothing',
  },
  'explain-without-freeze': {
    bug: 'verdicts of a frozen cluster say that pods are being created',
    at: 'src/app/why/explain.ts#guardOfSet',
    change: 'const registered = guardOfSubject(registration, daemonSet, frozen);',
    to: "const registered = { kind: 'act' } as Guard;",
    killedBy: 'test/unit/app/why/explain.test.ts: tells that a frozen cluster waits, and why',
  },
  'plan-without-freeze': {
    bug: 'a plan says of a frozen cluster that pods are replaced',
    at: 'src/core/what-if/tell-plan.ts#tellPlan',
    change: "if (guard.kind === 'act') return",
    to: "if (guard.kind !== 'observe') return",
    killedBy: 'test/unit/cli/plan/plan-command.test.ts: says that it is held, by whom',
  },
  'plan-that-writes-unseen': {
    bug: 'a plan makes a second pod where one was just made, which no view shows yet',
    at: 'src/core/what-if/known-requests.ts#withKnownRequests',
    change: 'const open = [...(intents?.unseen ?? []), ...(intents?.unresolved ?? [])];',
    to: 'const open = [...(intents?.unresolved ?? [])];',
    killedBy: 'test/unit/core/what-if/play.test.ts: counts pods that were made',
  },
  'plan-without-end': {
    bug: 'a plan that is cut off by its bound is told as one that rests',
    at: 'src/core/what-if/play.ts#playEdit',
    change: "return play.tell('does-not-end', turnsMax);",
    to: "return play.tell('rest', turnsMax);",
    killedBy: 'test/unit/core/what-if/play.test.ts: says that it does not end',
  },
  'plan-of-built-in-held': {
    bug: 'a plan says that the removal guard holds what the built-in controller removes',
    at: 'src/core/what-if/play.ts#asUpstream',
    change: "'rollcall.dev/compat': 'strict'",
    to: "'rollcall.dev/compat': 'mended'",
    killedBy: 'test/unit/core/what-if/play.test.ts: holds a mass removal for a confirmation',
  },
  'plan-steps-unordered': {
    bug: 'a plan replaces all nodes of a rolling update at once',
    at: 'src/core/what-if/model-cluster.ts#ModelCluster',
    change: 'this.#starts(pod, this.#start.startMs);',
    to: 'this.#put({ ...pod, isReady: true });',
    killedBy: 'test/unit/core/what-if/play.test.ts: replaces one node after the other',
  },
  'canary-drawn-by-hash': {
    bug: 'the canary is drawn by a hash that no plan can know before the edit is made',
    at: 'src/core/rolling-update/plan-stages.ts#planStages',
    change: '`${view.uid}/${id}`',
    to: '`${view.uid}/${currentHash}`',
    killedBy:
      'test/unit/core/rolling-update/plan-stages.test.ts: name the rollout by DaemonSet and template',
  },
  'order-to-what-was': {
    bug: 'an order is given to what was there before somebody else wrote, and is lost for ever (17.9)',
    at: 'src/app/orders/keep-order.ts#keepOrder',
    change: 'const edited = edit(found);',
    to: 'const edited = edit(first);',
    killedBy: 'test/unit/app/rollout/give-order.test.ts: applies the order to what it finds',
  },
  'forged-refusals-come-again': {
    bug: 'a forged message comes again while its record cannot be kept (L3, issue 40)',
    at: 'src/app/refusal/keep-refusal.ts#keepRefusal',
    change: "if (sender === 'verified') throw error;",
    to: 'if (code !== undefined) throw error;',
    killedBy:
      'test/security/forged-flood.test.ts: while nothing can be noted, nor is tried each time',
  },
  'leaving-lifts-freeze': {
    bug: 'leaving takeover lifts a freeze that a person had set',
    at: 'src/app/takeover/hand-back.ts#writeLeft',
    change: "mode: 'observe', isFrozen: wasFrozen",
    to: "mode: 'observe', isFrozen: false",
    killedBy: 'test/unit/app/takeover/hand-back.test.ts: keeps a freeze that stood before',
  },
};
