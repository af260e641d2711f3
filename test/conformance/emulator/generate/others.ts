/**
 * Steps beside the ordinary verbs: discovery, access reviews, requests of users with few rights.
 */
import type { Json } from '@rollcall/base/json.ts';
import { collectionPathOf, makeBody, objectPath, pickPlace } from './episode-context.ts';
import type { StepBuilder } from './episode-context.ts';

const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';

/** GET of discovery documents. */
export const discovery: StepBuilder = ({ seeded }) => {
  const path = seeded.pick([
    '/api',
    '/apis',
    '/api/v1',
    '/apis/apps',
    '/apis/apps/v1',
    '/apis/coordination.k8s.io',
    '/apis/coordination.k8s.io/v1',
    '/apis/apps/v2',
    '/apis/absent.example.com/v1',
    '/api/v1/absent',
    '/api/v2',
  ]);
  const isAggregated = path === '/api' || path === '/apis' ? seeded.next() < 0.5 : false;
  return [
    {
      resource: '',
      note: path,
      actor: 'admin',
      method: 'GET',
      path,
      ...(isAggregated ? { accept: AGGREGATED } : {}),
    },
  ];
};

/** POST of a SelfSubjectAccessReview. */
export const accessReview: StepBuilder = ({ seeded, prefix }) => {
  const spec = seeded.pick<Json>([
    { resourceAttributes: { verb: 'create', resource: 'pods', namespace: `${prefix}-a` } },
    { resourceAttributes: { verb: 'list', resource: 'nodes' } },
    {
      resourceAttributes: {
        verb: 'get',
        group: 'apps',
        resource: 'daemonsets',
        subresource: 'status',
      },
    },
    { resourceAttributes: { verb: '*', group: '*', resource: '*' } },
    { resourceAttributes: {} },
    { nonResourceAttributes: { path: '/version', verb: 'get' } },
    { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
    { resourceAttributes: { verb: 'get', resource: 'pods' }, nonResourceAttributes: { path: '/' } },
    {},
  ]);
  return [
    {
      resource: '',
      note: `may I ${JSON.stringify(spec)}`,
      actor: seeded.pick(['admin', 'functions', 'watcher']),
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: {
        kind: 'literal',
        value: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec },
      },
    },
  ];
};

/** The ordinary verbs by users who may do little: those of the shipped roles. */
export const otherUser: StepBuilder = (context, collection) => {
  const { seeded } = context;
  const place = pickPlace(context, collection);
  const actor = seeded.pick(['functions', 'watcher'] as const);
  const object = objectPath(place);
  const requests = [
    { method: 'GET', path: object },
    {
      method: 'GET',
      path: `${collectionPathOf(place)}?labelSelector=emulator%3D${context.prefix}`,
    },
    { method: 'DELETE', path: object },
    {
      method: 'DELETE',
      path: `${collectionPathOf(place)}?labelSelector=emulator%3D${context.prefix}`,
    },
  ] as const;
  const isCreation = seeded.next() < 0.3;
  const request = seeded.pick(requests);
  if (!isCreation) return [{ note: `${request.method} as ${actor}`, actor, ...request }];
  const value = makeBody(context, place);
  return [
    {
      note: `create as ${actor}`,
      actor,
      method: 'POST',
      path: collectionPathOf(place),
      body: { kind: 'literal', value },
    },
  ];
};
