/**
 * ProbeAccess over a transport: one throw-away DaemonSet, created, read and deleted (design 5).
 *
 * Used by whoever enters takeover, with the credential of a person, never by a function. Failures are
 * values; nothing is retried.
 */
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ProbeAccess } from '../../../ports/cluster/probe-access.ts';
import { readStatus } from './api-status.ts';
import { isObjectName, namespacedPath } from './effect-request.ts';
import { NOT_A_NAME } from './list-pages.ts';
import { readDaemonSet } from './object-reader.ts';
import { classifyRead, unavailableRead } from './status-classifier.ts';
import type { Transport, TransportAnswer } from '../transport/transport.ts';

function isMissingNamespace(answer: TransportAnswer): boolean {
  if (answer.kind !== 'answered' || answer.status !== 404) return false;
  const status = readStatus(answer.body);
  return status?.reason === 'NotFound' && status.detailsKind === 'namespaces';
}

/** The probe's way to one cluster. */
export function createProbeAccess({ transport }: { readonly transport: Transport }): ProbeAccess {
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
  };
}
