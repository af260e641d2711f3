/** Canaries of start-up taints: what S19 must see of a taint that goes too early, or stays (issue 45). */
import type { Canary } from './canary.ts';

/** The canaries by name. */
export const START_UP_CANARIES: Readonly<Record<string, Canary>> = {
  'start-up-before-ready': {
    bug: 'a pod that is there counts as one that serves',
    at: 'src/core/start-up/start-up-done.ts#isServing',
    change: "isReady && phase === 'Running'",
    to: "(isReady || phase !== 'Failed')",
    breaks: ['S19'],
    in: 'start-ups',
    seedsMax: 10,
  },
  'start-up-for-one': {
    bug: 'the taint goes with the first DaemonSet that serves',
    at: 'src/app/reconcile/execute/remove-start-up-taints.ts#findDone',
    change: 'const sets = [{ set, pods }, ...others];',
    to: 'const sets = [{ set, pods }, ...others].slice(0, 1);',
    breaks: ['S19'],
    in: 'start-ups-of-sleepers',
    seedsMax: 10,
  },
  'start-up-of-the-former-node': {
    bug: 'a pod of the machine that had the name before counts for its successor',
    at: 'src/core/start-up/start-up-done.ts#isOfNode',
    change: 'createdAtMs >= node.createdAtMs',
    to: 'createdAtMs > 0',
    breaks: ['S19'],
    in: 'start-ups',
    seedsMax: 20,
  },
  'start-up-under-a-freeze': {
    bug: 'a run that begins under a freeze removes taints all the same',
    at: 'src/app/reconcile/execute/remove-start-up-taints.ts#removeStartUpTaints',
    change: "guardOfRegistration(registration, frozen).kind !== 'act'",
    to: "guardOfRegistration(registration).kind !== 'act'",
    breaks: ['S17'],
    in: 'start-ups-of-sleepers',
    firstSeed: 5,
    seedsMax: 40,
  },
};
