/**
 * Server-side tables (`Accept: application/json;as=Table`): what `kubectl get` prints.
 *
 * One module per resource under tables/ gives columns and cells; the names, types and priorities are the API server's.
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
