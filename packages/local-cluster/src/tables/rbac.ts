/**
 * The tables of roles and role bindings, in a namespace and cluster-wide.
 *
 * Roles have the plainest table there is: a name and a time.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './columns.ts';
import { timeSince } from './human-duration.ts';
import type { Cell, TableShape } from './table.ts';

interface BindingView {
  readonly metadata: ApiObject['metadata'];
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly SubjectView[];
}

interface SubjectView {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** The table of roles and cluster roles. */
export const ROLES_TABLE: TableShape = {
  columns: [NAME_COLUMN, column('Created At', 'When it was created.', 'date')],
  cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp],
};

/** The table of role bindings and cluster role bindings. */
export const BINDINGS_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Role', 'The role that is given.'),
    AGE_COLUMN,
    wideColumn('Users', 'Users that have it.'),
    wideColumn('Groups', 'Groups that have it.'),
    wideColumn('ServiceAccounts', 'Service accounts that have it.'),
  ],
  cells: bindingCells,
};

function bindingCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const { metadata, roleRef, subjects = [] } = object as ApiObject & BindingView;
  const named = (kind: string): string =>
    subjects
      .filter((subject) => subject.kind === kind)
      .map(nameOf)
      .join(', ');
  return [
    metadata.name,
    `${roleRef.kind}/${roleRef.name}`,
    timeSince(metadata.creationTimestamp, nowMs),
    named('User'),
    named('Group'),
    named('ServiceAccount'),
  ];
}

function nameOf({ kind, name, namespace = '' }: SubjectView): string {
  return kind === 'ServiceAccount' ? `${namespace}/${name}` : name;
}
