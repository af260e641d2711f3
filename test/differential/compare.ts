/**
 * Holds two portraits against each other and names every difference by the comparison that found it. Pure.
 *
 * Pods are compared by node. While a rollout is under way (some pod is not of the newest revision, and the
 * strategy replaces pods by itself) the original picks some nodes at random: where nodes differ, and its order
 * allows that (rollout-order.ts), they are compared by count, and `unalignedNodes` tells which, so that no later step
 * depends on them. The other nodes are compared as ever.
 */
import { createHash } from 'node:crypto';
import type { PodPortrait, Portrait, SetPortrait } from './portrait.ts';
import { isPassedOver, isUnderWay } from './rollout-order.ts';
import { comparablePart, withoutAge, type Comparable } from './spoilt.ts';

export type Comparison =
  | 'sets'
  | 'placement'
  | 'pod-state'
  | 'pod-revision'
  | 'pod-kept'
  | 'pod-metadata'
  | 'pod-spec'
  | 'pod-count'
  | 'pod-order'
  | 'status'
  | 'generation'
  | 'set-metadata'
  | 'revisions'
  | 'revision-metadata'
  | 'ownerless'
  | 'late'
  | 'step-outcome';

export interface Difference {
  readonly comparison: Comparison;
  readonly subject: string;
  readonly original: unknown;
  readonly rollcall: unknown;
}

/** What two portraits have to say about each other. */
export interface ComparisonResult {
  readonly differences: readonly Difference[];
  /** Roles of nodes whose pods differ only in what the original's random order explains. */
  readonly unalignedNodes: ReadonlySet<string>;
}

interface Both<Value> {
  readonly original: Value;
  readonly rollcall: Value;
}

/** Compares as far as it makes sense. */
export function comparePortraits(drawn: Both<Portrait>, comparable: Comparable): ComparisonResult {
  const portraits = mapBoth(drawn, (portrait) => comparablePart(portrait, comparable));
  const { isKeptCompared } = comparable;
  const differences: Difference[] = [];
  const unalignedNodes = new Set<string>();
  const names = new Set([
    ...Object.keys(portraits.original.sets),
    ...Object.keys(portraits.rollcall.sets),
  ]);
  const note = createNote(differences);
  for (const name of names) {
    const original = portraits.original.sets[name];
    const rollcall = portraits.rollcall.sets[name];
    if (original === undefined || rollcall === undefined) {
      const isThere = (set: SetPortrait | undefined): string => (set ? 'there' : 'missing');
      note('sets', name, { original: isThere(original), rollcall: isThere(rollcall) });
      continue;
    }
    compareSets({ name, sets: { original, rollcall }, note });
    const found = comparePods({ name, sets: { original, rollcall }, note, isKeptCompared });
    for (const node of found) unalignedNodes.add(node);
  }
  note(
    'ownerless',
    'ownerless objects',
    mapBoth(portraits, (it) => it.ownerless),
  );
  return { differences, unalignedNodes };
}

type Note = (comparison: Comparison, subject: string, values: Both<unknown>) => void;

function createNote(differences: Difference[]): Note {
  return (comparison, subject, { original, rollcall }) => {
    if (canonical(original) === canonical(rollcall)) return;
    differences.push({ comparison, subject, original, rollcall });
  };
}

interface SetPair {
  readonly name: string;
  readonly sets: Both<SetPortrait>;
  readonly note: Note;
}

function compareSets({ name, sets, note }: SetPair): void {
  const compare = (comparison: Comparison, read: (set: SetPortrait) => unknown): void => {
    note(comparison, name, mapBoth(sets, read));
  };
  compare('generation', ({ generation, isDeleting }) => ({ generation, isDeleting }));
  compare('set-metadata', ({ annotations }) => annotations);
  compare('status', ({ status }) => status);
  compare('revisions', ({ revisions }) => revisions.map(({ number, data }) => ({ number, data })));
  compare('revision-metadata', ({ revisions }) =>
    revisions.map(({ number, labels, annotations, owners }) => ({
      number,
      labels,
      annotations,
      owners,
    })),
  );
}

/** Aspects of a pod, each a comparison of its own; the first that differs is reported. */
const ASPECTS: readonly (readonly [Comparison, (pod: PodPortrait) => unknown])[] = [
  ['placement', () => true],
  ['pod-revision', ({ revision }) => revision],
  ['pod-state', ({ phase, isReady, isDeleting }) => ({ phase, isReady, isDeleting })],
  [
    'pod-metadata',
    ({ labels, annotations, finalizers, owners }) => ({
      labels,
      annotations,
      finalizers,
      owners,
    }),
  ],
  ['pod-spec', ({ spec }) => spec],
];

