/**
 * By what nodes differ: attributes of labels and nodeInfo over which a canary is spread, and the stratum in which nodes are compared.
 *
 * Label keys are those that clouds and Karpenter set. An attribute that a node does not tell is absent: nothing is spread over it.
 */
import type { NodeProjection } from '../model/projections.ts';

type AttributedNode = Pick<NodeProjection, 'labels' | 'system'>;

/** Over which values a canary is spread unless its policy says otherwise. */
export const SPREAD_DEFAULT = ['zone', 'kernel', 'arch', 'instance-type'] as const;

const ZONE_LABEL = 'topology.kubernetes.io/zone';
const ARCH_LABEL = 'kubernetes.io/arch';
const INSTANCE_TYPE_LABEL = 'node.kubernetes.io/instance-type';

/** The first one that a node bears names its pool. */
const POOL_LABELS = [
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  INSTANCE_TYPE_LABEL,
] as const;

/** Text of a label or of nodeInfo; undefined if it is absent or empty. */
function told(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

function labelOf({ labels }: AttributedNode, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? told(labels[key]) : undefined;
}

function poolOf(node: AttributedNode): string | undefined {
  return POOL_LABELS.map((key) => labelOf(node, key)).find((value) => value !== undefined);
}

/** Attributes with a name; any other text is a label key. */
const READERS: ReadonlyMap<string, (node: AttributedNode) => string | undefined> = new Map([
  ['zone', (node) => labelOf(node, ZONE_LABEL)],
  ['kernel', ({ system }) => told(system?.kernelVersion)],
  ['arch', (node) => labelOf(node, ARCH_LABEL)],
  ['instance-type', (node) => labelOf(node, INSTANCE_TYPE_LABEL)],
  ['os-image', ({ system }) => told(system?.osImage)],
  ['runtime', ({ system }) => told(system?.containerRuntimeVersion)],
  ['kubelet-version', ({ system }) => told(system?.kubeletVersion)],
  ['pool', poolOf],
] satisfies [string, (node: AttributedNode) => string | undefined][]);

/** A named attribute, or the value of the label `key`; undefined if the node does not tell. */
export function attributeOf(node: AttributedNode, key: string): string | undefined {
  const read = READERS.get(key);
  return read === undefined ? labelOf(node, key) : read(node);
}

/** Zone and pool: nodes are compared with those that share both (rollouts facts 4). */
export function stratumOf(node: AttributedNode): string {
  return `${labelOf(node, ZONE_LABEL) ?? ''}/${poolOf(node) ?? ''}`;
}
