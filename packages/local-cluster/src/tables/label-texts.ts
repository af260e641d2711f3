/**
 * Labels and selectors as text, as tables show them.
 *
 * Pure; the order is that of keys, whatever the order in the object.
 */

/** A label selector of an object. */
export interface SelectorView {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const NONE = '<none>';

/** `a=b,c=d` in order of keys, `<none>` without any. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const texts = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return texts.length === 0 ? NONE : texts.toSorted().join(',');
}

/** The requirements in order of keys: `app=agent,tier in (a,b),!old`; `<none>` without any. */
export function formatSelector(selector: SelectorView | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({
    key,
    text: formatExpression({ key, operator, values }),
  }));
  const all = [...labels, ...expressions].toSorted((left, right) =>
    left.key === right.key ? 0 : left.key < right.key ? -1 : 1,
  );
  return all.length === 0 ? NONE : all.map(({ text }) => text).join(',');
}

function formatExpression(expression: {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}): string {
  const { key, operator } = expression;
  const values = expression.values.toSorted().join(',');
  switch (operator) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}
