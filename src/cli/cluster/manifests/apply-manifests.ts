/**
 * Applies objects to a cluster as the person at the terminal, and reports each.
 *
 * Server-side apply under a field manager of its own, by force: the objects are Rollcall's, and what else
 * other clients set in them stays. One that fails does not stop the others; run it again.
 */
import type {
  Transport,
  TransportAnswer,
} from '../../../adapters/kubernetes/transport/transport.ts';
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import { plainText } from '../../command-line/text-table.ts';
import { describeObject, objectIdentity } from './manifests.ts';
import { collectionPath } from '../../../engine/apply-manifests.ts';

/** The outcome of one object. */
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
  const path = `${collectionPath(object)}/${objectIdentity(object).name}`;
  const answer = await transport.send({
    method: 'PATCH',
    path: `${path}?fieldManager=${FIELD_MANAGER}&force=true`,
    contentType: 'application/apply-patch+yaml',
    body: JSON.stringify(object),
  });
  return report(object, answer);
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
