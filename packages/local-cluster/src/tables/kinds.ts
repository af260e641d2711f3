/**
 * The tables of all kinds but pods.
 *
 * Differs from Kubernetes: those that people look at have their columns, all others a name and an age.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Json } from '@rollcall/base/json.ts';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import { timeSince } from './human-duration.ts';
import { PODS_TABLE } from './pods.ts';
import { AGE_COLUMN, column, NAME_COLUMN, wideColumn } from './table.ts';
import type { Cell, Column, TableShape } from './table.ts';

interface EventView {
  readonly metadata: ApiObject['metadata'];
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly count?: number;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string | null };
  readonly source?: { readonly component?: string; readonly host?: string };
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly involvedObject: {
    readonly kind?: string;
    readonly name?: string;
    readonly fieldPath?: string;
  };
}

const EVENTS_TABLE: TableShape = {
  columns: [
    column('Last Seen', 'When it happened last.'),
    column('Type', 'Normal or Warning.'),
    column('Reason', 'Why, in a word.'),
    column('Object', 'What it is about.'),
    wideColumn('Subobject', 'Which part of it.'),
    wideColumn('Source', 'Who reports it.'),
    column('Message', 'What happened, for people.'),
    wideColumn('First Seen', 'When it happened first.'),
    wideColumn('Count', 'How often it happened.'),
    { ...NAME_COLUMN, priority: 1 },
  ],
  cells: eventCells,
};

function eventCells(object: ApiObject, nowMs: number): readonly Cell[] {
  const event = object as ApiObject & EventView;
  const { firstSeen, lastSeen, count } = occurrences(event, nowMs);
  return [
    lastSeen,
    event.type ?? '',
    event.reason ?? '',
    targetOf(event),
    event.involvedObject.fieldPath ?? '',
    sourceOf(event),
    (event.message ?? '').trim(),
    firstSeen,
    count,
    event.metadata.name,
  ];
}

function occurrences(
  event: EventView,
  nowMs: number,
): { readonly firstSeen: string; readonly lastSeen: string; readonly count: number } {
  const firstSeen = timeSince(event.firstTimestamp ?? event.eventTime, nowMs);
  if (event.series !== undefined) {
    const lastSeen = timeSince(event.series.lastObservedTime, nowMs);
    return { firstSeen, lastSeen, count: event.series.count ?? 0 };
  }
  const last = event.lastTimestamp ?? undefined;
  const lastSeen = last === undefined ? firstSeen : timeSince(last, nowMs);
  const { count = 0 } = event;
  return { firstSeen, lastSeen, count: count === 0 ? 1 : count };
}

function targetOf({ involvedObject: { kind = '', name = '' } }: EventView): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`;
}

function sourceOf({ source, reportingComponent, reportingInstance }: EventView): string {
  const component = firstSet(source?.component, reportingComponent);
  const instance = firstSet(source?.host, reportingInstance);
  return instance === '' ? component : `${component}, ${instance}`;
}

function firstSet(...texts: readonly (string | undefined)[]): string {
  return texts.find((text) => text !== undefined && text !== '') ?? '';
}

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

const NODES_TABLE: TableShape = {
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

const DAEMON_SETS_TABLE: TableShape = {
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

const CONTROLLER_REVISIONS_TABLE: TableShape = {
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

/** A label selector of an object. */
interface SelectorView {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

const NONE = '<none>';

/** `a=b,c=d` in order of keys, `<none>` without any. */
function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const texts = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return texts.length === 0 ? NONE : texts.toSorted().join(',');
}

/** The requirements in order of keys: `app=agent,tier in (a,b),!old`; `<none>` without any. */
function formatSelector(selector: SelectorView | undefined): string {
  const labels = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
    key,
    text: `${key}=${value}`,
  }));
  const expressions = (selector?.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({
    key,
    text: formatExpression({ key, operator, values }),
  }));
  const all = [...labels, ...expressions].toSorted((left, right) =>
    left.key === right.key ? 0 : left.key < right.key ? -1 : 1,
  );
  return all.length === 0 ? NONE : all.map(({ text }) => text).join(',');
}

function formatExpression(expression: {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}): string {
  const { key, operator } = expression;
  const values = expression.values.toSorted().join(',');
  switch (operator) {
    case 'In':
      return `${key} in (${values})`;
    case 'NotIn':
      return `${key} notin (${values})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
}

const NAMESPACES_TABLE = plainTable([column('Status', 'Active or Terminating.')], (object) => [
  textOf(memberOf(object['status'], 'phase')),
]);

/** The table of what is stored and nothing more. */
export const STORED_TABLE = plainTable([], () => []);

const CONFIG_MAPS_TABLE = plainTable([column('Data', 'How many entries.')], (object) => [
  sizeOf(object['data']) + sizeOf(object['binaryData']),
]);

const SECRETS_TABLE = plainTable(
  [column('Type', 'What the secret is for.'), column('Data', 'How many entries.')],
  (object) => [textOf(object['type']), sizeOf(object['data'])],
);

const LEASES_TABLE = plainTable([column('Holder', 'Who holds it.')], (object) => [
  textOf(memberOf(object['spec'], 'holderIdentity')),
]);

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

/** The table of a built-in kind. */
export function tableOf(resource: ResourceName): TableShape {
  return TABLES.get(resource) ?? STORED_TABLE;
}

const TABLES: ReadonlyMap<ResourceName, TableShape> = new Map<ResourceName, TableShape>([
  ['namespaces', NAMESPACES_TABLE],
  ['nodes', NODES_TABLE],
  ['pods', PODS_TABLE],
  ['events', EVENTS_TABLE],
  ['configmaps', CONFIG_MAPS_TABLE],
  ['secrets', SECRETS_TABLE],
  ['daemonsets.apps', DAEMON_SETS_TABLE],
  ['controllerrevisions.apps', CONTROLLER_REVISIONS_TABLE],
  ['leases.coordination.k8s.io', LEASES_TABLE],
]);
