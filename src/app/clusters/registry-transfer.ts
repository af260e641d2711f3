/**
 * Copies registrations between registries: everything of one, and what writing it to another would do.
 *
 * A copy is older than the cluster that it speaks of, or may be: a freeze set since then is not in it, and a cluster
 * handed back since then would be in takeover again. So whatever is written is frozen, unless who does it says
 * otherwise; a person looks, and lifts the freeze. What stands is never replaced without being asked for (S5, row 34).
 * Not copied: dead letters, sealed tokens (the next one comes within the hour), the view (a snapshot brings it).
 */
import { compareNatural } from '@rollcall/base/compare-natural.ts';
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import type { RegistryStore } from '../../ports/stores/registry-store.ts';

/** Every registration that can be read, and the others with the reason. */
export interface RegistryContent {
  readonly registrations: readonly ClusterRegistration[];
  /** Ids of registrations that cannot be read, each with the reason; no value of theirs. */
  readonly unreadable: readonly { readonly id: ClusterId; readonly reason: string }[];
}

/** Ids asked for at once, and registrations read side by side. */
const PAGE = 200;
const AT_ONCE = 32;

/** Ids of all clusters as a person sorts them, also of those whose registration cannot be read or is not there yet. */
export async function listEveryCluster(
  registry: Pick<RegistryStore, 'listClusters'>,
): Promise<readonly ClusterId[]> {
  const ids: ClusterId[] = [];
  let cursor: string | undefined;
  do {
    const page = await registry.listClusters({ limit: PAGE, ...defined({ cursor }) });
    ids.push(...page.clusters);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return ids.sort(compareNatural);
}

/** Reads every registration. Rejects when the store does not answer. */
export async function readRegistry(
  registry: Pick<RegistryStore, 'listClusters' | 'readCluster'>,
): Promise<RegistryContent> {
  const registrations: ClusterRegistration[] = [];
  const unreadable: { readonly id: ClusterId; readonly reason: string }[] = [];
  await sideBySide(await listEveryCluster(registry), AT_ONCE, async (id) => {
    try {
      const found = await registry.readCluster(id);
      if (found !== undefined) registrations.push(found);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'ItemUnreadableError') throw error;
      unreadable.push({ id, reason: error.message });
    }
  });
  const byId = (left: { readonly id: string }, right: { readonly id: string }): number =>
    compareNatural(left.id, right.id);
  return { registrations: registrations.sort(byId), unreadable: unreadable.sort(byId) };
}

interface TransferChoice {
  /** What becomes of the freeze: set on all, or as it was recorded. */
  readonly freeze: 'all' | 'as-recorded';
  /** What becomes of registrations that stand and differ. */
  readonly standing: 'keep' | 'replace';
}

function differences(left: ClusterRegistration, right: ClusterRegistration): readonly string[] {
  const [before, now] = [new Map(Object.entries(left)), new Map(Object.entries(right))];
  const names = [...new Set([...before.keys(), ...now.keys()])].sort();
  return names.filter((name) => textOf(before.get(name)) !== textOf(now.get(name)));
}

/** Text by which two values of a registration are compared: members in order of their names. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** What came of one registration. */
export interface Transferred {
  readonly id: ClusterId;
  /** `same`: stands as recorded, the freeze apart. `differs`: stands otherwise and is kept. */
  readonly result: 'written' | 'same' | 'differs' | 'lost' | 'uid-taken' | 'planned';
  /** Names of the fields that differ; of values nothing (S11). */
  readonly fields: readonly string[];
}

interface TransferTarget {
  readonly registry: Pick<RegistryStore, 'readCluster' | 'writeCluster'>;
  readonly choice: TransferChoice;
  /** `dry-run`: compares, and writes nothing. */
  readonly run: 'dry-run' | 'write';
  readonly signal: AbortSignal;
}

/** Writes registrations, each for itself; may be repeated. An abort leaves the rest out. */
export async function transferRegistrations(
  recorded: readonly ClusterRegistration[],
  target: TransferTarget,
): Promise<readonly Transferred[]> {
  const results: Transferred[] = [];
  await sideBySide(recorded, AT_ONCE, async (one) => {
    if (target.signal.aborted) return;
    results.push(await transferOne(one, target));
  });
  return results.sort((left, right) => compareNatural(left.id, right.id));
}

async function transferOne(
  recorded: ClusterRegistration,
  { registry, choice, run }: TransferTarget,
): Promise<Transferred> {
  const { id } = recorded;
  const standing = await registry.readCluster(id);
  // Who froze it, and why, is not part of a copy, nor is a rival (registry-document.ts).
  const always = ['configVersion', 'frozen', 'rival'];
  const ignored = choice.freeze === 'all' ? [...always, 'isFrozen'] : always;
  const differing = standing === undefined ? [] : differences(recorded, standing);
  const fields = differing.filter((field) => !ignored.includes(field));
  if (standing !== undefined && fields.length === 0) return { id, result: 'same', fields };
  if (standing !== undefined && choice.standing === 'keep')
    return { id, result: 'differs', fields };
  if (run === 'dry-run') return { id, result: 'planned', fields };
  const registration = { ...recorded, isFrozen: choice.freeze === 'all' || recorded.isFrozen };
  const written = await registry.writeCluster(registration, standing?.configVersion ?? 0);
  return { id, result: written, fields };
}
