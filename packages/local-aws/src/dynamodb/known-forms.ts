// Forms of writes that dynalite has accepted once: what it would check of the next one of that form is checked already.
//
// A form is all of a request but its values: the operation, its expressions, its names, and the type of each value. So reserved
// words, placeholders that nothing uses and expressions that nobody understands are refused by dynalite, as they always were.
// The least is kept: forms beyond the bound are asked about again.
import type { WireValue } from './statement.ts';

const FORMS_MAX = 500;

/** The fields of a write that have a form. */
export interface FormFields {
  readonly TableName?: string;
  readonly Item?: Readonly<Record<string, WireValue>>;
  readonly ConditionExpression?: string;
  readonly UpdateExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
  readonly ExpressionAttributeValues?: Readonly<Record<string, WireValue>>;
}

/** The form of a write. */
export function formOf(operation: string, fields: FormFields): string {
  return JSON.stringify([
    operation,
    fields.ConditionExpression,
    fields.UpdateExpression,
    fields.ExpressionAttributeNames,
    typesOf(fields.ExpressionAttributeValues),
    typesOf(fields.Item),
  ]);
}

function typesOf(values: Readonly<Record<string, WireValue>> | undefined): unknown {
  if (values === undefined) return undefined;
  return Object.entries(values).map(([name, value]) => [name, Object.keys(value)]);
}

/** What was accepted. */
export class KnownForms {
  readonly #forms = new Set<string>();

  has(form: string): boolean {
    return this.#forms.has(form);
  }

  add(form: string): void {
    if (this.#forms.size >= FORMS_MAX) this.#forms.clear();
    this.#forms.add(form);
  }
}
