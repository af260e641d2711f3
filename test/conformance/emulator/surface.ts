/**
 * What the differential suite compares: resources and verbs.
 *
 * A request outside it is not generated; discovery answers are compared for these resources only, because the real
 * API server serves many more.
 */

/** One compared collection. */
export interface Collection {
  readonly plural: string;
  /** '' for core. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly isNamespaced: boolean;
  /** GET, PUT and PATCH of `/status` exist. */
  readonly hasStatus: boolean;
  /** How often it is picked, against the others. */
  readonly weight: number;
}

const CORE = { group: '', version: 'v1' } as const;
const APPS = { group: 'apps', version: 'v1' } as const;
const LEASES = { group: 'coordination.k8s.io', version: 'v1' } as const;
const IN_NAMESPACE = { isNamespaced: true, hasStatus: false } as const;

/** The compared collections. */
export const COLLECTIONS: readonly Collection[] = [
  { ...CORE, plural: 'nodes', kind: 'Node', isNamespaced: false, hasStatus: true, weight: 5 },
  { ...CORE, plural: 'pods', kind: 'Pod', isNamespaced: true, hasStatus: true, weight: 8 },
  {
    ...CORE,
    plural: 'namespaces',
    kind: 'Namespace',
    isNamespaced: false,
    hasStatus: true,
    weight: 2,
  },
  { ...CORE, ...IN_NAMESPACE, plural: 'events', kind: 'Event', weight: 2 },
  { ...CORE, ...IN_NAMESPACE, plural: 'configmaps', kind: 'ConfigMap', weight: 2 },
  { ...CORE, ...IN_NAMESPACE, plural: 'secrets', kind: 'Secret', weight: 2 },
  { ...CORE, ...IN_NAMESPACE, plural: 'serviceaccounts', kind: 'ServiceAccount', weight: 1 },
  {
    ...APPS,
    plural: 'daemonsets',
    kind: 'DaemonSet',
    isNamespaced: true,
    hasStatus: true,
    weight: 6,
  },
  {
    ...APPS,
    ...IN_NAMESPACE,
    plural: 'controllerrevisions',
    kind: 'ControllerRevision',
    weight: 2,
  },
  { ...LEASES, ...IN_NAMESPACE, plural: 'leases', kind: 'Lease', weight: 2 },
];

/** The compared verbs, with how often each is picked. */
export const VERBS = {
  create: 14,
  'create dry-run': 2,
  'create generateName': 2,
  'create fieldValidation': 3,
  get: 6,
  'get table': 2,
  'get metadata': 1,
  list: 4,
  'list selectors': 4,
  'list pages': 3,
  'list table': 3,
  'list metadata': 1,
  watch: 2,
  'watch initial': 2,
  'watch expired': 1,
  update: 6,
  'update status': 4,
  'patch json': 4,
  'patch merge': 6,
  'patch strategic': 7,
  'patch status': 4,
  delete: 6,
  deletecollection: 1,
  eviction: 1,
  discovery: 1,
  'access review': 1,
  'other user': 1,
} as const;

/** One compared verb. */
export type ComparedVerb = keyof typeof VERBS;

/** Path of a collection, or of one object. */
export function pathOf(
  collection: Pick<Collection, 'group' | 'version' | 'plural'>,
  where: {
    readonly namespace?: string;
    readonly name?: string;
    readonly subresource?: string;
  } = {},
): string {
  const { group, version, plural } = collection;
  const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = where.namespace === undefined ? '' : `/namespaces/${where.namespace}`;
  const name = where.name === undefined ? '' : `/${where.name}`;
  const subresource = where.subresource === undefined ? '' : `/${where.subresource}`;
  return `${prefix}${scope}/${plural}${name}${subresource}`;
}
