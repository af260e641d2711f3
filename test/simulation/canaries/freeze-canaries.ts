/** Canaries of freezes: what S17 and L1 must see of a freeze that somebody does not obey, or whose end nobody notices (issue 18). */
import type { Canary } from './canary.ts';

/** The canaries by name. */
export const FREEZE_CANARIES: Readonly<Record<string, Canary>> = {
  'freeze-unread': {
    bug: 'a run that begins under a freeze of the stack does not look at it',
    at: 'src/core/may-act/registration-guard.ts#freezeInForce',
    change: "if (!isFrozen || ofStack?.scope === 'stack') return ofStack;",
    to: 'if (!isFrozen) return undefined;',
    breaks: ['S17'],
    in: 'freezes-of-stages',
    seedsMax: 10,
  },
  'freeze-not-fenced': {
    bug: 'a run that has begun sends all of its batches, whatever is frozen meanwhile (protocol 7)',
    at: 'src/app/reconcile/confirm/batch-fence.ts#findStop',
    change: 'if (frozen !== undefined) return stop(',
    to: "if (frozen?.scope === 'cluster') return stop(",
    breaks: ['S17'],
    in: 'freezes-of-sleepers',
    seedsMax: 20,
  },
  'freeze-outlives-its-thaw': {
    bug: 'what a frozen run saw counts as nothing new after the thaw (protocol 11, 13)',
    at: 'src/app/reconcile/read/skip.ts#memoOf',
    change: 'frozen === undefined ? hashOf(registration) : hashOf({ registration, frozen })',
    to: 'hashOf(registration)',
    breaks: ['L1'],
    in: 'stack-freezes',
    seedsMax: 20,
  },
  'freeze-of-others-names': {
    bug: 'a freeze by name is not looked up by its namespace and name',
    at: 'src/core/may-act/freeze.ts#freezeOf',
    change: "noteOfScope(freeze, { kind: 'daemon-set', namespace, name })",
    to: "noteOfScope(freeze, { kind: 'daemon-set', namespace: name, name: namespace })",
    breaks: ['S17'],
    in: 'freezes-in-chaos',
    seedsMax: 60,
  },
};
