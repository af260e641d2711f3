/**
 * The order of texts, the same on every machine, whatever its locale: by UTF-16 units, as decisions
 * sort, and as a person sorts names, for what is shown.
 */

/** Negative, zero or positive as `left` sorts before, with or after `right`. */
export function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

const NUMBERS = /(\d+)/;

/** The same as a person sorts names, numbers in them by their value: `local-2` comes before `local-10`. */
export function compareNatural(left: string, right: string): number {
  const [lefts, rights] = [left.split(NUMBERS), right.split(NUMBERS)];
  for (const [place, part] of lefts.entries()) {
    const other = rights[place];
    if (other === undefined) return 1;
    const isNumber = place % 2 === 1;
    const order = isNumber ? compareNumbers(part, other) : compareText(part, other);
    if (order !== 0) return order;
  }
  return lefts.length - rights.length || compareText(left, right);
}

/** Of digits; longer than a number holds exactly, as an account of AWS in a name may be. */
function compareNumbers(left: string, right: string): number {
  const [one, other] = [left, right].map((digits) => digits.replace(/^0+(?=\d)/, ''));
  return (one ?? '').length - (other ?? '').length || compareText(one ?? '', other ?? '');
}
