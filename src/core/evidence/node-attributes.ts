/**
 * By what nodes differ: attributes of labels and nodeInfo, and the stratum in which they are compared.
 *
 * Label keys are those that clouds and Karpenter set. An attribute that a node does not tell is absent, which is a value
 * of its own for nobody: it is neither ranked nor spread over.
 */
import type { NodeProjection } from '../model/projections.ts';

/** What attributes are read from. */
export type AttributedNode = Pick<NodeProjection, 'labels' | 'system'>;

/** Attributes with a name; any other text is a label key. */
export const ATTRIBUTES = [
  'zone',
  'kernel',
  'arch',
  'instance-type',
  'os-image',
  'runtime',
  'kubelet-version',
  'pool',
] as const;

/** The name of an attribute. */
export type AttributeName = (typeof ATTRIBUTES)[number];

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

const READERS: Readonly<Record<AttributeName, (node: AttributedNode) => string | undefined>> = {
  zone: (node) => labelOf(node, ZONE_LABEL),
  kernel: ({ system }) => told(system?.kernelVersion),
  arch: (node) => labelOf(node, ARCH_LABEL),
  'instance-type': (node) => labelOf(node, INSTANCE_TYPE_LABEL),
  'os-image': ({ system }) => told(system?.osImage),
  runtime: ({ system }) => told(system?.containerRuntimeVersion),
  'kubelet-version': ({ system }) => told(system?.kubeletVersion),
  pool: poolOf,
};

function isAttributeName(key: string): key is AttributeName {
  return Object.hasOwn(READERS, key);
}

/** A named attribute, or the value of the label `key`; undefined if the node does not tell. */
export function attributeOf(node: AttributedNode, key: string): string | undefined {
  return isAttributeName(key) ? READERS[key](node) : labelOf(node, key);
}

/** Zone and pool: nodes are compared with those that share both (rollouts facts 4). */
export function stratumOf(node: AttributedNode): string {
  return `${attributeOf(node, 'zone') ?? ''}/${attributeOf(node, 'pool') ?? ''}`;
}
