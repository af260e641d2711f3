/** Titles of tests as they stand in a file's text; parts in `${…}` stay as they are written. */
const TITLE = /\b(?:test|it|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g;

/** Every title in a test file. */
export function titlesIn(text: string): readonly string[] {
  return [...text.matchAll(TITLE)].map((match) => match[1] ?? match[2] ?? '');
}
