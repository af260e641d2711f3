/**
 * The API server of a local cluster without its network: store, rules, authorisation, in-process clients.
 *
 * The HTTPS server, the controllers and the node agents all go through the handler made here.
 */
import type { Clock } from '@rollcall/base/ports/clock.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { createAccessReviews } from '../access/access-reviews.ts';
import { createRbacAuthorizer } from '../access/rbac.ts';
import type { ApiHandler, RequestObserver } from '../api/request/api-request.ts';
import { createApiHandler } from '../api/create-api-handler.ts';
import { createClientFactory } from '../client/in-process-client.ts';
import type { ClientFactory } from '../client/local-client.ts';
import type { VersionOf } from '../client/request-targets.ts';
import { createDiscovery } from '../discovery/create-discovery.ts';
import { RESOURCES } from '../resources/all.ts';
import { createServedResources } from '../resources/custom/served-resources.ts';
import type { Resource } from '../resources/shared/resource.ts';
import { createSchema } from '../schema/create-schema.ts';
import { withCustomKinds } from '../schema/custom-schema.ts';
import type { Store } from '../store/store.ts';
import { memoized } from '../objects/memoized.ts';
import { withSimulatedAdmission } from './simulated-admission.ts';

/** What it is made on. */
export interface LocalApiOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly onRequest?: RequestObserver;
}

/** The API. */
export interface LocalApi {
  readonly handler: ApiHandler;
  readonly clients: ClientFactory;
  /** In which version clients ask for a resource. */
  readonly versionOf: VersionOf;
}

/** Composes it. */
export function createLocalApi({ store, clock, random, onRequest }: LocalApiOptions): LocalApi {
  const authorizer = createRbacAuthorizer(store);
  const resources = createServedResources(store, withSimulatedAdmission(RESOURCES));
  const find = memoized((served: readonly Resource[]) => ({
    custom: new Map(
      served.flatMap(({ group, version, kind, custom }) =>
        custom === undefined ? [] : [[`${group}/${version} ${kind}`, custom.schema] as const],
      ),
    ),
    // The first one is the preferred one.
    versions: new Map(
      served.toReversed().map(({ resourceName, version }) => [resourceName, version]),
    ),
  }));
  const schema = withCustomKinds(createSchema(), ({ group, version, kind }) =>
    find(resources()).custom.get(`${group}/${version} ${kind}`),
  );
  const discovery = createDiscovery({ resources });
  const reviews = createAccessReviews(authorizer);
  const handler = createApiHandler({
    store,
    resources,
    schema,
    authorizer,
    extra: (request, attributes) => reviews(request, attributes) ?? discovery(request, attributes),
    clock,
    random,
    ...(onRequest === undefined ? {} : { onRequest }),
  });
  const versionOf: VersionOf = (name) => find(resources()).versions.get(name) ?? 'v1';
  return { handler, clients: createClientFactory({ handler, versionOf }), versionOf };
}
