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
import { readDaemonSet, readPage } from './object-reader.ts';
import { createProbeAccess } from './probe-access.ts';
import { classifyWrite, unavailableRead } from './status-classifier.ts';
import type { Transport } from '../transport/transport.ts';

const PAGE_LIMIT = 500;
/** 500,000 DaemonSets: beyond any cluster; ends a server that never stops continuing. */
const PAGES_MAX = 1000;

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
  const found: DaemonSetObject[] = [];
  let continueToken = '';
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = new URLSearchParams({ limit: String(PAGE_LIMIT) });
    if (continueToken !== '') query.set('continue', continueToken);
    const path = `/apis/apps/v1/daemonsets?${query.toString()}`;
    const answer = await transport.send({ method: 'GET', path });
    const read =
      answer.kind === 'answered' && answer.status === 200 ? readPage(answer.body) : undefined;
    if (read === undefined) return unavailableRead(answer, 'not a list');
    for (const item of read.items) {
      // The page has checked each item's identity.
      const { name, namespace } = (item as unknown as DaemonSetObject).metadata;
      const object = readDaemonSet(item, {
        name,
        ...(namespace === undefined ? {} : { namespace }),
      });
      if (object === undefined) return unavailableRead(answer, 'not a list of DaemonSets');
      found.push(object);
    }
    if (read.continueToken === '') return { kind: 'found', object: found };
    ({ continueToken } = read);
  }
  return { kind: 'unavailable', message: 'the list does not end', isRefused: false };
}
