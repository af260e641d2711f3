/**
 * Steps that read: get, list in all its forms, watch.
 */
import type { EpisodeContext, Draft, Place, StepBuilder } from './episode-context.ts';
import { collectionPathOf, objectPath, pickPlace } from './episode-context.ts';
import { CACHE_LAG_MS } from './writes.ts';
import { pathOf } from '../surface.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const PARTIAL = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json';
const PARTIAL_LIST =
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
const STRICT_ACCEPTS = [
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=Odd;v=v1;g=meta.k8s.io',
  'text/html',
  'application/*',
  '*/*',
];

/** Field selectors by collection, besides those on names. */
const FIELD_SELECTORS: Readonly<Record<string, readonly string[]>> = {
  pods: [
    'spec.nodeName=@prefix-one',
    'spec.nodeName!=@prefix-one',
    'spec.nodeName=',
    'status.phase=Pending',
    'status.phase!=Pending',
    'spec.restartPolicy=Always',
    'spec.schedulerName=default-scheduler',
    'spec.serviceAccountName=default',
    'spec.hostNetwork=true',
    'status.podIP=10.1.2.3',
    'status.nominatedNodeName=',
    'spec.containers=main',
  ],
  nodes: ['spec.unschedulable=true', 'spec.unschedulable=false', 'spec.podCIDR=10.1.0.0/24'],
  namespaces: ['status.phase=Active', 'status.phase=Terminating', 'name=@prefix-a'],
  events: [
    'involvedObject.kind=Pod',
    'involvedObject.name=one,involvedObject.namespace=@prefix-a',
    'involvedObject.uid=pod-uid',
    'involvedObject.fieldPath=spec.containers{main}',
    'reason=Started,type!=Warning',
    'type=Warning',
    'source=kubelet',
    'reportingComponent=example.com/reporter',
  ],
  secrets: ['type=Opaque', 'type!=Opaque'],
};

const NAME_SELECTORS = [
  'metadata.name=one',
  'metadata.name=@prefix-one',
  'metadata.name!=one',
  'metadata.name=one,metadata.name=two',
  'metadata.namespace=@prefix-a',
  'metadata.name=absent',
  'metadata.uid=x',
  'metadata.name',
  '=one',
  'metadata.name==two',
];

const LABEL_SELECTORS = [
  'tier=front',
  'tier==back',
  'tier!=front',
  'tier in (front,back)',
  'tier notin (front)',
  'tier',
  '!tier',
  'tier in ()',
  'tier in front',
  'tier=',
  'a=b=c',
  'bad key!=x',
  'tier=bad value!',
  'tier,tier=front,absent!=x',
  ',',
];

/** GET of one object. */
export const get: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const query = context.seeded.pick(['', '', '', '', '', '?resourceVersion=0', '?pretty=true']);
  return [read(`${objectPath(place)}${query}`, { note: 'get', lag: query })];
};

/** GET as a table, or in a form that cannot be had. */
export const getTable: StepBuilder = (context, collection) => {
  const { seeded } = context;
  const path = objectPath(pickPlace(context, collection));
  const accept = seeded.next() < 0.75 ? TABLE : seeded.pick(STRICT_ACCEPTS);
  const query = seeded.pick([
    '',
    '',
    '?includeObject=None',
    '?includeObject=Object',
    '?includeObject=Odd',
  ]);
  return [{ ...read(`${path}${query}`, { note: `get as ${accept}` }), accept }];
};

/** GET as PartialObjectMetadata. */
export const getMetadata: StepBuilder = (context, collection) => [
  {
    ...read(objectPath(pickPlace(context, collection)), { note: 'get metadata' }),
    accept: PARTIAL,
  },
];

/** LIST of a namespace, or of all of them by the episode's label. */
export const list: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const version = context.seeded.pick(['', '', 'resourceVersion=0', 'resourceVersion=']);
  return [read(scoped(context, place, version), { note: 'list', lag: version })];
};

/** LIST with label and field selectors. */
export const listSelectors: StepBuilder = (context, collection) => {
  const { seeded } = context;
  const place = pickPlace(context, collection);
  const selector = pickSelector(context, collection.plural);
  const more = seeded.next() < 0.2 ? `&${pickSelector(context, collection.plural)}` : '';
  return [read(scoped(context, place, `${selector}${more}`), { note: `list ${selector}${more}` })];
};

function pickSelector({ seeded, prefix }: EpisodeContext, plural: string): string {
  const own = FIELD_SELECTORS[plural] ?? [];
  const isLabel = seeded.next() < 0.45;
  const table = isLabel ? LABEL_SELECTORS : [...NAME_SELECTORS, ...own, ...own];
  const text = seeded.pick(table).replace('@prefix', prefix);
  return `${isLabel ? 'labelSelector' : 'fieldSelector'}=${encodeURIComponent(text)}`;
}

