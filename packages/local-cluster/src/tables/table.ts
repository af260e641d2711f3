/**
 * Server-side tables (`Accept: application/json;as=Table`): what `kubectl get` prints.
 *
 * Names, types and priorities of columns are the API server's. Differs from Kubernetes: their descriptions are short texts of
 * our own, which kubectl does not show.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';

/** A column; priority 0 is always shown, 1 with `-o wide`. */
export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'number' | 'date';
  readonly format?: string;
  readonly description: string;
  readonly priority: number;
}

/** A cell. */
export type Cell = string | number | boolean | null;

/** The table of one resource. */
export interface TableShape {
  readonly columns: readonly Column[];
  readonly cells: (object: ApiObject, nowMs: number) => readonly Cell[];
  /** TableRow.conditions: a pod that has ended is Completed. Undefined: no such member. */
  readonly rowConditions?: (object: ApiObject) => readonly JsonObject[] | undefined;
}

/** A column that is always shown. */
export function column(name: string, description: string, type: Column['type'] = 'string'): Column {
  return { name, type, format: '', description, priority: 0 };
}

/** A column that `-o wide` shows. */
export function wideColumn(name: string, description: string): Column {
  return { name, type: 'string', format: '', description, priority: 1 };
}

/** The object's name. */
export const NAME_COLUMN: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'Unique within a namespace.',
  priority: 0,
};

/** How long the object has been there. */
export const AGE_COLUMN: Column = column('Age', 'Time since the object was created.');
