/** Planted bugs of what the functions do beside the runs (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const APP_BUGS: PlantedBugs = {
  'explain-without-freeze': {
    bug: 'verdicts of a frozen cluster say that pods are being created',
    at: 'src/app/why/explain.ts#guardOfSet',
    change: 'const registered = guardOfSubject(registration, daemonSet, frozen);',
    to: "const registered = { kind: 'act' } as Guard;",
    killedBy: 'test/unit/app/why/explain.test.ts: tells that a frozen cluster waits, and why',
  },
  'hung-runs-go-on': {
    bug: 'a run goes on after an API server let it time out',
    at: 'src/app/isolation/talk-tally.ts#HANG_MS',
    to: '20_000',
    killedBy: 'test/unit/app/isolation/talk-tally.test.ts: is given up after one time-out',
  },
  'slow-servers-unmarked': {
    bug: 'a cluster whose requests take most of a run does not count as slow',
    at: 'src/app/isolation/talk-tally.ts#SLOW_MS',
    to: '50_000',
    killedBy:
      'test/unit/app/isolation/talk-tally.test.ts: is slow when its answers took five seconds',
  },
  'order-to-what-was': {
    bug: 'an order is given to what was there before somebody else wrote, and is lost for ever (17.9)',
    at: 'src/app/orders/order-home.ts#keepOrder',
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
