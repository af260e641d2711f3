/**
 * HandBackAccess over a transport: the probe's throw-away DaemonSet (design 5), one paged list, and one patch of a status.
 *
 * The patch carries UID and resourceVersion of what was read, so it meets that object or nothing. Used with the credential
 * of a person, never by a function. Failures are values; nothing is retried.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { LiveRead } from '../../../ports/cluster/cluster-access.ts';
import type { HandBackAccess } from '../../../ports/cluster/hand-back-access.ts';
import { readStatus } from '../transport/api-status.ts';
import { isObjectName, namespacedPath } from '../api/effect-request.ts';
import { NOT_A_NAME, listPages } from '../api/list-pages.ts';
import { readDaemonSet } from '../api/object-reader.ts';
import { classifyRead, classifyWrite, unavailableRead } from '../api/status-classifier.ts';
import type { Transport, TransportAnswer } from '../transport/transport.ts';

function isMissingNamespace(answer: TransportAnswer): boolean {
  if (answer.kind !== 'answered' || answer.status !== 404) return false;
  const status = readStatus(answer.body);
  return status?.reason === 'NotFound' && status.detailsKind === 'namespaces';
}

/** One cluster's access for the probe, and for handing it back. */
export function createHandBackAccess({
  transport,
}: {
  readonly transport: Transport;
}): HandBackAccess {
  const collection = (namespace: string): string => namespacedPath('apps', namespace, 'daemonsets');
  const areNames = (...names: readonly string[]): boolean => names.every(isObjectName);

  return {
    createDaemonSet: async ({ namespace, name, body }) => {
      if (!areNames(namespace, name)) return NOT_A_NAME;
      const request = { path: collection(namespace), body: JSON.stringify(body) };
      const answer = await transport.send({ method: 'POST', ...request });
      if (isMissingNamespace(answer)) return { kind: 'missing' };
      const isCreated = answer.kind === 'answered' && answer.status === 201;
      const object = isCreated ? readDaemonSet(answer.body, { namespace, name }) : undefined;
      return object === undefined ? unavailableRead(answer) : { kind: 'found', object };
    },
    getDaemonSet: async ({ namespace, name }) => {
      if (!areNames(namespace, name)) return NOT_A_NAME;
      const path = `${collection(namespace)}/${name}`;
      const answer = await transport.send({ method: 'GET', path });
      return classifyRead(answer, name, (body) => readDaemonSet(body, { namespace, name }));
    },
    deleteDaemonSet: async ({ namespace, name }, precondition) => {
      if (!areNames(namespace, name)) return NOT_A_NAME;
      const options = { propagationPolicy: 'Background', preconditions: precondition };
      const answer = await transport.send({
        method: 'DELETE',
        path: `${collection(namespace)}/${name}`,
        body: JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', ...options }),
      });
      return classifyRead(answer, name, (body) => (isJsonObject(body) ? body : undefined));
    },
    listDaemonSets: () => listDaemonSets(transport),
    replaceConditions: async (daemonSet, conditions) => {
      const { namespace = '', name, uid, resourceVersion } = daemonSet.metadata;
      const answer = await transport.send({
        method: 'PATCH',
        path: `${namespacedPath('apps', namespace, 'daemonsets')}/${name}/status`,
        contentType: 'application/merge-patch+json',
        body: JSON.stringify({
          metadata: { uid, resourceVersion },
          status: { conditions: conditions.length === 0 ? null : conditions },
        }),
      });
      const outcome = classifyWrite(answer, { operation: 'patch', name });
      switch (outcome.kind) {
        case 'done':
          return { kind: 'written' };
        case 'conflict':
        case 'gone':
          return { kind: 'changed' };
        case 'exists':
          return { kind: 'failed', message: 'the API server gave an answer of a create' };
        case 'refused':
        case 'unsent':
        case 'ambiguous':
          return { kind: 'failed', message: outcome.message };
      }
    },
  };
}

async function listDaemonSets(transport: Transport): Promise<LiveRead<readonly DaemonSetObject[]>> {
  const path = '/apis/apps/v1/daemonsets';
  const send: Transport['send'] = (request) => transport.send(request);
  // Asks once and goes.
  const pressure = { remainingMs: () => 0 };
  const listed = await listPages({ path }, { send, pressure });
  if (listed.kind !== 'found') return listed;
  const found = listed.object.map((item) => readDaemonSet(item, {}));
  if (found.every((object) => object !== undefined)) return { kind: 'found', object: found };
  return { kind: 'unavailable', message: 'HTTP 200: not a list of DaemonSets', isRefused: false };
}
