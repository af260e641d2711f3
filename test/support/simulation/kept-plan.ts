/**
 * Plans that once broke a promise, kept as JSON under test/regression/simulation and played by npm test.
 *
 * A kept plan demands every fault that it names: when changes elsewhere move its opportunities, the fault is provoked
 * instead of silently left out (M1).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { presentCommit } from '../commit.ts';
import type { Fault } from './deeds.ts';
import { parsePlan } from './plan.ts';
import type { SimulationPlan } from './plan.ts';
import type { PlayBroken } from './play-plan.ts';

/** Where kept plans are. */
export const KEPT_DIRECTORY = path.resolve(import.meta.dirname, '../../regression/simulation');

/** A plan with what it once did. */
export interface KeptPlan {
  readonly broke: { readonly rule: string; readonly finding: string; readonly commit: string };
  readonly plan: SimulationPlan;
}

/** Reads a kept plan; throws for names that nobody knows. */
export function readKept(file: string): KeptPlan {
  const kept = JSON.parse(readFileSync(file, 'utf8')) as KeptPlan; // the plan is checked next
  return { ...kept, plan: parsePlan(kept.plan) };
}

/** Writes the plan of a broken play to a directory, and answers the file's path. */
export function keepPlan({ plan, rule, finding }: PlayBroken, directory = KEPT_DIRECTORY): string {
  const demands = Object.keys(plan.faults) as Fault[];
  const kept: KeptPlan = {
    broke: { rule, finding: finding.split('\n')[0] ?? '', commit: presentCommit() },
    plan: { ...plan, demands },
  };
  mkdirSync(directory, { recursive: true });
  const name = `${rule.toLowerCase()}-${plan.profile}-${plan.seed}.json`;
  const file = path.join(directory, name);
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
  return file;
}
