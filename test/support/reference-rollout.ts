/**
 * The rolling update written a second time, naively and from the specification alone (spec 2.9), so
 * that the two can be held against each other. It shares no code with src/core: it claims, groups,
 * counts and reads the two tables in its own plain way. It says what may go and come, and how much of
 * it; in which order is not in the tables. Intents, back-off and bursts are not its business.
 *
 * One documented difference is in it: with surge, pods of vanished nodes count nowhere; with `strict`
 * an outdated one of them fails the step, as the specification has it.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { NodeProjection, PodProjection } from '../../src/core/model/projections.ts';
import { referencePlacement } from './reference-placement.ts';

export interface ReferenceInput {
  readonly daemonSet: DaemonSetObject;
  readonly nodes: readonly NodeProjection[];
  readonly pods: readonly PodProjection[];
  readonly currentHash: string;
  readonly nowMs: number;
  /** Pods that count as unavailable whatever they look like: a delete of them may be on its way. */
  readonly doomed?: ReadonlySet<string>;
}

/** What the tables allow. Pods by name, nodes by name; sorted. */
export interface ReferenceRollout {
  readonly desired: number;
  readonly maxUnavailable: number;
  readonly maxSurge: number;
  /** Nodes that count against maxUnavailable (no surge), or against maxSurge. */
  readonly unavailable: number;
  readonly surging: number;
  /** Pods that go whatever the budget says, and those of which `deletesMax` may. */
  readonly deletes: readonly string[];
  readonly candidates: readonly string[];
  readonly deletesMax: number;
  /** Surge: nodes that get a new pod whatever the budget says, and those of which `createsMax` may. */
  readonly creates: readonly string[];
  readonly createCandidates: readonly string[];
  readonly createsMax: number;
  /** Surge: pods of nodes that should not run any more; `vacatesMax` of them may go. */
  readonly vacates: readonly string[];
  readonly vacatesMax: number;
}

type Count = number | string | undefined;

/** maxUnavailable and maxSurge for this many desired nodes: both round up, never both zero. */
function referenceBudget(
  daemonSet: DaemonSetObject,
  desired: number,
): { readonly maxUnavailable: number; readonly maxSurge: number } {
  const { rollingUpdate } = daemonSet.spec.updateStrategy ?? {};
  const resolve = (count: Count): number => {
    if (typeof count === 'number') return count;
    return count === undefined ? 0 : Math.ceil((desired * Number.parseInt(count, 10)) / 100);
  };
  const maxSurge = resolve(rollingUpdate?.maxSurge);
  // The API server's default stands where nothing is said.
  const maxUnavailable = resolve(
    rollingUpdate?.maxUnavailable ?? (rollingUpdate?.maxSurge === undefined ? 1 : 0),
  );
  const isNothing = maxUnavailable === 0 && maxSurge === 0 && desired > 0;
  return { maxUnavailable: isNothing ? 1 : maxUnavailable, maxSurge };
}

/** The tables of spec 2.9 for one moment. */
export function referenceRollout(input: ReferenceInput): ReferenceRollout {
  const entries = entriesOf(input);
  const desired = entries.filter(({ runs }) => runs).length;
  const budget = referenceBudget(input.daemonSet, desired);
  const base = { ...NOTHING, desired, ...budget };
  if (budget.maxSurge === 0) return { ...base, ...withoutSurge(entries, budget.maxUnavailable) };
  const isStrict = input.daemonSet.metadata.annotations?.['rollcall.dev/compat'] === 'strict';
  const vanished = entries.filter(({ isVanished }) => isVanished);
  if (isStrict && vanished.some((entry) => rowOf(entry).kind === 'only-old')) return base;
  const counted = isStrict ? entries : entries.filter(({ isVanished }) => !isVanished);
  return { ...base, ...withSurge(counted, { desired, ...budget }) };
}

const NOTHING = {
  unavailable: 0,
  surging: 0,
  deletes: [],
  candidates: [],
  deletesMax: 0,
  creates: [],
  createCandidates: [],
  createsMax: 0,
  vacates: [],
  vacatesMax: 0,
};

/** A node with its pods that are not terminating, by what they are. */
interface Entry {
  readonly node: string;
  readonly runs: boolean;
  readonly isVanished: boolean;
  readonly updated: readonly PodProjection[];
  readonly old: readonly PodProjection[];
  readonly isAvailable: (pod: PodProjection) => boolean;
}

function entriesOf(input: ReferenceInput): readonly Entry[] {
  const { daemonSet, nodes, doomed } = input;
  const spec = daemonSet.spec.template.spec ?? {};
  const claimed = input.pods.filter((pod) => isClaimed(daemonSet, pod) && !isHeld(pod));
  const places = claimed.flatMap((pod) => pod.targetNode ?? pod.boundNode ?? []);
  const running = nodes.filter((node) => referencePlacement(spec, node) === 'run');
  const names = new Set<string>([...running.map(({ name }) => name), ...places]);
  return [...names].sort().map((node) => {
    const here = claimed.filter((pod) => (pod.targetNode ?? pod.boundNode) === node);
    const live = here.filter((pod) => !pod.isTerminating);
    return {
      node,
      runs: running.some(({ name }) => name === node),
      isVanished: !nodes.some(({ name }) => name === node),
      updated: live.filter((pod) => isUpdated(input, pod)),
      old: live.filter((pod) => !isUpdated(input, pod)),
      isAvailable: (pod) => doomed?.has(pod.name) !== true && isAvailable(input, pod),
    };
  });
}

