/**
 * Mirrors of fleets over a transport: objects of our own kind, by server-side apply under the field manager `rollcall` (ADR 0066).
 *
 * Forced: the object is Rollcall's alone, and admission refuses all other writers (infra/mirror). Short time-outs, since nothing
 * waits for a mirror. Failures are values; nothing is retried here.
 */
import { isJsonObject, jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import type { FleetKey } from '../../../core/fleet/fleet-daemon-set.ts';
import type { LiveRead } from '../../../ports/cluster/cluster-access.ts';
import type {
  MirrorAccess,
  MirrorConnector,
  MirrorWrite,
} from '../../../ports/cluster/cluster-access.ts';
import { isObjectName } from './effect-request.ts';
import { NOT_A_NAME } from './list-pages.ts';
import { readObject } from './object-reader.ts';
import { classifyRead, classifyWrite } from './status-classifier.ts';
import type { HttpsClusterConnector } from './cluster-connector.ts';
import type { Transport, TransportRequest } from '../transport/transport.ts';

/** Of one request: below what a walk of all fleets may wait for. */
export const MIRROR_TIMEOUT_MS = 3_000;

const COLLECTION = '/apis/rollcall.dev/v1alpha1/namespaces';
const APPLY = 'application/apply-patch+yaml';

function pathOf({ namespace, name }: FleetKey): string | undefined {
  if (!isObjectName(namespace) || !isObjectName(name)) return undefined;
  return `${COLLECTION}/${namespace}/fleetdaemonsets/${name}`;
}

function keyOf(object: JsonObject): FleetKey {
  const text = (name: string): string => {
    const value = jsonMember(object['metadata'], name);
    return typeof value === 'string' ? value : '';
  };
  return { namespace: text('namespace'), name: text('name') };
}

/** Opens the cluster that has the mirrors. */
export function createMirrorConnector(
  connector: Pick<HttpsClusterConnector, 'connectTransport'>,
): MirrorConnector {
  return {
    connectMirror: async (registration) => {
      const connection = await connector.connectTransport(registration);
      if (connection.kind === 'refused') return connection;
      return { kind: 'connected', mirrors: createMirrorAccess(connection) };
    },
  };
}

export function createMirrorAccess({
  transport,
}: {
  readonly transport: Pick<Transport, 'send'>;
}): MirrorAccess {
  const write = async (
    object: JsonObject,
    request: (path: string) => TransportRequest,
    gone: (key: FleetKey) => MirrorWrite,
  ): Promise<MirrorWrite> => {
    const key = keyOf(object);
    const path = pathOf(key);
    if (path === undefined) return { kind: 'refused', message: NOT_A_NAME.message };
    const answer = await transport.send({ ...request(path), timeoutMs: MIRROR_TIMEOUT_MS });
    const outcome = classifyWrite(answer, { operation: 'update', name: key.name });
    switch (outcome.kind) {
      case 'done':
        return { kind: 'written', object: outcome.object };
      case 'gone':
        return gone(key);
      case 'conflict':
      case 'exists':
        return { kind: 'changed' };
      case 'refused':
        return { kind: 'refused', message: outcome.message };
      case 'unsent':
      case 'ambiguous':
        return { kind: 'unavailable', message: outcome.message };
    }
  };

  return {
    readMirror: async (key): Promise<LiveRead<JsonObject>> => {
      const path = pathOf(key);
      if (path === undefined) return NOT_A_NAME;
      const answer = await transport.send({ method: 'GET', path, timeoutMs: MIRROR_TIMEOUT_MS });
      return classifyRead(answer, key.name, (body) =>
        readObject(body, key) !== undefined && isJsonObject(body) ? body : undefined,
      );
    },
    applyMirror: (object, part) =>
      write(
        object,
        (path) => ({
          method: 'PATCH',
          path: `${path}${part === 'status' ? '/status' : ''}?fieldManager=rollcall&force=true`,
          contentType: APPLY,
          body: JSON.stringify(object),
        }),
        // An apply makes what is missing: then it is the namespace. Of a status the object.
        ({ namespace }) =>
          part === 'status'
            ? { kind: 'changed' }
            : { kind: 'refused', message: `there is no namespace ${namespace} in this cluster` },
      ),
    removeMirror: (object) =>
      write(
        object,
        (path) => ({ method: 'DELETE', path, body: JSON.stringify(asRead(object)) }),
        () => ({ kind: 'written', object }),
      ),
  };
}

/** Options of a DELETE that meets the object that was read, or nothing. */
function asRead(object: JsonObject): JsonObject {
  const { metadata } = object;
  const preconditions = {
    uid: jsonMember(metadata, 'uid') ?? null,
    resourceVersion: jsonMember(metadata, 'resourceVersion') ?? null,
  };
  return { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
}
