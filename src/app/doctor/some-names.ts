/** How findings name many objects: the first five, and how many more there are. */
const NAMES_SHOWN = 5;

/** `a, b and 3 more`. */
export function someNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  const more = names.length - NAMES_SHOWN;
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}
