/**
 * The table of a custom kind: the name, and the columns that its definition asks for; without any, the age.
 *
 * Differs from Kubernetes: of JSONPath, members, indexes and filters by one text are read; a column that asks for more is
 * empty.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { timeSince } from './human-duration.ts';
import { STORED_TABLE } from './kinds.ts';
import { NAME_COLUMN } from './table.ts';
import type { Cell, Column, TableShape } from './table.ts';

const TYPES: readonly Column['type'][] = ['string', 'integer', 'boolean', 'number', 'date'];
/** `.name`, `['name']`, `[0]`, `[?(@.type=="Ready")]`. */
const STEP = /^(?:\.([\w-]+)|\['([^']+)'\]|\[(\d+)\]|\[\?\(@\.([\w-]+) ?== ?["']([^"']*)["']\)\])/;

/** Makes it of `additionalPrinterColumns`. */
export function customTable(definitions: readonly JsonObject[]): TableShape {
  if (definitions.length === 0) return STORED_TABLE;
  const columns = definitions.map(columnOf);
  const steps = definitions.map(({ jsonPath }) => stepsOf(textOf(jsonPath)));
  return {
    columns: [NAME_COLUMN, ...columns],
    cells: (object, nowMs) => [
      object.metadata.name,
      ...columns.map(({ type }, index) => {
        const value = (steps[index] ?? [() => undefined]).reduce<Json | undefined>(
          (at, step) => step(at),
          object,
        );
        return cellOf(value, type, nowMs);
      }),
    ],
  };
}

function columnOf({ name, type, format, description, priority }: JsonObject): Column {
  return {
    name: textOf(name),
    type: TYPES.find((one) => one === type) ?? 'string',
    ...(typeof format === 'string' ? { format } : {}),
    description: textOf(description),
    priority: typeof priority === 'number' ? priority : 0,
  };
}

type Step = (value: Json | undefined) => Json | undefined;

/** The way to a value; undefined for one that is not read here. */
function stepsOf(path: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let rest = path.startsWith('.') || path.startsWith('[') ? path : `.${path}`;
  while (rest !== '') {
    const match = STEP.exec(rest);
    if (match === null) return undefined;
    const [whole, plain, quoted, index, key, wanted] = match;
    const name = plain ?? quoted;
    if (name !== undefined) steps.push((value) => jsonMember(value, name));
    else if (index !== undefined) steps.push((value) => jsonItems(value)[Number(index)]);
    else if (key !== undefined) {
      steps.push((value) => jsonItems(value).find((item) => jsonMember(item, key) === wanted));
    }
    rest = rest.slice(whole.length);
  }
  return steps;
}

function cellOf(value: Json | undefined, type: Column['type'], nowMs: number): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'date') return typeof value === 'string' ? timeSince(value, nowMs) : '<invalid>';
  return isJsonObject(value) || Array.isArray(value) ? JSON.stringify(value) : (value as Cell);
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
