/** Draws from a table of what may happen to a set: each row with a weight, some only for sets whose rollouts end well. Pure. */
import type { Seeded } from '../conformance/scenarios/seeded.ts';
import type { Model } from './generate-model.ts';
import type { Operation } from './scenario.ts';

/** What may happen, how often, and whether only to sets whose rollouts end well. */
export type DrawRow = readonly [
  weight: number,
  needs: 'any' | 'calm',
  draw: (model: Model, set: string) => Operation,
];

/** One operation of the rows at the rate (0 to 1), none otherwise or where there is no set. */
export function drawRow(
  { rate, rows }: { readonly rate: number; readonly rows: readonly DrawRow[] },
  model: Model,
  seeded: Seeded,
): readonly Operation[] {
  if (seeded.next() >= rate || model.sets.size === 0) return [];
  const set = seeded.pick([...model.sets.keys()]);
  const isCalm = !model.isRefusing && model.sets.get(set) === false;
  const possible = rows.filter(([, needs]) => isCalm || needs === 'any');
  let rest = seeded.next() * possible.reduce((sum, [weight]) => sum + weight, 0);
  for (const [weight, , draw] of possible) {
    rest -= weight;
    if (rest < 0) return [draw({ ...model, seeded }, set)];
  }
  return [];
}
