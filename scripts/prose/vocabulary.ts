/**
 * Words that a page does not use, with what it says instead (ADR 0078, docs/glossary.md).
 *
 * Names in code and words in quotation marks are not judged: a stored member may keep a name that readers no longer meet.
 */

/** A word, and the reason or the better word. */
interface Refused {
  readonly pattern: RegExp;
  readonly say: string;
}

/** Words of ours that were renamed, and turns of speech that no reader expects. */
const vocabulary: readonly Refused[] = [
  {
    pattern: /\b(?:somebody|nobody|whoever|whomever|everybody|anybody)\b/i,
    say: 'name the actor: the operator, the watcher, no run, each function that …',
  },
  { pattern: /\bhand(?:s|ed|ing)?-back\b/i, say: 'handover' },
  { pattern: /\brivals?\b/i, say: 'conflicting controller' },
  { pattern: /\bbreach(?:es|ed)?\b|\bonBreach\b/i, say: 'halt, why it halted, failed' },
  { pattern: /\bproven\b/i, say: 'good' },
  {
    pattern: /\b(?:a|the|each|every) shrinks?\b|\binterlocks?\b/i,
    say: 'mass removal, removal guard',
  },
  { pattern: /\bverdicts?\b/i, say: 'reason' },
  { pattern: /(?<!\btoken[ -]|-)\brenewers?\b(?!-)/i, say: 'token renewer' },
  { pattern: /\bbrakes?\b/i, say: 'stop' },
  { pattern: /\bwarmth\b/i, say: 'process cache' },
  { pattern: /\bledger\b/i, say: 'result of a run' },
  {
    pattern: /\b(?:theatre|portraits?|oracles?|dice)\b/i,
    say: 'fixture, snapshot, model, seeded random',
  },
  { pattern: /\bt(?:ells?|old) of\b/i, say: 'report, say, list' },
  { pattern: /\ban own\b/i, say: 'its own, a … of its own' },
  { pattern: /\bseldom\b/i, say: 'rarely' },
];

/** What a text without its quotations says that it should not: each word, and the better one. */
export function refusedWords(text: string): readonly string[] {
  return vocabulary.flatMap(({ pattern, say }) => {
    const word = pattern.exec(text)?.[0];
    return word === undefined ? [] : [`"${word}": ${say}`];
  });
}
