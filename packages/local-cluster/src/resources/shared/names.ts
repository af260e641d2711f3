/**
 * Which names and labels the API server takes: RFC 1123 labels and subdomains, qualified names, path segments.
 *
 * Each check lists what is wrong, in the API server's number and order, since each problem is a cause of its own. Texts
 * that passed are remembered, because the same labels and names are checked in request after request.
 */

/** Lists what is wrong with a text; empty when it is fine. */
export type TextCheck = (text: string) => readonly string[];

const LABEL = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_LENGTH_MAX = 63;
const SUBDOMAIN_LENGTH_MAX = 253;
const REMEMBERED_MAX = 8192;
const NO_PROBLEMS: readonly string[] = [];

const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const QUALIFIED_WORDS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** An RFC 1123 label: namespaces, containers, volumes. */
export const checkLabel: TextCheck = remembering((text) => [
  ...lengthProblems(text, LABEL_LENGTH_MAX),
  ...(LABEL.test(text)
    ? NO_PROBLEMS
    : [SUBDOMAIN.test(text) ? 'must not contain dots' : LABEL_WORDS]),
]);

/** An RFC 1123 subdomain: most objects' names. */
export const checkSubdomain: TextCheck = remembering((text) => [
  ...lengthProblems(text, SUBDOMAIN_LENGTH_MAX),
  ...(SUBDOMAIN.test(text) ? NO_PROBLEMS : [SUBDOMAIN_WORDS]),
]);

/** A label key, taint key or finalizer: `name` or `prefix/name`. */
export const checkQualifiedName: TextCheck = remembering((text) => {
  const parts = text.split('/');
  if (parts.length > 2) return ['a valid label key has at most one prefix'];
  const name = parts.at(-1) ?? '';
  const problems = parts.length === 2 ? prefixProblems(parts[0] ?? '') : [];
  if (name === '') problems.push('name part must be non-empty');
  problems.push(...lengthProblems(name, LABEL_LENGTH_MAX).map((it) => `name part ${it}`));
  if (!QUALIFIED.test(name)) problems.push(`name part ${QUALIFIED_WORDS}`);
  return problems;
});

/** A label's value; may be empty. */
export const checkLabelValue: TextCheck = remembering((text) => [
  ...lengthProblems(text, LABEL_LENGTH_MAX),
  ...(text === '' || QUALIFIED.test(text) ? NO_PROBLEMS : [`a valid label ${QUALIFIED_WORDS}`]),
]);

/** What can stand in a path: roles and their bindings are called whatever a path can hold. */
export const checkPathSegment: TextCheck = (text) => {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((it) => text.includes(it)).map((it) => `may not contain '${it}'`);
};

/** The name that a generateName would begin: a dash at its end stands for what is still to come. */
export function prefixOf(generateName: string): string {
  return generateName.endsWith('-') ? `${generateName.slice(0, -1)}a` : generateName;
}

function prefixProblems(prefix: string): string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return checkSubdomain(prefix).map((problem) => `prefix part ${problem}`);
}

function lengthProblems(text: string, lengthMax: number): readonly string[] {
  if (text.length <= lengthMax) return NO_PROBLEMS;
  return [`must be no more than ${String(lengthMax)} characters`];
}

function remembering(check: TextCheck): TextCheck {
  const passed = new Set<string>();
  return (text) => {
    if (passed.has(text)) return NO_PROBLEMS;
    const problems = check(text);
    if (problems.length > 0) return problems;
    if (passed.size >= REMEMBERED_MAX) passed.clear();
    passed.add(text);
    return NO_PROBLEMS;
  };
}
