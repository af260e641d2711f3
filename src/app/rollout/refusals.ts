/**
 * Why `rollcall rollout` cannot tell or do something, in words, each with what to do next.
 *
 * Codes are public (docs/cli.md). None of these changed anything.
 */
import { formatKey } from '../../core/model/identifiers.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { OrderRefusalCode } from '../../core/rollout/orders.ts';

/** Why not. */
export type RolloutRefusalCode =
  | 'unknown-cluster'
  | 'unknown-daemon-set'
  /** The cluster is registered, and nothing was heard of it. */
  | 'never-heard'
  /** No policy asks for stages. */
  | 'no-policy'
  /** There is a policy, and no run has begun a staged rollout by it. */
  | 'no-rollout'
  /** Rollcall only looks at this cluster. */
  | 'observed'
  /** `paused: true` stands in its policy. */
  | 'paused-by-policy'
  /** A fleet gave it to these nodes alone, and decides what follows. */
  | 'held-by-fleet'
  /** No step needs approval now. */
  | 'nothing-waits'
  | 'nothing-proven'
  /** The proven revision is the one that is rolled out. */
  | 'runs-proven'
  /** Rollcall may not change the template here. */
  | 'no-right'
  /** A resume would overrule a halt, and nobody said why. */
  | 'overrules'
  /** Nothing is held that could be confirmed. */
  | 'nothing-held'
  /** Others wrote faster than it could be read and written. */
  | 'busy'
  | OrderRefusalCode;

/** A refusal. */
export interface RolloutRefusal {
  readonly kind: 'refused';
  readonly code: RolloutRefusalCode;
  readonly message: string;
  readonly remedy: string;
}

type Words = readonly [
  message: (name: string, key: DaemonSetKey) => string,
  remedy: (key: DaemonSetKey) => string,
];

const statusOf = ({ cluster, namespace, name }: DaemonSetKey): string =>
  `rollcall rollout status ${cluster} ${namespace}/${name}`;
const lookAgain = (key: DaemonSetKey): string => `Look again: ${statusOf(key)}`;

const WORDS: Readonly<Record<RolloutRefusalCode, Words>> = {
  'unknown-cluster': [
    (_name, { cluster }) => `There is no cluster ${cluster} in this stack.`,
    () => 'List them with: rollcall cluster list',
  ],
  'unknown-daemon-set': [
    (name) => `There is no DaemonSet ${name}, as far as the view of its cluster tells.`,
    ({ cluster }) =>
      `Check namespace and name; how fresh the view is: rollcall cluster show ${cluster}`,
  ],
  'never-heard': [
    (name) => `Nothing was ever heard of the cluster of ${name}.`,
    ({ cluster }) => `Look at its watcher: rollcall cluster doctor ${cluster}`,
  ],
  'no-policy': [
    (name) => `${name} has no policy: its update is not staged, so there is nothing to order.`,
    () => 'Give it the annotation rollcall.dev/rollout; docs/rollouts.md shows one of three lines.',
  ],
  'no-rollout': [
    (name) => `No staged rollout of ${name} has begun yet.`,
    () => 'To hold the first one, write paused: true into its policy.',
  ],
  observed: [
    (name) =>
      `Rollcall only looks at the cluster of ${name} (mode observe): it rolls nothing there.`,
    ({ cluster }) => `See: rollcall cluster show ${cluster}`,
  ],
  'paused-by-policy': [
    (name) => `The rollout of ${name} is paused by its policy.`,
    () => 'Take paused: true out of its annotation rollcall.dev/rollout.',
  ],
  'held-by-fleet': [
    (name) => `The rollout of ${name} is held by its fleet. Nothing was changed.`,
    (key) => `See what the fleet waits for: ${statusOf(key)}`,
  ],
  'nothing-waits': [(name) => `No step of ${name} waits for approval.`, lookAgain],
  'nothing-proven': [
    (name) => `No revision of ${name} has been proven since it has a policy.`,
    ({ namespace, name }) =>
      `Choose one yourself: kubectl --namespace ${namespace} rollout history daemonset/${name}`,
  ],
  'runs-proven': [
    (name) => `The revision of ${name} that is rolled out is the proven one.`,
    ({ namespace, name }) =>
      `For an older one: kubectl --namespace ${namespace} rollout undo daemonset/${name}`,
  ],
  'no-right': [
    (name) =>
      `The revision of ${name} is refused from now on, also when it is applied again. Rollcall may not change the template: in this mode the way back is yours.`,
    ({ namespace, name }) =>
      `Find the proven revision: kubectl --namespace ${namespace} rollout history daemonset/${name}`,
  ],
  overrules: [
    (name) => `The rollout of ${name} is halted, and a resume overrules that. Nothing was changed.`,
    (key) => `See why: ${statusOf(key)}`,
  ],
  'nothing-held': [(name) => `Nothing of ${name} is held that could be confirmed.`, lookAgain],
  busy: [
    (name) => `Others wrote the state of ${name} faster than it could be read and written.`,
    () => 'Nothing was changed; repeat the command.',
  ],
  changed: [
    (name) => `The rollout of ${name} has changed since you looked at it.`,
    (key) => `Nothing was changed. ${lookAgain(key)}`,
  ],
  'not-held': [(name) => `The rollout of ${name} is neither paused nor halted.`, lookAgain],
  halted: [
    (name) => `The rollout of ${name} is halted, or on its way back: no step opens.`,
    (key) => `See why: ${statusOf(key)}. Then resume it, or undo it.`,
  ],
  over: [(name) => `The rollout of ${name} is done.`, lookAgain],
  'not-next': [(name) => `That is not the next step of ${name}.`, lookAgain],
};

/** The refusal for a DaemonSet; `remedy` where more is known of what to do. */
export function refuse(
  code: RolloutRefusalCode,
  key: DaemonSetKey,
  remedy?: string,
): RolloutRefusal {
  const [message, usual] = WORDS[code];
  return {
    kind: 'refused',
    code,
    message: message(formatKey(key), key),
    remedy: remedy ?? usual(key),
  };
}
