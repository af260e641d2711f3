/** Addresses of the page: each view has a path, and its filters are the query. */

/** A DaemonSet of one cluster. */
export interface SetAddress {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/** What is shown. */
export type Route =
  | { readonly view: 'fleet' | 'rollouts' | 'log' | 'plan' | 'coverage' }
  | ({ readonly view: 'rollout' | 'daemonset' } & SetAddress)
  | { readonly view: 'fleet-rollout'; readonly namespace: string; readonly name: string }
  | { readonly view: 'node'; readonly cluster: string; readonly node: string }
  | { readonly view: 'none'; readonly path: string };

/** Filters of a view. */
export type Query = Readonly<Record<string, string>>;

/** A place in the page. */
export interface Address {
  readonly route: Route;
  readonly query: Query;
}

const SINGLE: Readonly<Record<string, Route>> = {
  '': { view: 'fleet' },
  rollouts: { view: 'rollouts' },
  log: { view: 'log' },
  plan: { view: 'plan' },
  coverage: { view: 'coverage' },
};

/** Reads a path and a query, as `location` has them. */
export function parseAddress(path: string, search: string): Address {
  return { route: parseRoute(path), query: Object.fromEntries(new URLSearchParams(search)) };
}

function parseRoute(path: string): Route {
  const parts = decode(path) ?? [];
  const isWhole = parts.length <= 1 || parts.every((part) => part !== '');
  return (isWhole ? ROUTES[parts.length]?.(parts) : undefined) ?? { view: 'none', path };
}

/** By how many parts a path has. */
const ROUTES: Readonly<Record<number, (parts: readonly string[]) => Route | undefined>> = {
  1: ([view = '']) => (Object.hasOwn(SINGLE, view) ? SINGLE[view] : undefined),
  3: ([view, first = '', second = '']) => {
    if (view === 'fleets') return { view: 'fleet-rollout', namespace: first, name: second };
    return view === 'nodes' ? { view: 'node', cluster: first, node: second } : undefined;
  },
  4: ([view, cluster = '', namespace = '', name = '']) => {
    if (view === 'rollouts') return { view: 'rollout', cluster, namespace, name };
    return view === 'daemonsets' ? { view: 'daemonset', cluster, namespace, name } : undefined;
  },
};

/** Undefined: the path has an escape that is none. */
function decode(path: string): readonly string[] | undefined {
  const parts = path.replace(/^\/|\/$/g, '').split('/');
  try {
    return parts.map(decodeURIComponent);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** The path of a route. */
export function pathOf(route: Route): string {
  switch (route.view) {
    case 'fleet':
      return '/';
    case 'rollout':
      return join('rollouts', route.cluster, route.namespace, route.name);
    case 'daemonset':
      return join('daemonsets', route.cluster, route.namespace, route.name);
    case 'fleet-rollout':
      return join('fleets', route.namespace, route.name);
    case 'node':
      return join('nodes', route.cluster, route.node);
    case 'none':
      return route.path;
    default:
      return `/${route.view}`;
  }
}

function join(...parts: readonly string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** Path and query; filters that are empty are left out. */
export function formatAddress({ route, query }: Address): string {
  const kept = Object.entries(query).filter(([, value]) => value !== '');
  const search = new URLSearchParams(kept).toString();
  return `${pathOf(route)}${search === '' ? '' : `?${search}`}`;
}
