/**
 * ClusterInspection over a transport: reads by path, and access reviews a few at a time.
 *
 * A review of one's own rights needs no right; a review of another account's does. Nothing is
 * retried: the operator runs the command again.
 */
import { defined } from '@rollcall/base/defined.ts';
import { isJsonObject, jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import type { Permission } from '../../../core/daemon-set/permission.ts';
import type {
  ClusterInspection,
  Inspected,
  RightsOf,
} from '../../../ports/cluster/cluster-inspection.ts';
import { CLUSTER_UID_PATH, clusterUidIn } from '../../../core/model/identifiers.ts';
import type { Transport, TransportAnswer } from '../transport/transport.ts';

const REVIEWS = '/apis/authorization.k8s.io/v1';
const REVIEWS_AT_ONCE = 8;

/** Looks into the cluster of a transport. */
export function createClusterInspection(transport: Transport): ClusterInspection {
  const read = async (path: string, accept?: string): Promise<Inspected<JsonObject>> =>
    classify(await transport.send({ method: 'GET', path, ...defined({ accept }) }));
  const readUid = async (): Promise<Inspected<string>> => {
    const namespace = await read(CLUSTER_UID_PATH);
    if (namespace.kind !== 'answered') return namespace;
    const value = clusterUidIn(namespace.value);
    if (value === undefined) return { kind: 'failed', why: 'the answer is no namespace' };
    return { kind: 'answered', value };
  };
  let uid: Promise<Inspected<string>> | undefined;
  return {
    read,
    // Identity and credential are both told by it: it is asked once.
    readUid: () => (uid ??= readUid()),
    review: (permissions, of) => reviewAll(transport, permissions, of),
    close: () => {
      transport.retire();
    },
  };
}

function classify(answer: TransportAnswer): Inspected<JsonObject> {
  if (answer.kind !== 'answered') return { kind: 'failed', why: `no answer: ${answer.message}` };
  const { status, body } = answer;
  if (status === 404) return { kind: 'missing' };
  if (status === 401 || status === 403) return { kind: 'refused', status };
  if (status >= 200 && status < 300 && isJsonObject(body)) return { kind: 'answered', value: body };
  return { kind: 'failed', why: `HTTP ${status}` };
}

async function reviewAll(
  transport: Transport,
  permissions: readonly Permission[],
  of: RightsOf,
): Promise<Inspected<readonly boolean[]>> {
  const granted = new Array<boolean>(permissions.length).fill(false);
  const remaining = permissions.entries();
  let failed: Exclude<Inspected<never>, { kind: 'answered' }> | undefined;
  const work = async (): Promise<void> => {
    for (const [index, permission] of remaining) {
      if (failed !== undefined) return;
      const answer = await reviewOne(transport, permission, of);
      if (answer.kind === 'answered') granted[index] = answer.value;
      else failed = answer;
    }
  };
  await Promise.all(Array.from({ length: REVIEWS_AT_ONCE }, work));
  return failed ?? { kind: 'answered', value: granted };
}

async function reviewOne(
  transport: Transport,
  permission: Permission,
  of: RightsOf,
): Promise<Inspected<boolean>> {
  const kind = of === 'self' ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const [resource = '', subresource] = permission.resource.split('/', 2);
  const { group, verb, name, namespace } = permission;
  const resourceAttributes = {
    group,
    resource,
    verb,
    ...defined({ subresource, name, namespace }),
  };
  const answer = classify(
    await transport.send({
      method: 'POST',
      path: `${REVIEWS}/${kind.toLowerCase()}s`,
      body: JSON.stringify({
        apiVersion: 'authorization.k8s.io/v1',
        kind,
        spec: { resourceAttributes, ...(of === 'self' ? {} : of) },
      }),
    }),
  );
  if (answer.kind !== 'answered') return answer;
  const isAllowed = jsonMember(jsonMember(answer.value, 'status'), 'allowed') === true;
  return { kind: 'answered', value: isAllowed };
}
