/**
 * A small raw-JSON client of the Kubernetes API, for tests only.
 *
 * It shares no code with the product on purpose: what observes must not err in the same way as
 * what is observed. Connections are kept alive and pooled. It caches nothing, and repeats a request
 * once only where a kept connection was reset under it: a busy server closes those that it takes for
 * idle. An answer of 400 or more is an {@link ApiError}, except from `request`, which returns any answer.
 */
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';

/** How to reach and convince an API server. */
export interface ApiConnection {
  readonly server: string;
  readonly caPem: string;
  readonly token?: string;
  readonly clientCertificatePem?: string;
  readonly clientKeyPem?: string;
}

/** The fields that tests rely on in every object; the rest stays reachable by name. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** One owner of an object. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** A page, or the whole, of a list. */
export interface ObjectList {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly KubernetesObject[];
}

/** One request; `contentType` defaults to JSON, for PATCH to a JSON merge patch. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly signal?: AbortSignal;
}

/** Any answer; `body` is parsed JSON, or text where it is not JSON. */
export interface ApiResponse {
  readonly status: number;
  readonly body: unknown;
}

/** An answer of 400 or more. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The machine-readable reason of the Status object, e.g. `AlreadyExists`. */
  readonly reason: string;

  constructor(request: ApiRequest, response: ApiResponse) {
    const status = response.body as { message?: string; reason?: string } | undefined;
    super(
      `${request.method} ${request.path}: ${String(response.status)} ${status?.message ?? JSON.stringify(response.body)}`,
    );
    this.status = response.status;
    this.reason = status?.reason ?? '';
  }
}

/** A client bound to one connection and identity. */
export interface ApiClient {
  readonly connection: ApiConnection;
  readonly request: (request: ApiRequest) => Promise<ApiResponse>;
  readonly get: (path: string) => Promise<KubernetesObject>;
  readonly list: (path: string) => Promise<ObjectList>;
  readonly post: (path: string, body: unknown) => Promise<KubernetesObject>;
  readonly put: (path: string, body: unknown) => Promise<KubernetesObject>;
  /** JSON merge patch. */
  readonly patch: (path: string, body: unknown) => Promise<KubernetesObject>;
  readonly delete: (path: string, options?: unknown) => Promise<KubernetesObject>;
  /** Opens a GET whose body is read as it comes; the caller destroys it. */
  readonly stream: (path: string, signal: AbortSignal) => Promise<IncomingMessage>;
  /** Closes idle connections. */
  readonly close: () => void;
}

const SOCKETS_MAX = 128;

/** Makes a client. */
export function createApiClient(connection: ApiConnection): ApiClient {
  const agent = new Agent({
    keepAlive: true,
    maxSockets: SOCKETS_MAX,
    ca: connection.caPem,
    ...(connection.clientCertificatePem === undefined
      ? {}
      : { cert: connection.clientCertificatePem, key: connection.clientKeyPem }),
  });
  const open = async (request: ApiRequest): Promise<IncomingMessage> => {
    const first = await send(request, connection, agent);
    if (first !== 'reset') return first;
    const second = await send(request, connection, agent);
    if (second !== 'reset') return second;
    throw new Error(`${request.method} ${request.path}: kept connections were reset twice`);
  };
  const request = async (apiRequest: ApiRequest): Promise<ApiResponse> => {
    const message = await open(apiRequest);
    return { status: message.statusCode ?? 0, body: await readBody(message) };
  };
  const demand = async (apiRequest: ApiRequest): Promise<unknown> => {
    const response = await request(apiRequest);
    if (response.status >= 400) throw new ApiError(apiRequest, response);
    return response.body;
  };
  const object = async (apiRequest: ApiRequest): Promise<KubernetesObject> =>
    (await demand(apiRequest)) as KubernetesObject;
  return {
    connection,
    request,
    get: (path) => object({ method: 'GET', path }),
    list: async (path) => (await demand({ method: 'GET', path })) as ObjectList,
    post: (path, body) => object({ method: 'POST', path, body }),
    put: (path, body) => object({ method: 'PUT', path, body }),
    patch: (path, body) => object({ method: 'PATCH', path, body }),
    delete: (path, body) => object({ method: 'DELETE', path, body }),
    stream: async (path, signal) => {
      const streamRequest: ApiRequest = { method: 'GET', path, signal };
      const message = await open(streamRequest);
      const status = message.statusCode ?? 0;
      if (status < 400) return message;
      throw new ApiError(streamRequest, { status, body: await readBody(message) });
    },
    close: () => {
      agent.destroy();
    },
  };
}

/** The answer, or that a kept connection was reset instead of one. */
function send(
  request: ApiRequest,
  connection: ApiConnection,
  agent: Agent,
): Promise<IncomingMessage | 'reset'> {
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const defaultType =
    request.method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers: Record<string, string | number> = { accept: 'application/json' };
  if (connection.token !== undefined) headers['authorization'] = `Bearer ${connection.token}`;
  if (body !== undefined) {
    headers['content-type'] = request.contentType ?? defaultType;
    headers['content-length'] = body.length;
  }
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(new URL(request.path, connection.server), {
      method: request.method,
      agent,
      headers,
      ...(request.signal ? { signal: request.signal } : {}),
    });
    outgoing.once('response', resolve);
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (outgoing.reusedSocket && error.code === 'ECONNRESET') resolve('reset');
      else reject(error);
    });
    outgoing.end(body);
  });
}

async function readBody(message: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  const isJson = message.headers['content-type']?.includes('json') ?? false;
  return isJson && text !== '' ? JSON.parse(text) : text;
}
