/**
 * Whose deletions are timed in a copilot cluster: DaemonSets that opt in by the annotation and have strategy OnDelete.
 *
 * Every other one is only observed, and told so. With RollingUpdate the built-in controller rolls by itself, so two would
 * time the same pods: such a DaemonSet is never touched, whatever its annotation says. Rollcall changes no strategy.
 * Whether the annotation's value can be read is no matter of this: one that cannot holds the rollout.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { strategyTypeOf } from '../daemon-set/strategy.ts';
import type { Guard } from '../model/plan.ts';
import type { ClusterMode } from '../model/registration.ts';
import { POLICY_ANNOTATION, type PolicyReading } from '../policy/rollout-policy.ts';

/** What copilot does about a DaemonSet; all but `followed` are only observed. */
export type CopilotStanding = 'followed' | 'not-opted-in' | 'rolling-update';

export type NotFollowed = Exclude<CopilotStanding, 'followed'>;

/** By annotation and strategy alone. */
export function copilotStanding(daemonSet: DaemonSetObject): CopilotStanding {
  if (policyTextOf(daemonSet) === undefined) return 'not-opted-in';
  return strategyTypeOf(daemonSet) === 'OnDelete' ? 'followed' : 'rolling-update';
}

/** The policy of a DaemonSet, read; null: its object is unknown, so it has none. */
export function readPolicyOf(
  daemonSet: DaemonSetObject | null,
  reader: { read(text: string | undefined): PolicyReading },
): PolicyReading {
  return reader.read(daemonSet === null ? undefined : policyTextOf(daemonSet));
}

/** The policy as it stands in the annotation; undefined: there is none. */
export function policyTextOf({ metadata }: DaemonSetObject): string | undefined {
  return metadata.annotations?.[POLICY_ANNOTATION];
}

/** True where its rollouts are staged, or held while its policy cannot be read. */
export function isStagedBy(
  daemonSet: DaemonSetObject | null,
  policy: PolicyReading,
  mode: ClusterMode,
): boolean {
  if (policy.kind === 'none' || daemonSet === null || mode === 'observe') return false;
  return mode === 'takeover' || copilotStanding(daemonSet) === 'followed';
}

/** True where its rollout would be staged, and how cannot be read: nothing of it proceeds. */
export function isHeldByPolicy(
  daemonSet: DaemonSetObject | null,
  policy: PolicyReading,
  mode: ClusterMode,
): boolean {
  return policy.kind === 'invalid' && isStagedBy(daemonSet, policy, mode);
}

const MESSAGES: Readonly<Record<NotFollowed, string>> = {
  'not-opted-in':
    'The built-in controller looks after this DaemonSet, which does not opt in ' +
    `(annotation ${POLICY_ANNOTATION}); Rollcall only observes it.`,
  'rolling-update':
    `It has the annotation ${POLICY_ANNOTATION}, but its strategy is RollingUpdate: the built-in controller ` +
    'rolls it, and Rollcall only observes. To have its rollouts staged, set updateStrategy.type to OnDelete.',
};

/** What a person is told of a DaemonSet that is only observed. */
export function explainNotFollowed(standing: NotFollowed): string {
  return MESSAGES[standing];
}

/** Why nothing is done about a DaemonSet of a copilot cluster; undefined: its deletions are timed. */
export function copilotGuard(
  daemonSet: DaemonSetObject,
): Extract<Guard, { readonly kind: 'observe' | 'status-only' }> | undefined {
  const standing = copilotStanding(daemonSet);
  if (standing === 'followed') return undefined;
  return { kind: 'observe', code: standing, message: MESSAGES[standing] };
}
