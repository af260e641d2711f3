/**
 * The client of the cluster's own parts (local-client.ts): builds the requests that kubectl would send and hands them to
 * the handler in the same process, without a network and without copies.
 *
 * A request is carried out when it is made and its outcome resolves in a later microtask; with a latency it is carried
 * out after that. Invariant: no call rejects for an answer of the API; what rejects is a bug.
 */
import assert from 'node:assert/strict';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type {
  ApiAnswer,
  ApiHandler,
  ApiRequest,
  PatchType,
  User,
} from '../api/request/api-request.ts';
import { isStatus } from '../api/request/statuses.ts';
import type { ApiObject, ObjectRef, ResourceName } from '../objects/api-object.ts';
import type {
  ClientFactory,
  ClientOutcome,
  DeleteOptions,
  LocalClient,
  ObservedChange,
  Observation,
  Selection,
} from './local-client.ts';
import { listItems, observe } from './observation.ts';
import { createRequestTargets } from './request-targets.ts';
import type { RequestTargets, VersionOf } from './request-targets.ts';

/** What clients stand on. */
export interface ClientFactoryOptions {
  readonly handler: ApiHandler;
  /** By default v1. */
  readonly versionOf?: VersionOf;
  /** Awaited before each call, for tests and drills; watches have none. */
  readonly latency?: () => Promise<void>;
}

/** Makes the factory; clients of one user may be opened any number of times. */
export function createClientFactory(options: ClientFactoryOptions): ClientFactory {
  const targets = createRequestTargets(options.versionOf ?? (() => 'v1'));
  return { clientFor: (user) => new InProcessClient({ ...options, targets }, user) };
}

const CONTENT_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

type Call = Pick<ApiRequest, 'method' | 'target' | 'contentType' | 'body'>;

class InProcessClient implements LocalClient {
  readonly #handler: ApiHandler;
  readonly #latency: (() => Promise<void>) | undefined;
  readonly #targets: RequestTargets;
  readonly #user: User;
  readonly #userAgent: string;

  constructor(
    { handler, latency, targets }: ClientFactoryOptions & { readonly targets: RequestTargets },
    user: User,
  ) {
    this.#handler = handler;
    this.#targets = targets;
    this.#latency = latency;
    this.#user = user;
    this.#userAgent = user.name.slice(user.name.lastIndexOf(':') + 1);
  }

  get(ref: ObjectRef): Promise<ClientOutcome> {
    return this.#call({ method: 'GET', target: this.#targets.object(ref) });
  }

  async list(selection: Selection): Promise<readonly ApiObject[]> {
    await this.#latency?.();
    const answer = this.#handle({ method: 'GET', target: this.#targets.selection(selection) });
    return listItems(answer, selection).items;
  }

  create(resource: ResourceName, object: JsonObject): Promise<ClientOutcome> {
    const namespace = namespaceOf(object);
    const target = this.#targets.collection({
      resource,
      ...(namespace === undefined ? {} : { namespace }),
    });
    return this.#call({ method: 'POST', target, body: object });
  }

  update(ref: ObjectRef, object: JsonObject, subresource?: string): Promise<ClientOutcome> {
    return this.#call({
      method: 'PUT',
      target: this.#targets.object(ref, subresource),
      body: object,
    });
  }

  updateStatus(ref: ObjectRef, object: JsonObject): Promise<ClientOutcome> {
    return this.update(ref, object, 'status');
  }

  patch(
    ref: ObjectRef,
    patch: { readonly type: PatchType; readonly body: Json; readonly subresource?: string },
  ): Promise<ClientOutcome> {
    const target = this.#targets.object(ref, patch.subresource);
    const manager = encodeURIComponent(this.#userAgent);
    return this.#call({
      method: 'PATCH',
      // Only apply demands the name of a field manager.
      target: patch.type === 'apply' ? `${target}?fieldManager=${manager}&force=true` : target,
      contentType: CONTENT_TYPES[patch.type],
      body: patch.body,
    });
  }

  delete(ref: ObjectRef, options?: DeleteOptions): Promise<ClientOutcome> {
    return this.#call({
      method: 'DELETE',
      target: this.#targets.object(ref),
      ...(options === undefined ? {} : { body: deleteBody(options) }),
    });
  }

  act(ref: ObjectRef, subresource: string, body: JsonObject): Promise<ClientOutcome> {
    return this.#call({ method: 'POST', target: this.#targets.object(ref, subresource), body });
  }

  observe(selection: Selection, onChange: (change: ObservedChange) => void): Observation {
    return observe({
      selection,
      targets: this.#targets,
      onChange,
      request: (target) => this.#handle({ method: 'GET', target }),
    });
  }

  async #call(call: Call): Promise<ClientOutcome> {
    if (this.#latency !== undefined) await this.#latency();
    return outcomeOf(this.#handle(call), call);
  }

  #handle(call: Call): ApiAnswer {
    return this.#handler.handle({ ...call, user: this.#user, userAgent: this.#userAgent });
  }
}

function outcomeOf(answer: ApiAnswer, call: Call): ClientOutcome {
  assert(answer.kind === 'object', `${call.method} ${call.target} answered with a ${answer.kind}`);
  const { body, status } = answer;
  if (status >= 400) {
    assert(isStatus(body), `${call.method} ${call.target} answered ${status} without a Status`);
    return { kind: 'refused', status: body };
  }
  // An object, or the Success Status of a deletion or binding, which callers do not look into.
  return { kind: 'ok', object: body as ApiObject };
}

function namespaceOf({ metadata }: JsonObject): string | undefined {
  const namespace = (metadata as JsonObject | undefined)?.['namespace'];
  return typeof namespace === 'string' ? namespace : undefined;
}

function deleteBody(options: DeleteOptions): JsonObject {
  const { gracePeriodSeconds, uid, resourceVersion, propagation } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(propagation === undefined ? {} : { propagationPolicy: propagation }),
    ...(uid === undefined && resourceVersion === undefined
      ? {}
      : {
          preconditions: {
            ...(uid === undefined ? {} : { uid }),
            ...(resourceVersion === undefined ? {} : { resourceVersion }),
          },
        }),
  };
}
