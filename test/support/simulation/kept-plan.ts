/**
 * Plans that once broke a promise, kept under test/regression/simulation and played by npm test: JSON of a line for each part, a step as
 * `kind dice waitMs`. A kept plan demands every fault that it names: when changes elsewhere move its opportunities, the fault is provoked
 * instead of silently left out (M1).
 */
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { presentCommit } from '../commit.ts';
import type { Fault, StepKind } from './deeds.ts';
import { parsePlan, type PlanStep, type SimulationPlan } from './plan.ts';
import type { PlayBroken } from './play-plan.ts';

/** Where kept plans are. */
export const KEPT_DIRECTORY = path.resolve(import.meta.dirname, '../../regression/simulation');

export interface KeptPlan {
  readonly broke: { readonly rule: string; readonly finding: string; readonly commit: string };
  readonly plan: SimulationPlan;
}

/** As it stands in the file. */
type KeptFile = Pick<KeptPlan, 'broke'> &
  Omit<SimulationPlan, 'steps'> & { readonly steps: readonly string[] };

/** Reads a kept plan; throws for names that nobody knows. */
export function readKept(file: string): KeptPlan {
  const { broke, ...kept } = JSON.parse(readFileSync(file, 'utf8')) as KeptFile; // the plan is checked next
  return { broke, plan: parsePlan({ ...kept, steps: kept.steps.map(stepOf) }) };
}

function stepOf(text: string): PlanStep {
  const [kind, dice, waitMs] = text.split(' ');
  return { kind: kind as StepKind, dice: Number(dice), waitMs: Number(waitMs) };
}

/** Writes the plan of a broken play to a directory, and answers the file's path. */
export function keepPlan({ plan, rule, finding }: PlayBroken, directory = KEPT_DIRECTORY): string {
  const demands = Object.keys(plan.faults) as Fault[];
  const kept: KeptFile = {
    broke: { rule, finding: finding.split('\n')[0] ?? '', commit: presentCommit() },
    ...plan,
    demands,
    steps: plan.steps.map(({ kind, dice, waitMs }) => `${kind} ${dice} ${waitMs}`),
  };
  const parts = Object.entries(kept).map(
    ([part, value]) => `${JSON.stringify(part)}: ${JSON.stringify(value)}`,
  );
  mkdirSync(directory, { recursive: true });
  const name = `${rule.toLowerCase()}-${plan.profile}-${plan.seed}.json`;
  const file = path.join(directory, name);
  writeFileSync(file, `{\n${parts.join(',\n')}\n}\n`);
  return file;
}
