/**
 * Why an order to a rollout was not carried out, in words, of nodes and of clusters alike, each
 * with what to do next.
 *
 * Codes are public (docs/rollouts.md). None of these changed anything.
 */
import type { OrderRefusalCode } from '../../core/rollout/orders.ts';

type GivingRefusalCode =
  | OrderRefusalCode
  | 'nothing-good'
  /** What is rolled out is what is known to be good. */
  | 'runs-good'
  /** A resume would overrule a halt, and gives no reason. */
  | 'overrules'
  /** Others wrote faster than it could be read and written. */
  | 'busy';

/** A refusal. */
export interface OrderRefusal {
  readonly kind: 'refused';
  readonly code: GivingRefusalCode;
  readonly message: string;
  readonly remedy: string;
}

/** Of what rollout, and how its home calls things. */
export interface OrderSubject {
  readonly name: string;
  readonly release: 'revision' | 'release';
  readonly step: 'step' | 'stage';
  readonly command: (verb: 'status' | 'resume') => string;
  /** How a person goes back further. */
  readonly older: string;
}

type Words = readonly [
  message: (subject: OrderSubject) => string,
  remedy: (subject: OrderSubject) => string,
];

const lookAgain = ({ command }: OrderSubject): string => `Look again: ${command('status')}`;
const chooseOlder = ({ older }: OrderSubject): string => `Choose an older one yourself: ${older}`;

const WORDS: Readonly<Record<GivingRefusalCode, Words>> = {
  changed: [
    ({ name }) => `The rollout of ${name} has changed since you looked at it.`,
    (subject) => `Nothing was changed. ${lookAgain(subject)}`,
  ],
  'not-held': [({ name }) => `The rollout of ${name} is neither paused nor halted.`, lookAgain],
  halted: [
    ({ name, step }) => `The rollout of ${name} is halted, or on its way back: no ${step} opens.`,
    ({ command }) => `See why: ${command('status')}. Then resume it, or undo it.`,
  ],
  over: [({ name }) => `The rollout of ${name} is done.`, lookAgain],
  'not-next': [({ name, step }) => `That is not the next ${step} of ${name}.`, lookAgain],
  'nothing-waits': [({ name, step }) => `No ${step} of ${name} waits for approval.`, lookAgain],
  'nothing-good': [
    ({ name, release }) =>
      `No other ${release} of ${name} is good, so there is nothing to go back to.`,
    chooseOlder,
  ],
  'runs-good': [
    ({ name, release }) => `The ${release} of ${name} that is rolled out is the good one.`,
    chooseOlder,
  ],
  overrules: [
    ({ name }) =>
      `The rollout of ${name} is halted, and a resume overrules that. Nothing was changed.`,
    ({ command }) => `See why: ${command('status')}`,
  ],
  busy: [
    ({ name }) => `Others wrote the state of ${name} faster than it could be read and written.`,
    () => 'Nothing was changed; repeat the command.',
  ],
};

/** The refusal; `remedy` where more is known of what to do. */
export function refuseOrder(
  code: GivingRefusalCode,
  subject: OrderSubject,
  remedy?: string,
): OrderRefusal {
  const [message, usual] = WORDS[code];
  return { kind: 'refused', code, message: message(subject), remedy: remedy ?? usual(subject) };
}