/** LIST in pages: the first, the next, and questions that make no sense. */
export const listPages: StepBuilder = (context, collection) => {
  const { seeded, nextId } = context;
  const place = pickPlace(context, collection);
  const limit = seeded.pick(['1', '2', '500', '0', '-1', 'abc']);
  const token = `{{continue ${nextId}}}`;
  const next = seeded.pick([
    `limit=1&continue=${token}`,
    `limit=1&continue=${token}`,
    `limit=5&continue=${token}`,
    `continue=${token}`,
    'limit=1&continue=not-a-token',
  ]);
  return [
    read(scoped(context, place, `limit=${limit}`), { note: `first page of ${limit}` }),
    read(scoped(context, place, next), { note: 'next page' }),
  ];
};

/** LIST as a table. */
export const listTable: StepBuilder = (context, collection) => {
  const place = pickPlace(context, collection);
  const query = context.seeded.pick([
    '',
    '',
    '',
    'limit=1',
    'includeObject=Object',
    'includeObject=None',
    'resourceVersion=0',
  ]);
  return [
    {
      ...read(scoped(context, place, query), { note: 'list as table', lag: query }),
      accept: TABLE,
    },
  ];
};

/** LIST as PartialObjectMetadataList. */
export const listMetadata: StepBuilder = (context, collection) => [
  {
    ...read(scoped(context, pickPlace(context, collection), ''), { note: 'list metadata' }),
    accept: PARTIAL_LIST,
  },
];

/** WATCH from a version or from now; open until the episode ends. */
export const watch: StepBuilder = (context, collection) => {
  const { seeded, nextId } = context;
  const place = pickPlace(context, collection);
  const selector = seeded.next() < 0.4 ? `&${pickSelector(context, collection.plural)}` : '';
  const form = seeded.pick(['', '', TABLE, PARTIAL]);
  const version = seeded.pick([
    `&resourceVersion={{listed ${nextId}}}`,
    `&resourceVersion={{listed ${nextId}}}`,
    `&resourceVersion={{listed ${nextId}}}&allowWatchBookmarks=true`,
    '',
    '&resourceVersion=0',
  ]);
  return [
    read(scoped(context, place, ''), { note: 'list' }),
    {
      ...read(scoped(context, place, `watch=true${version}${selector}`), {
        note: `watch ${version}${selector}`,
        lag: version,
      }),
      isWatch: true,
      settleMs: CACHE_LAG_MS,
      ...(form === '' ? {} : { accept: form }),
    },
  ];
};

/** WATCH that begins with what there is, and marks the end of that by a bookmark. */
export const watchInitial: StepBuilder = (context, collection) => {
  const query = context.seeded.pick([
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  ]);
  const path = scoped(context, pickPlace(context, collection), `watch=true&${query}`);
  const awaitsBookmark = /Events=true&.*NotOlderThan&allowWatchBookmarks/.test(query);
  return [
    {
      ...read(path, { note: `watch ${query}` }),
      isWatch: true,
      settleMs: CACHE_LAG_MS,
      awaitsBookmark,
    },
  ];
};

/**
 * WATCH from before history begins. Not of events: the real server keeps no cache of them, and how far back etcd
 * reaches is a matter of when it was compacted.
 */
export const watchExpired: StepBuilder = (context, collection) => {
  if (collection.plural === 'events') return [];
  const path = scoped(context, pickPlace(context, collection), 'watch=true&resourceVersion=1');
  return [{ ...read(path, { note: 'watch from version 1' }), isWatch: true }];
};

/** The collection's path with a query; always limited to the episode's own objects. */
function scoped(context: EpisodeContext, place: Place, query: string): string {
  const { collection } = place;
  if (!isWide(place)) return join(collectionPathOf(place), query);
  const own = `emulator%3D${context.prefix}`;
  // One labelSelector can be given only: the query's own joins the episode's.
  const joined = query.includes('labelSelector=')
    ? query.replaceAll('labelSelector=', `labelSelector=${own},`)
    : [`labelSelector=${own}`, query].filter((part) => part !== '').join('&');
  return join(pathOf(collection), joined);
}

/** Whether all namespaces are asked: of the place, so that the requests of one verb agree. */
function isWide({ collection, identity }: Place): boolean {
  return (
    !collection.isNamespaced ||
    (identity.name === 'three' && identity.namespace?.endsWith('-b') === true)
  );
}

function join(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`;
}

/** A GET; `lag` is a query that may be answered from the real server's cache. */
function read(
  path: string,
  { note, lag = '' }: { readonly note: string; readonly lag?: string },
): Draft {
  const isFromCache = lag.includes('resourceVersion') || lag === 'yes';
  return {
    note,
    actor: 'admin',
    method: 'GET',
    path,
    ...(isFromCache ? { settleMs: CACHE_LAG_MS } : {}),
  };
}