function comparePods(input: SetPair & { readonly isKeptCompared: boolean }): readonly string[] {
  const { name, sets, note } = input;
  const nodes = [
    ...new Set([
      ...Object.keys(sets.original.podsByNode),
      ...Object.keys(sets.rollcall.podsByNode),
    ]),
  ].sort();
  const isRolling = isUnderWay(sets.original) || isUnderWay(sets.rollcall);
  const unaligned = nodes.filter((node) => {
    const { original, rollcall } = mapBoth(sets, (it) => aspectsAt(it, node));
    return canonical(original) !== canonical(rollcall);
  });
  if (unaligned.length > 0 && isRolling) {
    const ageless = mapBoth(sets, (set) => withoutAge({ ...NOBODY, sets: { set } }).sets['set']);
    note(
      'pod-count',
      name,
      mapBoth(ageless, (set) => countedPods(set?.podsByNode ?? {})),
    );
    compareOrder(input, { nodes, unaligned });
    return unaligned;
  }
  const aspects = [...ASPECTS];
  if (input.isKeptCompared) aspects.push(['pod-kept', ({ isKept }) => isKept]);
  for (const node of nodes) {
    for (const [comparison, read] of aspects) {
      const values = mapBoth(sets, (it) => sortedTexts((it.podsByNode[node] ?? []).map(read)));
      note(comparison, `${name} on ${node}`, values);
      if (canonical(values.original) !== canonical(values.rollcall)) break;
    }
  }
  return [];
}

/** What is decided although the rollout is under way: who may not be left, and that all others are the pods they were. */
function compareOrder(
  { name, sets, note, isKeptCompared }: SetPair & { readonly isKeptCompared: boolean },
  {
    nodes,
    unaligned,
  }: { readonly nodes: readonly string[]; readonly unaligned: readonly string[] },
): void {
  for (const node of unaligned) {
    note(
      'pod-order',
      `${name} on ${node}`,
      mapBoth(sets, (set) => (isPassedOver(set, node) ? 'passed over' : 'in order')),
    );
  }
  if (!isKeptCompared) return;
  for (const node of nodes.filter((it) => !unaligned.includes(it))) {
    note(
      'pod-kept',
      `${name} on ${node}`,
      mapBoth(sets, (it) => keptAt(it, node)),
    );
  }
}

function keptAt(set: SetPortrait, node: string): readonly unknown[] {
  return sortedTexts((set.podsByNode[node] ?? []).map(({ isKept }) => isKept));
}

const NOBODY: Portrait = { sets: {}, ownerless: [], podUids: new Set() };

function aspectsAt(set: SetPortrait, node: string): unknown {
  return sortedTexts((set.podsByNode[node] ?? []).map(withoutKept));
}

/**
 * Pods by what they are, counted; in words, as far as words tell them apart. Not by node: which of two nodes
 * goes first is chance, and the two may differ in what else they hold.
 */
function countedPods(podsByNode: SetPortrait['podsByNode']): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { nodes: 0 };
  const add = (text: string): void => {
    counts[text] = (counts[text] ?? 0) + 1;
  };
  for (const pods of Object.values(podsByNode)) {
    if (pods.some((pod) => !pod.isDeleting)) add('nodes');
    for (const pod of pods) add(describePod(pod));
  }
  return counts;
}

function describePod(pod: PodPortrait): string {
  const { revision, phase, isReady, isDeleting } = pod;
  const rest = createHash('sha256')
    .update(canonical(withoutKept(pod)))
    .digest('hex')
    .slice(0, 6);
  const words = [phase, isReady ? 'ready' : 'not ready', ...(isDeleting ? ['deleting'] : [])];
  return `revision ${revision} ${words.join(' ')} (${rest})`;
}

function withoutKept({ isKept: _isKept, ...rest }: PodPortrait): Omit<PodPortrait, 'isKept'> {
  return rest;
}

function sortedTexts(values: readonly unknown[]): readonly unknown[] {
  return [...values].sort((one, other) => (canonical(one) < canonical(other) ? -1 : 1));
}

function mapBoth<Value, Mapped>(both: Both<Value>, read: (value: Value) => Mapped): Both<Mapped> {
  return { original: read(both.original), rollcall: read(both.rollcall) };
}

/** JSON with sorted keys. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
