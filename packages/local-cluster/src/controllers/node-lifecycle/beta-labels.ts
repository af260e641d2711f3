/** The old labels of operating system and architecture, kept equal to the stable ones. */
import type { NodeView } from '../shared/object-views.ts';

const PAIRS = [
  { stable: 'kubernetes.io/os', beta: 'beta.kubernetes.io/os' },
  { stable: 'kubernetes.io/arch', beta: 'beta.kubernetes.io/arch' },
] as const;

/** Labels to set; empty when all is right. */
export function planBetaLabels(node: NodeView): Readonly<Record<string, string>> {
  const { labels = {} } = node.metadata;
  const wanted: Record<string, string> = {};
  for (const { stable, beta } of PAIRS) {
    const value = labels[stable];
    if (value !== undefined && labels[beta] !== value) wanted[beta] = value;
  }
  return wanted;
}
