/**
 * An invocation whose calls wait for their turn: one step is one call of one port, with its answer.
 *
 * Calls that a run makes side by side take their turns in the order in which it made them. What the run
 * has heard so far is kept as a digest: two runs that heard the same will do the same.
 */
import { createHash } from 'node:crypto';
import type { Passage } from '../simulation/gate.ts';
import type { World } from '../simulation/world.ts';
import { maskedText } from './masked-text.ts';

/** Virtual milliseconds that a step may take before the actor counts as stuck. */
const STEP_MS_MAX = 100;

export interface ActorPlan {
  /** One letter: schedules are written with it. */
  readonly letter: string;
  readonly invoke: (world: World) => Promise<unknown>;
}

export class Actor {
  readonly letter: string;
  /** What was called last: for people. */
  lastCall = 'nothing';
  isFinished = false;
  #heard = '';
  #inFlight = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #world: World;

  constructor(world: World, { letter, invoke }: ActorPlan) {
    this.letter = letter;
    this.#world = world;
    world.host.ruleFor = () => (passage) => this.#pass(passage);
    void invoke(world).then(() => {
      this.isFinished = true;
    });
    world.host.ruleFor = () => undefined;
  }

  /** Everything that this actor's next step depends on, beside the world. */
  get digest(): string {
    return `${this.letter}${String(this.isFinished)}${this.#waiting.length}${this.#heard}`;
  }

  /** Lets one call through and waits until the actor stands before its next, or has finished. */
  async step(): Promise<void> {
    this.#waiting.shift()?.();
    await this.arrive();
  }

  /** Waits until the actor stands before a call, or has finished. */
  async arrive(): Promise<void> {
    const { clock } = this.#world;
    await clock.advance(0);
    for (let ms = 0; this.#isMoving(); ms += 1) {
      if (ms > STEP_MS_MAX) throw new Error(`${this.letter} is stuck after ${this.lastCall}`);
      await clock.advance(1);
    }
  }

  #isMoving(): boolean {
    return !this.isFinished && (this.#inFlight > 0 || this.#waiting.length === 0);
  }

  #pass(passage: Passage): Promise<void> | undefined {
    if (passage.moment === 'after') {
      this.#inFlight -= 1;
      this.#hear(passage);
      return undefined;
    }
    return new Promise((resolve) => {
      this.#waiting.push(() => {
        this.#inFlight += 1;
        this.lastCall = `${passage.port}.${passage.operation}`;
        resolve();
      });
    });
  }

  #hear({ port, operation, output }: Passage): void {
    // Of a connection only that there is one: its calls are heard one by one.
    const text = port === 'connector' ? '' : maskedText(output);
    const next = `${this.#heard} ${port}.${operation} ${text}`;
    this.#heard = createHash('sha256').update(next).digest('base64url');
  }
}
