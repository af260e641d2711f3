/**
 * A promise that did not hold in a simulated world: what the observer saw, or what did not settle.
 *
 * It is an error so that a test fails on it; programs that look for broken promises catch it and read `rule`.
 */

/** Which promise: its number; `bug` when code failed for a reason of its own. */
export type BrokenRule = `${'S' | 'L' | 'M'}${number}` | 'bug';

export class PromiseBroken extends Error {
  override readonly name = 'PromiseBroken';
  readonly rule: BrokenRule;
  /** What was seen, in one line or a few. */
  readonly finding: string;

  constructor(rule: BrokenRule, finding: string, tail: readonly string[] = []) {
    super([`${rule}: ${finding}`, ...tail].join('\n'));
    this.rule = rule;
    this.finding = finding;
  }
}

export function ruleOf(finding: string): BrokenRule {
  return (/^([SLM]\d+):/.exec(finding)?.[1] ?? 'bug') as BrokenRule;
}
