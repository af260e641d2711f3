/** Titles of tests as they stand in a file's text; parts in `${…}` stay as they are written. */
const TITLE =
  /\b(?:test|it|describe)\(\s*(?:'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\]|\\.)*)")/g;

/** Every title in a test file. */
export function titlesIn(text: string): readonly string[] {
  return [...text.matchAll(TITLE)].map((match) => match[1] ?? match[2] ?? match[3] ?? '');
}

/** Numbers that a title names after a word: `row 5`, `rows 4, 5 and 7`, `faults 5`, `protocol 4–6`. */
export function numbersNamed(title: string, word: 'protocol' | 'row'): readonly number[] {
  const words = word === 'row' ? 'rows?|faults' : 'protocol';
  const lists = title.matchAll(new RegExp(`\\b(?:${words}) (\\d+(?:(?:, | and |–)\\d+)*)`, 'g'));
  return [...lists].flatMap((list) =>
    (list[1] ?? '').split(/, | and /).flatMap((part) => {
      const [first = 0, last = first] = part.split('–').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    }),
  );
}
