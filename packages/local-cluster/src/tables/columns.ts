/**
 * Columns that tables share, and what builds a column in one line.
 *
 * Differs from Kubernetes: descriptions are our own short texts; kubectl does not show them.
 */
import type { Column } from './table.ts';

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
