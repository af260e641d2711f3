/**
 * What makes nodes of different clusters comparable: Kubernetes version, operating system and provider (rollouts facts 4). Pure.
 *
 * Versions as far as a release of either changes much: `v1.33`, `Ubuntu 22`, `Amazon Linux 2023`. The provider is told by the labels
 * that clouds put on their nodes, else by how the cluster is registered: its label `provider`, or EKS credentials. What a node does not
 * tell is a value of its own: those that tell nothing are compared with each other. Words of clusters: bounded, and never parsed further.
 */
import type { NodeProjection } from '../../model/projections.ts';
import type { ClusterRegistration } from '../../model/registration.ts';

/** By what nodes are told apart. */
export interface PoolFacts {
  readonly kubernetes: string;
  readonly os: string;
  readonly provider: string;
}

/** What is read of a registration. */
export interface ProvidedCluster {
  readonly labels: ClusterRegistration['labels'];
  readonly authentication: Pick<ClusterRegistration['authentication'], 'kind'>;
}

const WORD_CHARACTERS_MAX = 40;
const PROVIDER_LABEL = 'provider';

/** Prefixes of labels that a cloud puts on each of its nodes. */
const PROVIDERS = [
  ['eks.amazonaws.com/', 'eks'],
  ['cloud.google.com/', 'gke'],
  ['kubernetes.azure.com/', 'aks'],
] as const;

/** The facts of a node. */
export function poolFactsOf(
  { system, labels }: Pick<NodeProjection, 'system' | 'labels'>,
  cluster: ProvidedCluster,
): PoolFacts {
  return {
    kubernetes: bounded(/^v\d+\.\d+/.exec(system?.kubeletVersion ?? '')?.[0]),
    os: bounded(/^\D*\d*/.exec(system?.osImage ?? '')?.[0]),
    provider: bounded(providerOf(labels, cluster)),
  };
}

function providerOf(
  labels: NodeProjection['labels'],
  { labels: given, authentication }: ProvidedCluster,
): string | undefined {
  const keys = Object.keys(labels);
  const known = PROVIDERS.find(([prefix]) => keys.some((key) => key.startsWith(prefix)));
  if (known !== undefined) return known[1];
  if (Object.hasOwn(given, PROVIDER_LABEL)) return given[PROVIDER_LABEL];
  return authentication.kind === 'eks' ? 'eks' : undefined;
}

function bounded(text = ''): string {
  return text.trim().slice(0, WORD_CHARACTERS_MAX);
}

/** Nodes of one stratum are compared with each other. */
export function poolStratumOf({ kubernetes, os, provider }: PoolFacts): string {
  return `${kubernetes}/${os}/${provider}`;
}

/** The facts that all nodes of a cluster share, as if they were its labels. */
export function sharedFacts(nodes: readonly PoolFacts[]): Readonly<Partial<PoolFacts>> {
  const [first, ...others] = nodes;
  if (first === undefined) return {};
  const shared = (['kubernetes', 'os', 'provider'] as const).filter(
    (key) => first[key] !== '' && others.every((other) => other[key] === first[key]),
  );
  return Object.fromEntries(shared.map((key) => [key, first[key]]));
}
