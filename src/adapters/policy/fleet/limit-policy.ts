/**
 * A policy as a fleet gives it to some clusters: one that goes no further than a canary of so many nodes, for its first stage; one
 * that waits for no approval and no window, for a way back.
 *
 * Everything else that it says stays, and the cluster is given the whole policy afterwards. A text that cannot be read stays as it is:
 * it holds the rollout in any case.
 */
import type { Share } from '../../../core/policy/rollout-policy.ts';
import { formatShare } from '../../../core/policy/share.ts';
import { readYaml } from '../read-yaml.ts';
import { isFields } from '../written-values.ts';

/** The policy's text, limited. */
export function limitPolicy(text: string, nodes: Share): string {
  const canary = { nodes: nodes.kind === 'count' ? nodes.count : formatShare(nodes) };
  return edited(text, (written) => ({ ...written, canary, approval: 'after-canary' }));
}

/** The policy's text, without what people or windows hold; the same text where they hold nothing. */
export function ungatePolicy(text: string): string {
  return edited(text, (policy) => {
    const { approval, window, ...others } = policy;
    return approval === undefined && window === undefined ? policy : others;
  });
}

type Fields = Readonly<Record<string, unknown>>;

function edited(text: string, edit: (written: Fields) => Fields): string {
  const yaml = readYaml(text);
  if (yaml.kind === 'invalid') return text;
  const written = isFields(yaml.value) ? yaml.value : {};
  const changed = edit(written);
  return changed === written ? text : JSON.stringify(changed);
}
