/**
 * Takes a Markdown document apart into its claims: rows of tables, items of lists, sentences of prose.
 *
 * Headings, code and the heads of tables claim nothing. Text is given as it stands, on one line. It knows only the Markdown
 * that this repository writes: no nested lists, no tables without a head.
 */

/** One claim and where it begins, lines counted from one. */
export interface Claim {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

interface Block {
  readonly line: number;
  readonly lines: string[];
}

const SENTENCE_END = /(?<=[.:;])\s+(?=[A-Z*`[])/;
/** Shorter ones are labels ("Differs:"), which say nothing alone. */
const CHARACTERS_MIN = 25;

/** The claims of a document in their order. */
export function claimsOf(file: string, markdown: string): readonly Claim[] {
  return blocksOf(markdown.split('\n')).flatMap(({ line, lines }) => {
    const text = lines.join(' ').replaceAll(/\s+/g, ' ').trim();
    const isSentences = !/^(?:\||[*-] |\d+\. )/.test(text);
    const texts = isSentences ? text.split(SENTENCE_END) : [text];
    return texts
      .filter((claim) => claim.length >= CHARACTERS_MIN)
      .map((claim) => ({ file, line, text: claim }));
  });
}

/** Some claims, different ones, by the seed alone; all of them if there are fewer. */
export function drawClaims(
  claims: readonly Claim[],
  { seed, count }: { readonly seed: number; readonly count: number },
): readonly Claim[] {
  const left = [...claims];
  let state = seed >>> 0;
  const below = (bound: number): number => {
    // The generator that Numerical Recipes gives for 32 bits: a draw for readers needs no better one.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
  return Array.from({ length: Math.min(count, claims.length) }, () =>
    left.splice(below(left.length), 1),
  ).flat();
}

/** Paragraphs, items and rows, without what claims nothing. */
function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let open: Block | undefined;
  let isCode = false;
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('```')) isCode = !isCode;
    const isRow = line.startsWith('|');
    const isItem = /^(?:[*-] |\d+\. )/.test(line);
    const claimsNothing = isCode || /^(?:```|#|<!--|\s*$)/.test(line) || isHead(lines, index);
    if (claimsNothing || isRow || isItem) open = undefined;
    if (claimsNothing) continue;
    if (open === undefined) {
      open = { line: index + 1, lines: [] };
      blocks.push(open);
    }
    open.lines.push(line);
    if (isRow) open = undefined;
  }
  return blocks;
}

/** The head of a table, or the line below it. */
function isHead(lines: readonly string[], index: number): boolean {
  const isRule = (line: string | undefined): boolean => /^\|[\s|:-]+\|$/.test(line ?? '');
  return isRule(lines[index]) || isRule(lines[index + 1]);
}
