/** The states of docs/rollouts.md: which one a rollout is in, by its record and what it waits for, and which lead where. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OpenStep } from '../../src/core/model/rollout-record.ts';
import type { RolloutPhase } from '../../src/core/rollout/gate-words.ts';

const STEPS: Readonly<Record<OpenStep['kind'], string>> = {
  waiting: 'Canary',
  canary: 'Canary',
  group: 'Steps',
  // All are open, and pods of the last one are not available yet.
  done: 'Steps',
};

/** The word of a phase; of one that goes on, the step that is open. */
const PHASES: Readonly<Record<Exclude<RolloutPhase, 'Stopped' | 'Frozen' | 'Invalid'>, string>> = {
  Progressing: '',
  Waiting: 'Waits',
  Paused: 'Paused',
  Halted: 'Halted',
  Returning: 'Returning',
  Returned: 'Returned',
  Done: 'Done',
};

/** Which one it is in. */
export function stateOf(step: Pick<OpenStep, 'kind'>, phase: RolloutPhase): string {
  if (phase === 'Stopped' || phase === 'Frozen' || phase === 'Invalid')
    throw new Error(`${phase} keeps it as it was`);
  return PHASES[phase] === '' ? STEPS[step.kind] : PHASES[phase];
}

/** All of them. */
export const STATES: readonly string[] = [
  ...new Set([...Object.values(STEPS), ...Object.values(PHASES).filter((word) => word !== '')]),
].sort();

const PAGE = path.resolve(import.meta.dirname, '../../docs/rollouts.md');

/** The states that go on; one of them leads to what is outside, and is led to, as all do. */
const OPEN: ReadonlySet<string> = new Set(['Canary', 'Steps', 'Waits', 'Done']);

/** What the diagram calls that; `from` is `[*]` where a revision begins. */
export function transitionOf(from: string, to: string): string {
  const isInside = OPEN.has(from) && OPEN.has(to);
  const outside = (state: string): string => (!isInside && OPEN.has(state) ? 'Open' : state);
  return `${outside(from)} --> ${outside(to)}`;
}

/** `from --> to` of the diagram, each with what leads there; and the states that it draws. */
export function readDiagram(): {
  readonly transitions: ReadonlyMap<string, string>;
  readonly states: readonly string[];
} {
  const text = readFileSync(PAGE, 'utf8');
  const diagram = /```mermaid\nstateDiagram-v2\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const lines = [...diagram.matchAll(/^ *(\S+) --> (\w+): (.+)$/gm)];
  const states = lines.flatMap(([, from = '', to = '']) => [from, to]);
  return {
    transitions: new Map(lines.map(([, from, to, by = '']) => [`${from} --> ${to}`, by])),
    states: [...new Set(states)].filter((name) => name !== '[*]' && name !== 'Open').sort(),
  };
}
