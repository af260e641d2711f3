/** Numbers and names as `rollcall status` prints them. */

/** `19,988`. */
export function groupDigits(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

const NAMED_MAX = 3;

/** `a`, `a, b, c and 37 more`. */
export function namesText(names: readonly string[]): string {
  const more = names.length - NAMED_MAX;
  const shown = names.slice(0, NAMED_MAX).join(', ');
  return more > 0 ? `${shown} and ${groupDigits(more)} more` : shown;
}
