/**
 * A policy that goes no further than a canary of so many nodes: what clusters of a fleet's first stage are given (issue 18).
 *
 * Everything else that it says stays. It goes on once the cluster is given the policy without this, with the next stage. A text that
 * cannot be read stays as it is: it holds the rollout in any case.
 */
import type { Share } from '../../../core/policy/rollout-policy.ts';
import { formatShare } from '../../../core/policy/share.ts';
import { readYaml } from '../read-yaml.ts';
import { isFields } from '../written-values.ts';

/** The policy's text, limited. */
export function limitPolicy(text: string, nodes: Share): string {
  const yaml = readYaml(text);
  if (yaml.kind === 'invalid') return text;
  const written = isFields(yaml.value) ? yaml.value : {};
  const canary = { nodes: nodes.kind === 'count' ? nodes.count : formatShare(nodes) };
  return JSON.stringify({ ...written, canary, approval: 'after-canary' });
}
