/**
 * Numbers every call that any function makes through its ports, and lets a plan step in at one of them.
 *
 * The worlds of one scene are equal up to the moment at which a fault happens, so a number that a
 * reference run gave to a passage names the same passage in the run with the fault. A plan whose number
 * comes up with another operation, or never, is a broken plan (M1).
 */
import type { Effect } from '../../../src/core/model/effects.ts';
import type { FunctionName } from '../simulation/function-host.ts';
import type { GateRule, Passage } from '../simulation/gate.ts';
import type { World } from '../simulation/world.ts';

export interface NumberedPassage {
  /** Counts passages of all invocations since `record` was called, from 1. */
  readonly index: number;
  readonly name: FunctionName;
  /** Counts invocations since then, from 1. */
  readonly invocation: number;
  readonly moment: Passage['moment'];
  readonly port: string;
  readonly operation: string;
  /** `reconcile#3 before access.execute create-pod agent-x`: for people, and for comparison (M1). */
  readonly text: string;
  /** Until when its requests may begin; of `execute` alone. */
  readonly deadlineMs?: number;
}

/** What a plan makes of a passage; throwing fails the call as its port would. */
export type PassageRule = (passage: NumberedPassage) => ReturnType<GateRule>;

export class PassageLog {
  readonly passages: NumberedPassage[] = [];
  #invocations = 0;
  #isRecording = true;

  constructor(world: World, rule: PassageRule = () => undefined) {
    world.host.ruleFor = (name) => {
      this.#invocations += 1;
      const invocation = this.#invocations;
      return (passage) => {
        if (!this.#isRecording) return undefined;
        const numbered = this.#number(passage, { name, invocation });
        this.passages.push(numbered);
        return rule(numbered);
      };
    };
  }

  /** Nothing is numbered, and nothing happens, any more. */
  stop(): void {
    this.#isRecording = false;
  }

  #number(
    { port, operation, moment, input }: Passage,
    by: { readonly name: FunctionName; readonly invocation: number },
  ): NumberedPassage {
    const index = this.passages.length + 1;
    const effects = operation === 'execute' ? ` ${effectsText(input[0] as readonly Effect[])}` : '';
    const limits = input[1] as { readonly deadlineMs?: number } | undefined;
    const deadlineMs = operation === 'execute' ? limits?.deadlineMs : undefined;
    const text = `${by.name}#${by.invocation} ${moment} ${port}.${operation}${effects}`;
    const passage = { index, ...by, moment, port, operation, text };
    return deadlineMs === undefined ? passage : { ...passage, deadlineMs };
  }
}

function effectsText(effects: readonly Effect[]): string {
  return effects.map(({ kind, name }) => `${kind} ${name}`).join(', ');
}
