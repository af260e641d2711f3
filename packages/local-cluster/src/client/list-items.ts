/**
 * Reads the answer to a list. Items come whole: where the API leaves out their kind and apiVersion, as Go does in lists,
 * they are filled in from the list's.
 */
import assert from 'node:assert/strict';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ApiAnswer } from '../api/request/api-request.ts';
import type { ApiObject } from '../objects/api-object.ts';
import type { Selection } from './local-client.ts';

/** A list with the version that a watch goes on from. */
export interface ListedItems {
  readonly items: readonly ApiObject[];
  readonly resourceVersion: string;
}

/** Takes the list out of its answer. A refusal is a bug: the cluster's parts may read what they ask for. */
export function listItems(answer: ApiAnswer, selection: Selection): ListedItems {
  assert(
    answer.kind === 'object',
    `a list of ${selection.resource} answered with a ${answer.kind}`,
  );
  const { status, body } = answer;
  assert(status === 200, `a list of ${selection.resource} was refused: ${JSON.stringify(body)}`);
  const { metadata, items, apiVersion, kind } = body;
  assert(Array.isArray(items) && isJsonObject(metadata) && typeof kind === 'string');
  const { resourceVersion } = metadata;
  assert(typeof resourceVersion === 'string', `a list of ${selection.resource} has no version`);
  const implied: JsonObject = { apiVersion, kind: kind.replace(/List$/, '') };
  return {
    items: (items as readonly JsonObject[]).map((item) =>
      // What a list of the API holds are stored objects, perhaps without these two members.
      item['kind'] === undefined ? ({ ...implied, ...item } as ApiObject) : (item as ApiObject),
    ),
    resourceVersion,
  };
}
