/**
 * Entries of what a run sends: `unknown` when its intents are recorded, told when their outcomes are.
 *
 * A run that is killed in between leaves its entries as they were recorded, which is the truth: they were to be sent, and it is unknown
 * what came of them.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { EffectEntry, EffectPart, LoggedEffect, LoggedOutcome } from '../model/log-entry.ts';
import type { DeleteReason } from '../model/plan.ts';

/** Names of a part at most. */
const NAMES_MAX = 16;

/** One request that is to be sent. */
export interface WantedEffect {
  readonly effect: LoggedEffect;
  /** The node; of a pod without one its name. */
  readonly name: string;
  readonly cause?: DeleteReason;
}

/** What came of one. */
export interface SentEffect extends Pick<WantedEffect, 'effect' | 'name'> {
  readonly came: LoggedOutcome;
  readonly code?: string;
}

/** Entries of a run, in the write that records its intents. */
export function entriesOf(
  wanted: readonly WantedEffect[],
  { atMs, run }: Pick<EffectEntry, 'atMs' | 'run'>,
): readonly EffectEntry[] {
  return [...Map.groupBy(wanted, ({ effect }) => effect)].map(([effect, all]) => {
    const causes = countCauses(all);
    const parts = [partOf('unknown', undefined, all)];
    return { kind: 'effect', effect, atMs, run, parts, ...defined({ causes }) };
  });
}

/** The same once it is known what came of them; one of which nothing was heard stays as it is. */
export function settledEntries(
  recorded: readonly EffectEntry[],
  sent: readonly SentEffect[],
): readonly EffectEntry[] {
  return recorded.flatMap((entry) => {
    const mine = sent.filter(({ effect }) => effect === entry.effect);
    return mine.length === 0 ? [] : [{ ...entry, parts: partsOf(mine) }];
  });
}

/** Parts of requests of one kind, the most frequent end first. */
function partsOf(sent: readonly SentEffect[]): readonly EffectPart[] {
  const groups = Map.groupBy(sent, ({ came, code }) => `${came}/${code ?? ''}`);
  return [...groups.values()]
    .flatMap((group) => {
      const [first] = group;
      return first === undefined ? [] : [partOf(first.came, first.code, group)];
    })
    .sort((left, right) => right.count - left.count);
}

function partOf(
  came: LoggedOutcome,
  code: string | undefined,
  members: readonly Pick<SentEffect, 'name'>[],
): EffectPart {
  const names = members.slice(0, NAMES_MAX).map(({ name }) => name);
  return { came, ...defined({ code }), count: members.length, names };
}

function countCauses(wanted: readonly WantedEffect[]): EffectEntry['causes'] {
  const causes = wanted.flatMap(({ cause }) => cause ?? []);
  if (causes.length === 0) return undefined;
  const groups = Map.groupBy(causes, (cause) => cause);
  return Object.fromEntries([...groups].map(([cause, all]) => [cause, all.length]));
}
