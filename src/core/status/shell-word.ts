/** A text as one word of a command line that is printed, so that a shell takes it as it is. */

/** In single quotes, whatever it holds. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
