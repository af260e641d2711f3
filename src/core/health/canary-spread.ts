/**
 * Which nodes try a revision first: as many different kinds as possible, while each stratum keeps
 * nodes to compare with; and by what nodes differ. A node comes first that shows most values which
 * no chosen one has and leaves a control in its stratum; then one that leaves none; then strata
 * take turns. Equals go by a hash of seed and name, never by the order of `nodes`.
 */
import type { NodeName } from '../model/identifiers.ts';
import type { NodeProjection } from '../model/projections.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { hash48 } from '@rollcall/base/hash48.ts';

export interface CanaryChoice {
  /** Nodes that run a pod of the DaemonSet, without those that the policy excludes. */
  readonly nodes: readonly NodeProjection[];
  /** How many, with those that were chosen before; fewer are chosen if fewer are Ready. */
  readonly count: number;
  /** Chosen before: they stay, Ready or not, while they are among `nodes`; what is new goes where they are not. */
  readonly before?: readonly NodeName[];
  /** Names of attributes (READERS) or label keys, the most telling first. */
  readonly spread: readonly string[];
  /** Names the rollout: the same seed chooses the same nodes. */
  readonly seed: string;
  /** `last`: cordoned nodes only when there are no others; they are about to go. */
  readonly cordoned: 'alike' | 'last';
}

interface Candidate {
  readonly name: NodeName;
  readonly stratum: string;
  readonly isCordoned: boolean;
  readonly rank: number;
  /** `attribute value`, in the order of the spread. */
  readonly values: readonly (string | undefined)[];
}

interface Chosen {
  readonly names: Set<NodeName>;
  readonly values: Set<string>;
  readonly perStratum: Map<string, number>;
  readonly sizes: ReadonlyMap<string, number>;
}

/** The canary, by name. */
export function chooseCanary(choice: CanaryChoice): readonly NodeName[] {
  const before = new Set(choice.before);
  const candidates = choice.nodes
    .filter((node) => before.has(node.name) || (node.isReady && !node.isTerminating))
    .map((node) => toCandidate(node, choice))
    .sort((left, right) => left.rank - right.rank || compareText(left.name, right.name));
  const chosen: Chosen = {
    names: new Set(),
    values: new Set(),
    perStratum: new Map(),
    sizes: countBy(candidates),
  };
  for (const candidate of candidates) if (before.has(candidate.name)) take(candidate, chosen);
  while (chosen.names.size < choice.count) {
    const next = best(candidates, chosen);
    if (next === undefined) break;
    take(next, chosen);
  }
  return [...chosen.names].sort(compareText);
}

function toCandidate(node: NodeProjection, { spread, seed, cordoned }: CanaryChoice): Candidate {
  return {
    name: node.name,
    stratum: stratumOf(node),
    isCordoned: cordoned === 'last' && node.unschedulable,
    rank: hash48(`${seed}/${node.name}`),
    values: spread.map((key) => {
      const value = attributeOf(node, key);
      return value === undefined ? undefined : `${key} ${value}`;
    }),
  };
}

function countBy(candidates: readonly Candidate[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { stratum } of candidates) sizes.set(stratum, (sizes.get(stratum) ?? 0) + 1);
  return sizes;
}

function take({ name, values, stratum }: Candidate, chosen: Chosen): void {
  chosen.names.add(name);
  for (const value of values) if (value !== undefined) chosen.values.add(value);
  chosen.perStratum.set(stratum, (chosen.perStratum.get(stratum) ?? 0) + 1);
}

/** The first candidate of the smallest score, in the order of their ranks. */
function best(candidates: readonly Candidate[], chosen: Chosen): Candidate | undefined {
  let found: Candidate | undefined;
  let least: readonly number[] = [];
  for (const candidate of candidates) {
    if (chosen.names.has(candidate.name)) continue;
    const score = scoreOf(candidate, chosen);
    if (found !== undefined && compareScores(score, least) >= 0) continue;
    found = candidate;
    least = score;
  }
  return found;
}

/** Smaller is better: cordoned, class, how many values are new, which of them, how much of the stratum is chosen. */
function scoreOf({ values, stratum, isCordoned }: Candidate, chosen: Chosen): readonly number[] {
  const isNew = values.map((value) => value !== undefined && !chosen.values.has(value));
  const newValues = isNew.filter(Boolean).length;
  const taken = chosen.perStratum.get(stratum) ?? 0;
  const size = chosen.sizes.get(stratum) ?? 0;
  const keepsControl = taken + 1 < size;
  const kind = (newValues > 0 ? 0 : 2) + (keepsControl ? 0 : 1);
  return [
    isCordoned ? 1 : 0,
    kind,
    -newValues,
    ...isNew.map((one) => (one ? 0 : 1)),
    taken / Math.max(1, size),
  ];
}

function compareScores(left: readonly number[], right: readonly number[]): number {
  for (const [at, value] of left.entries()) {
    const difference = value - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

type AttributedNode = Pick<NodeProjection, 'labels' | 'system'>;

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

/** Zone and pool: nodes are compared with those that share both. */
export function stratumOf(node: AttributedNode): string {
  return `${labelOf(node, ZONE_LABEL) ?? ''}/${poolOf(node) ?? ''}`;
}
