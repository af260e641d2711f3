/**
 * The tables of daemon sets and controller revisions.
 *
 * Counts come from the status as the controller wrote it; nothing is counted here.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './columns.ts';
import { timeSince } from './human-duration.ts';
import { formatLabels, formatSelector } from './label-texts.ts';
import type { SelectorView } from './label-texts.ts';
import type { Cell, TableShape } from './table.ts';

interface DaemonSetView {
  readonly metadata: ApiObject['metadata'];
  readonly spec: {
    readonly selector?: SelectorView;
    readonly template: {
      readonly spec: {
        readonly nodeSelector?: Readonly<Record<string, string>>;
        readonly containers: readonly { readonly name: string; readonly image?: string }[];
      };
    };
  };
  readonly status: Readonly<Record<string, number>>;
}

/** The table of daemon sets. */
export const DAEMON_SETS_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Desired', 'Nodes that should run a pod.', 'integer'),
    column('Current', 'Of these, nodes that have a pod.', 'integer'),
    column('Ready', 'Of these, nodes whose pod is ready.', 'integer'),
    column('Up-to-date', 'Nodes that have a pod of the newest template.', 'integer'),
    column('Available', 'Nodes whose pod has been ready for long enough.', 'integer'),
    column('Node Selector', 'Labels that a node must have.'),
    AGE_COLUMN,
    wideColumn('Containers', 'Names of the containers of the template.'),
    wideColumn('Images', 'Images of the containers of the template.'),
    wideColumn('Selector', 'Which pods belong to it.'),
  ],
  cells: daemonSetCells,
};

function daemonSetCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const { metadata, spec, status } = object as ApiObject & DaemonSetView;
  const { containers, nodeSelector } = spec.template.spec;
  return [
    metadata.name,
    status['desiredNumberScheduled'] ?? 0,
    status['currentNumberScheduled'] ?? 0,
    status['numberReady'] ?? 0,
    status['updatedNumberScheduled'] ?? 0,
    status['numberAvailable'] ?? 0,
    formatLabels(nodeSelector),
    timeSince(metadata.creationTimestamp, nowMs),
    containers.map(({ name }) => name).join(','),
    containers.map(({ image }) => image ?? '').join(','),
    formatSelector(spec.selector),
  ];
}

/** The table of controller revisions. */
export const CONTROLLER_REVISIONS_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Controller', 'Whose state it is.'),
    column('Revision', 'Which of its states, counted from 1.'),
    AGE_COLUMN,
  ],
  cells: (object, nowMs) => [
    object.metadata.name,
    controllerOf(object),
    typeof object['revision'] === 'number' ? object['revision'] : 0,
    timeSince(object.metadata.creationTimestamp, nowMs),
  ],
};

function controllerOf({ metadata }: ApiObject): string {
  const owner = (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
  if (owner === undefined) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash === -1 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${`${owner.kind}${group}`.toLowerCase()}/${owner.name}`;
}
