/**
 * An API server over TLS with a large cluster behind it, as far as a watcher asks: lists by pages with limit and continue,
 * watches with bookmarks every minute, initial events where it is told to stream lists, the Lease as compare-and-set, the identity of kube-system.
 *
 * Only nodes change, one at a time; a watch from an earlier version is brought what it missed. It knows no authorisation,
 * never expires a version and honours a stream's time-out. What a real one does beyond that: test/conformance.
 */
import type { ServerResponse } from 'node:http';
import type { WatchedKind } from '../../../src/core/model/projections.ts';
import {
  answerJson,
  startScriptedApiServer,
  statusBody,
} from '../../support/scripted-api-server.ts';
import type { ScriptedApiServer, SeenRequest } from '../../support/scripted-api-server.ts';
import { RING } from './large-cluster-objects.ts';
import type { LargeCluster, NodeWords } from './large-cluster.ts';

/** How lists are answered: as initial events of a watch, or by pages alone. */
export type ListWay = 'streamed' | 'paged';

/** A running server. */
export interface LargeClusterServer {
  readonly url: string;
  readonly caPem: string;
  /** A kubelet reports its node's status: nothing but the time of the heartbeat changes. */
  readonly heartbeat: (node: number) => void;
  /** Gives a node the label that half of the DaemonSets select by, or takes it away. */
  readonly turnRing: (node: number) => void;
  /** Pages that were answered, and lists that were streamed. */
  readonly lists: Record<ListWay, number>;
  readonly close: () => Promise<void>;
}

const RESOURCES: Readonly<Record<string, WatchedKind>> = {
  '/api/v1/nodes': 'Node',
  '/api/v1/pods': 'Pod',
  '/apis/apps/v1/daemonsets': 'DaemonSet',
  '/apis/apps/v1/controllerrevisions': 'ControllerRevision',
};
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
const BOOKMARK_MS = 60_000;
/** A new stream is told how far it is soon, and then each minute. */
const FIRST_BOOKMARK_MS = 1_000;

interface Change {
  readonly version: number;
  readonly line: string;
}

/** An event of an object's JSON, which has no kind and apiVersion. */
function eventLine(type: string, kind: WatchedKind, object: string): string {
  const typeMeta = `"kind":"${kind}","apiVersion":"${apiVersionOf(kind)}"`;
  return `{"type":"${type}","object":{${typeMeta},${object.slice(1)}}\n`;
}

/** Starts it on 127.0.0.1. */
export async function serveLargeCluster(
  cluster: LargeCluster,
  way: ListWay,
): Promise<LargeClusterServer> {
  const server = await startScriptedApiServer();
  const served = new ServedCluster(cluster, way);
  server.answerWith((request, response) => {
    // Nothing reads them, and a process that is measured for minutes must not collect them.
    server.requests.length = 0;
    served.answer(request, response);
  });
  return {
    url: server.url,
    caPem: server.caPem,
    heartbeat: (node) => {
      served.change(node, 'heartbeat');
    },
    turnRing: (node) => {
      served.change(node, 'ring');
    },
    lists: served.lists,
    close: () => closeAll(served, server),
  };
}

function closeAll(served: ServedCluster, server: ScriptedApiServer): Promise<void> {
  served.stop();
  return server.close();
}

class ServedCluster {
  readonly lists: Record<ListWay, number> = { streamed: 0, paged: 0 };
  readonly #cluster: LargeCluster;
  readonly #way: ListWay;
  readonly #said = new Map<number, NodeWords>();
  readonly #changes: Change[] = [];
  readonly #watching = new Map<WatchedKind, Set<ServerResponse>>();
  readonly #stops = new Set<() => void>();
  #version: number;
  #lease: { readonly spec: unknown; readonly version: number } | undefined;

  constructor(cluster: LargeCluster, way: ListWay) {
    this.#cluster = cluster;
    this.#way = way;
    this.#version = cluster.version;
  }

