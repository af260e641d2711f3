/**
 * What every cluster allows without a stored role: administrators everything, everybody who is authenticated discovery,
 * health, version and questions about themselves.
 *
 * Differs from Kubernetes: these are no objects (`kubectl get clusterroles` does not list them), and of the roles for
 * people only `cluster-admin` can be bound.
 */
import type { PolicyRule } from './policy-rules.ts';

/** The group that may do everything. */
export const ADMINISTRATORS_GROUP = 'system:masters';

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

const BASIC_USER: readonly PolicyRule[] = [
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
  },
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'] },
];

const DISCOVERY: readonly PolicyRule[] = [
  {
    verbs: ['get'],
    nonResourceURLs: [
      '/api',
      '/api/*',
      '/apis',
      '/apis/*',
      '/healthz',
      '/livez',
      '/openapi',
      '/openapi/*',
      '/readyz',
      '/version',
      '/version/',
    ],
  },
];

const PUBLIC_INFORMATION: readonly PolicyRule[] = [
  {
    verbs: ['get'],
    nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'],
  },
];

/** Rules of cluster roles that need not be stored; a stored one of that name wins. */
export const BUILT_IN_CLUSTER_ROLES: ReadonlyMap<string, readonly PolicyRule[]> = new Map([
  ['cluster-admin', EVERYTHING],
  ['system:basic-user', BASIC_USER],
  ['system:discovery', DISCOVERY],
  ['system:public-info-viewer', PUBLIC_INFORMATION],
]);

/** Who has which of them, without a stored binding. The binding has the role's name. */
export const BUILT_IN_BINDINGS: readonly { readonly role: string; readonly group: string }[] = [
  { role: 'cluster-admin', group: ADMINISTRATORS_GROUP },
  { role: 'system:basic-user', group: 'system:authenticated' },
  { role: 'system:discovery', group: 'system:authenticated' },
  { role: 'system:public-info-viewer', group: 'system:authenticated' },
  { role: 'system:public-info-viewer', group: 'system:unauthenticated' },
];
