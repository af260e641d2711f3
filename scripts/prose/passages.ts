/**
 * The prose of a page: its paragraphs, headings and cells of tables, as sentences with the lines on which they begin.
 *
 * Code becomes one word, a link becomes its text. Rules judge a sentence with each quotation as one word, so that a page can
 * cite a message or a word that is no longer used.
 */
import type { MicromarkToken } from 'markdownlint';

/** Where a sentence stands: a cell or a heading may be a fragment, a paragraph may not. */
type Place = 'paragraph' | 'heading' | 'cell';

/** One sentence of a page. */
export interface Sentence {
  readonly place: Place;
  /** Counted from 1, as markdownlint counts. */
  readonly line: number;
  /** On one line, without marks of emphasis. */
  readonly text: string;
}

const PLACES: Readonly<Record<string, Place>> = {
  paragraph: 'paragraph',
  atxHeadingText: 'heading',
  tableContent: 'cell',
};

/** Not the end of a sentence: abbreviations, and the dots of `1 …`. */
const NO_END = /(?:\b(?:e\.g|i\.e|etc|vs|cf|No|min|max|approx)\.|\.\.\.|…)$/;

/** Replaces markup by what a reader sees; line breaks stay. */
function plainOf(markdown: string): string {
  const breaksOf = (text: string): string => text.replace(/[^\n]/g, '');
  return markdown
    .replace(/(`+)(?!`)([\s\S]*?[^`])\1(?!`)/g, (code) => `Code${breaksOf(code)}`)
    .replace(/!?\[((?:[^[\]]|\[[^\]]*\])*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/<[/a-z!][^>]*>/g, breaksOf)
    .replace(/^[ \t]*>[ \t]?/gm, '')
    .replace(/\*\*|__|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])/g, '');
}

function sentencesOf(place: Place, startLine: number, markdown: string): Sentence[] {
  const text = plainOf(markdown);
  const sentences: Sentence[] = [];
  let start = 0;
  const close = (end: number): void => {
    const raw = text.slice(start, end);
    const skipped = start + raw.length - raw.trimStart().length;
    const line = startLine + text.slice(0, skipped).split('\n').length - 1;
    const flat = raw.replace(/\s+/g, ' ').trim();
    if (flat !== '') sentences.push({ place, line, text: flat });
    start = end;
  };
  for (const { index, 0: end } of text.matchAll(/[.!?][)"”*]*(?=\s)/g)) {
    if (!NO_END.test(text.slice(start, index + 1))) close(index + end.length);
  }
  close(text.length);
  return sentences;
}

/** All sentences of a page, from the tokens of its parse. */
export function readSentences(tokens: readonly MicromarkToken[]): Sentence[] {
  return tokens.flatMap((token) => {
    const place = PLACES[token.type];
    return place === undefined
      ? readSentences(token.children)
      : sentencesOf(place, token.startLine, token.text);
  });
}

/** How many words a sentence has: what has a letter or a digit, between spaces. */
export function countWords(text: string): number {
  return text.split(' ').filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

/** A sentence without what it quotes. */
export function unquoted(text: string): string {
  return text.replace(/"[^"]*"|“[^”]*”/g, 'Quote');
}