  stop(): void {
    for (const stop of [...this.#stops]) stop();
  }

  change(index: number, what: 'heartbeat' | 'ring'): void {
    this.#version += 1;
    const { heartbeat = '2026-11-24T12:00:00Z', ring = RING } = this.#said.get(index) ?? {};
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const said = {
      version: this.#version,
      heartbeat: what === 'heartbeat' ? now : heartbeat,
      ring: what === 'heartbeat' ? ring : ring === RING ? 'off' : RING,
    };
    this.#said.set(index, said);
    const line = eventLine('MODIFIED', 'Node', this.#text('Node', index));
    this.#changes.push({ version: this.#version, line });
    for (const stream of this.#watching.get('Node') ?? []) stream.write(line);
  }

  answer(request: SeenRequest, response: ServerResponse): void {
    const { pathname, searchParams: query } = new URL(request.path, 'https://127.0.0.1');
    const kind = RESOURCES[pathname];
    if (pathname === '/api/v1/namespaces/kube-system') {
      answerJson(response, { status: 200, body: { metadata: { uid: 'kube-system-uid' } } });
    } else if (pathname.startsWith(LEASES)) {
      this.#answerLease(request, response);
    } else if (kind === undefined) {
      answerJson(response, { status: 404, body: statusBody(404, 'NotFound') });
    } else if (query.get('watch') !== 'true') {
      this.#answerPage(kind, query, response);
    } else if (query.get('sendInitialEvents') === 'true' && this.#way === 'paged') {
      answerJson(response, { status: 422, body: statusBody(422, 'Invalid') });
    } else {
      void this.#answerWatch(kind, query, response);
    }
  }

  #answerLease({ method, body }: SeenRequest, response: ServerResponse): void {
    if (method === 'GET' && this.#lease === undefined) {
      answerJson(response, { status: 404, body: statusBody(404, 'NotFound') });
      return;
    }
    if (method !== 'GET') {
      this.#version += 1;
      const { spec } = JSON.parse(body) as { readonly spec: unknown };
      this.#lease = { spec, version: this.#version };
    }
    const { spec, version } = this.#lease ?? {};
    const metadata = { name: 'rollcall-watcher', resourceVersion: String(version) };
    answerJson(response, { status: 200, body: { metadata, spec } });
  }

  #answerPage(kind: WatchedKind, query: URLSearchParams, response: ServerResponse): void {
    this.lists.paged += 1;
    const [from = 0, version = this.#version] = (query.get('continue') ?? '')
      .split('-')
      .filter(Boolean)
      .map(Number);
    const count = this.#cluster.counts[kind];
    const to = Math.min(count, from + Number(query.get('limit') ?? count));
    const metadata = {
      resourceVersion: String(version),
      ...(to < count
        ? { continue: `${String(to)}-${String(version)}`, remainingItemCount: count - to }
        : {}),
    };
    const items: string[] = [];
    for (let index = from; index < to; index += 1) items.push(this.#text(kind, index));
    const head = `{"kind":"${kind}List","apiVersion":"v1","metadata":${JSON.stringify(metadata)}`;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${head},"items":[${items.join(',')}]}\n`);
  }

  async #answerWatch(
    kind: WatchedKind,
    query: URLSearchParams,
    response: ServerResponse,
  ): Promise<void> {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watching = this.#watching.get(kind) ?? new Set();
    this.#watching.set(kind, watching);
    let from = Number(query.get('resourceVersion') ?? 0);
    if (query.get('sendInitialEvents') === 'true') {
      this.lists.streamed += 1;
      from = this.#version;
      await this.#sendInitial(kind, response);
    }
    // From here on without a pause: what is missed is what happened before.
    const missed = kind === 'Node' ? this.#changes.filter(({ version }) => version > from) : [];
    for (const { line } of missed) response.write(line);
    watching.add(response);
    const bookmark = (): boolean => response.write(this.#bookmark(kind));
    const soon = setTimeout(bookmark, FIRST_BOOKMARK_MS);
    const each = setInterval(bookmark, BOOKMARK_MS);
    const stop = (): void => {
      clearTimeout(soon);
      clearInterval(each);
      clearTimeout(end);
      watching.delete(response);
      this.#stops.delete(stop);
      response.end();
    };
    const end = setTimeout(stop, Number(query.get('timeoutSeconds') ?? 300) * 1000);
    this.#stops.add(stop);
    response.on('close', stop);
  }

  /** Paced by the reader, as by a server whose buffers are full. */
  async #sendInitial(kind: WatchedKind, response: ServerResponse): Promise<void> {
    const version = this.#version;
    for (let index = 0; index < this.#cluster.counts[kind]; index += 1) {
      if (response.destroyed) return;
      if (!response.write(eventLine('ADDED', kind, this.#text(kind, index)))) {
        await untilWritable(response);
      }
    }
    response.write(this.#bookmark(kind, { version, isEnd: true }));
  }

  #bookmark(kind: WatchedKind, end?: { readonly version: number; readonly isEnd: true }): string {
    const resourceVersion = String(end?.version ?? this.#version);
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion, ...(end === undefined ? {} : { annotations }) };
    return eventLine('BOOKMARK', kind, JSON.stringify({ metadata }));
  }

  #text(kind: WatchedKind, index: number): string {
    const said = kind === 'Node' ? this.#said.get(index) : undefined;
    return this.#cluster.textOf(kind, index, said);
  }
}

function untilWritable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end).off('close', end);
      resolve();
    };
    response.on('drain', end).on('close', end);
  });
}

function apiVersionOf(kind: WatchedKind): string {
  return kind === 'Node' || kind === 'Pod' ? 'v1' : 'apps/v1';
}
