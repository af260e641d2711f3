/**
 * HandBackAccess over a transport: the probe's access, one paged list, and one patch of a status.
 *
 * The patch carries UID and resourceVersion of what was read, so it meets that object or nothing.
 * Failures are values; nothing is retried.
 */
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { LiveRead } from '../../../ports/cluster/cluster-access.ts';
import type { HandBackAccess } from '../../../ports/cluster/hand-back-access.ts';
import { namespacedPath } from './effect-request.ts';
import { NO_PRESSURE } from '../transport/back-pressure.ts';
import { listPages } from './list-pages.ts';
import { readDaemonSet } from './object-reader.ts';
import { createProbeAccess } from './probe-access.ts';
import { classifyWrite } from './status-classifier.ts';
import type { Transport } from '../transport/transport.ts';

/** One cluster's access for handing it back. */
export function createHandBackAccess(options: { readonly transport: Transport }): HandBackAccess {
  const { transport } = options;
  return {
    ...createProbeAccess(options),
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
  const listed = await listPages({ path }, { send, pressure: NO_PRESSURE });
  if (listed.kind !== 'found') return listed;
  const found = listed.object.map((item) => readDaemonSet(item, {}));
  if (found.every((object) => object !== undefined)) return { kind: 'found', object: found };
  return { kind: 'unavailable', message: 'HTTP 200: not a list of DaemonSets', isRefused: false };
}
