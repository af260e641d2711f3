/**
 * Applies objects to a cluster as the person at the terminal, and reports each.
 *
 * Server-side apply under a field manager of its own, by force: the objects are Rollcall's, and what else
 * somebody set in them stays. Where a server has none for its kind (the local cluster has it for DaemonSets alone), the object is
 * created, or merged into what is there. One that fails does not stop the others; run it again.
 */
import type {
  Transport,
  TransportAnswer,
} from '../../../adapters/kubernetes/transport/transport.ts';
import { jsonMember } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { plainText } from '../../command-line/text-table.ts';
import { objectIdentity } from './kustomize.ts';
import { describeObject } from './manifests.ts';
import { collectionPath } from '../../../engine/apply-manifests.ts';

/** What came of one object. */
export interface AppliedObject {
  /** Kind and name. */
  readonly object: string;
  readonly result: 'created' | 'applied' | 'failed';
  /** Of a failure: what the API server said. */
  readonly detail?: string;
}

/** Whether the API server would not take it. */
export function isRefused({ result }: AppliedObject): boolean {
  return result === 'failed';
}

const FIELD_MANAGER = 'rollcall-cli';
const STATUS_CREATED = 201;
const STATUS_CONFLICT = 409;
const STATUS_UNSUPPORTED = 415;

/** Applies the objects in order. Rejects only for an object of a kind that infra/ does not have. */
export async function applyManifests(
  transport: Pick<Transport, 'send'>,
  objects: readonly JsonObject[],
): Promise<readonly AppliedObject[]> {
  const applied: AppliedObject[] = [];
  for (const object of objects) applied.push(await applyObject(transport, object));
  return applied;
}

async function applyObject(
  transport: Pick<Transport, 'send'>,
  object: JsonObject,
): Promise<AppliedObject> {
  const collection = collectionPath(object);
  const path = `${collection}/${objectIdentity(object).name}`;
  const body = JSON.stringify(object);
  const first = await transport.send({
    method: 'PATCH',
    path: `${path}?fieldManager=${FIELD_MANAGER}&force=true`,
    contentType: 'application/apply-patch+yaml',
    body,
  });
  if (first.kind !== 'answered' || first.status !== STATUS_UNSUPPORTED)
    return report(object, first);
  const created = await transport.send({ method: 'POST', path: collection, body });
  if (created.kind !== 'answered' || created.status !== STATUS_CONFLICT) {
    return report(object, created);
  }
  const contentType = 'application/merge-patch+json';
  return report(object, await transport.send({ method: 'PATCH', path, contentType, body }));
}

function report(object: JsonObject, answer: TransportAnswer): AppliedObject {
  const name = describeObject(object);
  if (answer.kind !== 'answered') return { object: name, result: 'failed', detail: answer.message };
  const { status, body } = answer;
  if (status < 300) {
    return { object: name, result: status === STATUS_CREATED ? 'created' : 'applied' };
  }
  const said = jsonMember(body, 'message');
  const detail = typeof said === 'string' ? plainText(said) : `HTTP ${String(status)}`;
  return { object: name, result: 'failed', detail };
}
