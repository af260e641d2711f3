/** The table of pod templates. */
import type { ApiObject } from '../objects/api-object.ts';
import { column, NAME_COLUMN } from './columns.ts';
import { formatLabels } from './label-texts.ts';
import type { Cell, TableShape } from './table.ts';

interface PodTemplateView {
  readonly template: {
    readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
    readonly spec: {
      readonly containers: readonly { readonly name: string; readonly image?: string }[];
    };
  };
}

/** The table of pod templates. */
export const POD_TEMPLATES_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Containers', 'Names of the containers of the template.'),
    column('Images', 'Images of the containers of the template.'),
    column('Pod Labels', 'Labels of the template.'),
  ],
  cells,
};

function cells(object: ApiObject): readonly Cell[] {
  const { metadata, template } = object as ApiObject & PodTemplateView;
  const { containers } = template.spec;
  return [
    metadata.name,
    containers.map(({ name }) => name).join(','),
    containers.map(({ image }) => image ?? '').join(','),
    formatLabels(template.metadata?.labels),
  ];
}
