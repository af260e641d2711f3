/**
 * Why `rollcall rollout` cannot tell or do something in a cluster, in words, each with what to do
 * next.
 *
 * Codes are public (docs/reference/codes.md). None of these changed anything.
 */
import { formatKey } from '../../core/model/identifiers.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { OrderSubject } from '../orders/order-refusals.ts';

type RolloutRefusalCode =
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
  /** Rollcall may not change the template here. */
  | 'no-right'
  /** Nothing is held that could be confirmed. */
  | 'nothing-held';

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

export function subjectOf(key: DaemonSetKey): OrderSubject {
  const { cluster, namespace, name } = key;
  const rollout = `kubectl --namespace ${namespace} rollout`;
  const older = `${rollout} history daemonset/${name}, then ${rollout} undo daemonset/${name} --to-revision=N`;
  const command: OrderSubject['command'] = (verb) =>
    `rollcall rollout ${verb} ${cluster} ${namespace}/${name}`;
  return { name: formatKey(key), release: 'revision', step: 'step', command, older };
}

const statusOf = (key: DaemonSetKey): string => subjectOf(key).command('status');

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
  'no-right': [
    (name) =>
      `The revision of ${name} is refused from now on, also when it is applied again. Rollcall may not change the template: in this mode the way back is yours.`,
    ({ namespace, name }) =>
      `Find the good revision: kubectl --namespace ${namespace} rollout history daemonset/${name}`,
  ],
  'nothing-held': [
    (name) => `Nothing of ${name} is held that could be confirmed.`,
    (key) => `Look again: ${statusOf(key)}`,
  ],
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
