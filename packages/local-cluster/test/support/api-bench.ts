/**
 * The API handler over a real store, schema and resources, on virtual time: what its unit tests talk to.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type {
  ApiAnswer,
  ApiHandler,
  ApiRequest,
  Authorizer,
  RequestObserver,
  WatchFrame,
} from '../../src/api/request/api-request.ts';
import { createApiHandler } from '../../src/api/create-api-handler.ts';
import { RESOURCES } from '../../src/resources/all.ts';
import { createSchema } from '../../src/schema/create-schema.ts';
import { createMemoryStore } from '../../src/store/memory-store.ts';
import type { Store } from '../../src/store/store.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

/** Content types of patches. */
export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';

/** Base path of the namespace that every bench has, with its service account. */
export const NAMESPACE = '/api/v1/namespaces/default';

/** A pod that passes validation; it is bound. */
export const POD: JsonObject = {
  metadata: { name: 'p' },
  spec: { nodeName: 'n1', containers: [{ name: 'a', image: 'image' }] },
};

/** An answer, flattened for assertions. */
export interface BenchAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly answer: ApiAnswer;
}

/** What a test asks with. */
export type BenchRequest = Partial<Pick<ApiRequest, 'accept' | 'contentType' | 'user'>> & {
  readonly body?: Json;
};

/** The bench. */
export interface ApiBench {
  readonly handler: ApiHandler;
  readonly store: Store;
  readonly clock: VirtualClock;
  readonly ask: (
    method: ApiRequest['method'],
    target: string,
    request?: BenchRequest,
  ) => BenchAnswer;
  /** Opens a watch; frames are added as they come. */
  readonly watch: (target: string, request?: BenchRequest) => BenchWatch;
}

/** An open watch. */
export interface BenchWatch {
  readonly frames: WatchFrame[];
  readonly isEnded: () => boolean;
  readonly cancel: () => void;
  /** Type and name of each frame. */
  readonly summary: () => readonly string[];
}

const ADMIN = { name: 'admin', groups: ['system:masters'] };

/** Makes a bench with the namespace `default`. */
export function createApiBench(
  options: {
    readonly authorizer?: Authorizer;
    readonly onRequest?: RequestObserver;
    readonly historyMax?: number;
  } = {},
): ApiBench {
  const { authorizer = { authorize: () => ({ allowed: true, reason: '' }) }, onRequest } = options;
  const clock = new VirtualClock();
  const store = createMemoryStore(
    options.historyMax === undefined ? {} : { historyMax: options.historyMax },
  );
  const handler = createApiHandler({
    store,
    resources: () => RESOURCES,
    schema: createSchema(),
    authorizer,
    extra: () => undefined,
    clock,
    random: seededRandom(1),
    ...(onRequest === undefined ? {} : { onRequest }),
  });
  const handle = (
    method: ApiRequest['method'],
    target: string,
    request: BenchRequest = {},
  ): ApiAnswer =>
    handler.handle({ method, target, user: ADMIN, accept: 'application/json', ...request });
  const ask: ApiBench['ask'] = (method, target, request) => {
    const answer = handle(method, target, request);
    if (answer.kind === 'watch') throw new Error(`${target} opened a watch`);
    return {
      status: answer.status,
      body: answer.kind === 'object' ? answer.body : { text: answer.text },
      answer,
    };
  };
  store.insert('namespaces', namespaceObject('default'));
  ask('POST', `${NAMESPACE}/serviceaccounts`, { body: { metadata: { name: 'default' } } });
  return {
    handler,
    store,
    clock,
    ask,
    watch: (target, request) => openWatch(handle('GET', target, request), target),
  };
}

function namespaceObject(name: string): Parameters<Store['insert']>[1] {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: {
      name,
      uid: `uid-${name}`,
      resourceVersion: '',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}

function openWatch(answer: ApiAnswer, target: string): BenchWatch {
  if (answer.kind !== 'watch')
    throw new Error(`${target} opened no watch: ${String(answer.status)}`);
  const frames: WatchFrame[] = [];
  let isEnded = false;
  const cancel = answer.open({
    frame: (frame) => {
      frames.push(frame);
    },
    end: () => {
      isEnded = true;
    },
  });
  return {
    frames,
    cancel,
    isEnded: () => isEnded,
    summary: () =>
      frames.map(({ type, object }) => {
        const metadata = object['metadata'] as { readonly name?: string } | undefined;
        return metadata?.name === undefined ? type : `${type} ${metadata.name}`;
      }),
  };
}

/** metadata of an answered object. */
export function metadataOf({ body }: BenchAnswer): Readonly<Record<string, unknown>> {
  return body['metadata'] as Readonly<Record<string, unknown>>;
}

/** Names of the items of an answered list. */
export function namesOf({ body }: BenchAnswer): readonly string[] {
  const items = body['items'] as readonly { readonly metadata: { readonly name: string } }[];
  return items.map((item) => item.metadata.name);
}
