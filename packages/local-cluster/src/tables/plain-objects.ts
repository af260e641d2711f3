/**
 * The tables of the plainer resources: a field or two between name and age.
 *
 * Priority classes are among them although their age is not the last column.
 */
import type { Json } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { AGE_COLUMN, column, NAME_COLUMN } from './columns.ts';
import { timeSince } from './human-duration.ts';
import type { Cell, Column, TableShape } from './table.ts';

/** The table of namespaces. */
export const NAMESPACES_TABLE = plainTable(
  [column('Status', 'Active or Terminating.')],
  (object) => [textOf(memberOf(object['status'], 'phase'))],
);

/** The table of what is stored and nothing more. */
export const STORED_TABLE = plainTable([], () => []);

/** The table of service accounts. */
export const SERVICE_ACCOUNTS_TABLE = plainTable([], () => []);

/** The table of config maps. */
export const CONFIG_MAPS_TABLE = plainTable([column('Data', 'How many entries.')], (object) => [
  sizeOf(object['data']) + sizeOf(object['binaryData']),
]);

/** The table of secrets. */
export const SECRETS_TABLE = plainTable(
  [column('Type', 'What the secret is for.'), column('Data', 'How many entries.')],
  (object) => [textOf(object['type']), sizeOf(object['data'])],
);

/** The table of leases. */
export const LEASES_TABLE = plainTable([column('Holder', 'Who holds it.')], (object) => [
  textOf(memberOf(object['spec'], 'holderIdentity')),
]);

/** The table of priority classes. */
export const PRIORITY_CLASSES_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Value', 'The priority; greater goes first.', 'integer'),
    column('Global-Default', 'For pods that name no class.', 'boolean'),
    AGE_COLUMN,
    column('PreemptionPolicy', 'Whether pods of this class drive others out.'),
  ],
  cells: (object, nowMs) => [
    object.metadata.name,
    typeof object['value'] === 'number' ? object['value'] : 0,
    object['globalDefault'] === true,
    timeSince(object.metadata.creationTimestamp, nowMs),
    textOf(object['preemptionPolicy']),
  ],
};

function plainTable(
  columns: readonly Column[],
  cells: (object: ApiObject) => readonly Cell[],
): TableShape {
  return {
    columns: [NAME_COLUMN, ...columns, AGE_COLUMN],
    cells: (object, nowMs) => [
      object.metadata.name,
      ...cells(object),
      timeSince(object.metadata.creationTimestamp, nowMs),
    ],
  };
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function sizeOf(value: Json | undefined): number {
  return isJsonObject(value) ? Object.keys(value).length : 0;
}
