/** Sums and differences of what a model's functions used. Pure. */
import { MODEL_FUNCTIONS } from './model-world.ts';
import type { FunctionUse, ModelFunction, ModelUse } from './model-world.ts';

const FIELDS = [
  'invocations',
  'coldStarts',
  'billedMs',
  'readUnits',
  'writeUnits',
  'logWriteUnits',
  'readRequests',
  'writeRequests',
  'sqsRequests',
  'apiRequests',
] as const satisfies readonly (keyof FunctionUse)[];

/** What was used between two readings, divided by `times`. */
export function usedBetween(before: ModelUse, after: ModelUse, times = 1): ModelUse {
  return each((name, field) => (after[name][field] - before[name][field]) / times);
}

/** The mean of at least one. */
export function meanUse(uses: readonly ModelUse[]): ModelUse {
  return each((name, field) => uses.reduce((sum, use) => sum + use[name][field], 0) / uses.length);
}

/** Of one function alone. */
export function onlyOf(use: ModelUse, only: ModelFunction): ModelUse {
  return each((name, field) => (name === only ? use[name][field] : 0));
}

/** What was asked for by changes and timers, and not by the schedule. */
export function withoutResync(use: ModelUse): ModelUse {
  return each((name, field) => (name === 'resync' ? 0 : use[name][field]));
}

/** Of all functions. */
export function sumOf(use: ModelUse, field: keyof FunctionUse): number {
  return MODEL_FUNCTIONS.reduce((sum, name) => sum + use[name][field], 0);
}

function each(of: (name: ModelFunction, field: keyof FunctionUse) => number): ModelUse {
  const use = MODEL_FUNCTIONS.map((name) => [
    name,
    Object.fromEntries(FIELDS.map((field) => [field, of(name, field)])),
  ]);
  return Object.fromEntries(use) as ModelUse; // every function, every field
}