function isClaimed(daemonSet: DaemonSetObject, pod: PodProjection): boolean {
  const wanted = daemonSet.spec.selector?.matchLabels ?? {};
  const isMatch = Object.keys(wanted).every((key) => pod.labels[key] === wanted[key]);
  if (pod.ownerUid === undefined) return isMatch && !pod.isTerminating;
  return pod.ownerUid === daemonSet.metadata.uid && isMatch;
}

function isHeld(pod: PodProjection): boolean {
  return pod.isTerminating && (pod.phase === 'Succeeded' || pod.phase === 'Failed');
}

function isUpdated({ daemonSet, currentHash }: ReferenceInput, pod: PodProjection): boolean {
  if (pod.labels['controller-revision-hash'] === currentHash) return true;
  const generation = daemonSet.metadata.annotations?.['deprecated.daemonset.template.generation'];
  return generation !== undefined && pod.labels['pod-template-generation'] === generation;
}

function isAvailable({ daemonSet, nowMs }: ReferenceInput, pod: PodProjection): boolean {
  if (!pod.isReady) return false;
  const minReadyMs = (daemonSet.spec.minReadySeconds ?? 0) * 1000;
  if (minReadyMs === 0) return true;
  return pod.readyChangedAtMs !== undefined && nowMs - pod.readyChangedAtMs >= minReadyMs;
}

type Row =
  | { readonly kind: 'not-ok' }
  | { readonly kind: 'neither' }
  | { readonly kind: 'only-new'; readonly fresh: PodProjection }
  | { readonly kind: 'only-old'; readonly old: PodProjection }
  | { readonly kind: 'both'; readonly fresh: PodProjection; readonly old: PodProjection };

function rowOf({ updated, old: formers }: Entry): Row {
  const [fresh] = updated;
  const [old] = formers;
  if (updated.length > 1 || formers.length > 1) return { kind: 'not-ok' };
  if (fresh !== undefined && old !== undefined) return { kind: 'both', fresh, old };
  if (fresh !== undefined) return { kind: 'only-new', fresh };
  return old === undefined ? { kind: 'neither' } : { kind: 'only-old', old };
}

function withoutSurge(
  entries: readonly Entry[],
  maxUnavailable: number,
): Pick<ReferenceRollout, 'unavailable' | 'deletes' | 'candidates' | 'deletesMax'> {
  let unavailable = 0;
  const deletes: string[] = [];
  const candidates: string[] = [];
  for (const entry of entries) {
    const row = rowOf(entry);
    if (row.kind === 'only-new' && entry.isAvailable(row.fresh)) continue;
    if (row.kind === 'only-old' && entry.isAvailable(row.old)) {
      candidates.push(row.old.name);
      continue;
    }
    unavailable += 1;
    if (row.kind === 'only-old') deletes.push(row.old.name);
  }
  const deletesMax = Math.max(0, maxUnavailable - unavailable);
  return { unavailable, deletes: deletes.sort(), candidates: candidates.sort(), deletesMax };
}

type Surging = Pick<
  ReferenceRollout,
  'surging' | 'deletes' | 'creates' | 'createCandidates' | 'createsMax' | 'vacates' | 'vacatesMax'
>;

function withSurge(
  entries: readonly Entry[],
  at: { readonly desired: number; readonly maxSurge: number },
): Surging {
  const named = (effect: SurgeEffect): readonly string[] =>
    entries.flatMap((entry) => {
      if (surgeEffectOf(entry) !== effect) return [];
      const row = rowOf(entry);
      return effect.startsWith('create') || !('old' in row) ? [entry.node] : [row.old.name];
    });
  const surging = named('surging').length;
  const available = entries.filter(hasAvailable).length;
  return {
    surging,
    deletes: named('deletes').toSorted(),
    creates: named('creates'),
    createCandidates: named('createCandidates'),
    createsMax: Math.max(0, at.maxSurge - surging),
    vacates: named('vacates').toSorted(),
    vacatesMax: Math.max(0, available - at.desired),
  };
}

type SurgeEffect = 'surging' | 'deletes' | 'creates' | 'createCandidates' | 'vacates' | 'nothing';

function surgeEffectOf(entry: Entry): SurgeEffect {
  const row = rowOf(entry);
  if (row.kind === 'not-ok') return 'surging';
  if (row.kind === 'both') return entry.isAvailable(row.fresh) ? 'deletes' : 'surging';
  if (row.kind !== 'only-old') return 'nothing';
  if (entry.isAvailable(row.old)) return entry.runs ? 'createCandidates' : 'vacates';
  return entry.runs ? 'creates' : 'deletes';
}

/** An ok node whose old pod is available, or its new pod if there is no old one. */
function hasAvailable(entry: Entry): boolean {
  const row = rowOf(entry);
  if (row.kind === 'not-ok' || row.kind === 'neither') return false;
  return entry.isAvailable(row.kind === 'only-new' ? row.fresh : row.old);
}
