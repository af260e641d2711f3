/**
 * The table of nodes: NAME STATUS ROLES AGE VERSION, and with `-o wide` addresses and software.
 *
 * A node without a Ready condition is Unknown; roles are read from labels alone.
 */
import type { ApiObject } from '../objects/api-object.ts';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './columns.ts';
import { timeSince } from './human-duration.ts';
import type { Cell, TableShape } from './table.ts';

interface NodeView {
  readonly metadata: ApiObject['metadata'];
  readonly spec: { readonly unschedulable?: boolean };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: Readonly<Record<string, string>>;
  };
}

const ROLE_LABEL_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';

/** The table of nodes. */
export const NODES_TABLE: TableShape = {
  columns: [
    NAME_COLUMN,
    column('Status', 'Whether the node is ready, and whether pods may be scheduled to it.'),
    column('Roles', 'Roles that its labels give it.'),
    AGE_COLUMN,
    column('Version', 'Version of its node agent.'),
    wideColumn('Internal-IP', 'First internal address.'),
    wideColumn('External-IP', 'First external address.'),
    wideColumn('OS-Image', 'Operating system.'),
    wideColumn('Kernel-Version', 'Kernel, and architecture.'),
    wideColumn('Container-Runtime', 'Container runtime and its version.'),
  ],
  cells: nodeCells,
};

function nodeCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const { metadata, spec, status } = object as ApiObject & NodeView;
  const { nodeInfo = {} } = status;
  const architecture = nodeInfo['architecture'] ?? '';
  const kernel = orUnknown(nodeInfo['kernelVersion']);
  return [
    metadata.name,
    `${readyWord(status)}${spec.unschedulable === true ? ',SchedulingDisabled' : ''}`,
    rolesOf(metadata.labels ?? {}),
    timeSince(metadata.creationTimestamp, nowMs),
    nodeInfo['kubeletVersion'] ?? '',
    addressOf(status, 'InternalIP'),
    addressOf(status, 'ExternalIP'),
    orUnknown(nodeInfo['osImage']),
    architecture === '' ? kernel : `${kernel} (${architecture})`,
    orUnknown(nodeInfo['containerRuntimeVersion']),
  ];
}

function readyWord({ conditions = [] }: NodeView['status']): string {
  const ready = conditions.findLast(({ type }) => type === 'Ready');
  if (ready === undefined) return 'Unknown';
  return ready.status === 'True' ? 'Ready' : 'NotReady';
}

function rolesOf(labels: Readonly<Record<string, string>>): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(labels)) {
    if (key.startsWith(ROLE_LABEL_PREFIX)) roles.add(key.slice(ROLE_LABEL_PREFIX.length));
    else if (key === ROLE_LABEL) roles.add(value);
  }
  roles.delete('');
  return roles.size === 0 ? '<none>' : [...roles].toSorted().join(',');
}

function addressOf({ addresses = [] }: NodeView['status'], wanted: string): string {
  return addresses.find(({ type }) => type === wanted)?.address ?? '<none>';
}

function orUnknown(text: string | undefined): string {
  return text === undefined || text === '' ? '<unknown>' : text;
}
