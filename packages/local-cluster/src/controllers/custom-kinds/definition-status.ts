/**
 * The status of a CustomResourceDefinition, in the words of the API server: whether its names are accepted, and its kind
 * established.
 *
 * A kind that is established stays so. Pure.
 * Differs from Kubernetes: of names, kinds alone are compared; what the API server would refuse is not established.
 */
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import {
  groupOf,
  isEstablished,
  isWellNamed,
  namesOf,
  storageVersionOf,
} from '../../objects/custom-definition.ts';

interface Wanted {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The status that a definition has beside others. */
export function definitionStatus(
  definition: ApiObject,
  others: readonly ApiObject[],
  nowText: string,
): JsonObject {
  const before = isJsonObject(definition['status']) ? definition['status'] : {};
  const conflict = conflictOf(definition, others);
  const stored = jsonItems(before['storedVersions']);
  const storage = storageVersionOf(definition) ?? '';
  return {
    ...before,
    conditions: [
      condition(before, namesAccepted(conflict), nowText),
      condition(before, established(definition, conflict), nowText),
    ],
    acceptedNames:
      conflict === undefined ? namesAsWritten(definition) : (before['acceptedNames'] ?? {}),
    storedVersions: stored.includes(storage) || storage === '' ? stored : [...stored, storage],
  };
}

function namesAccepted(conflict: Conflict | undefined): Wanted {
  return {
    type: 'NamesAccepted',
    ...(conflict === undefined
      ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { status: 'False', ...conflict }),
  };
}

function established(definition: ApiObject, conflict: Conflict | undefined): Wanted {
  const type = 'Established';
  if (conflict === undefined || isEstablished(definition)) {
    const message = 'the initial names have been accepted';
    return { type, status: 'True', reason: 'InitialNamesAccepted', message };
  }
  return { type, status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' };
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

function conflictOf(definition: ApiObject, others: readonly ApiObject[]): Conflict | undefined {
  const { kind } = namesOf(definition);
  const group = groupOf(definition);
  const { name } = definition.metadata;
  if (!isWellNamed(definition)) {
    const message = `metadata.name must be spec.names.plural+"."+spec.group, not ${JSON.stringify(name)}`;
    return { reason: 'InvalidName', message };
  }
  if (storageVersionOf(definition) === undefined) {
    return { reason: 'NoStorageVersion', message: 'one version must be the storage version' };
  }
  const isTaken = others.some(
    (other) =>
      other.metadata.name !== name &&
      isEstablished(other) &&
      groupOf(other) === group &&
      namesOf(other).kind === kind,
  );
  return isTaken
    ? { reason: 'KindConflict', message: `${JSON.stringify(kind)} is already in use` }
    : undefined;
}

function namesAsWritten(definition: ApiObject): JsonObject {
  const { shortNames, categories, ...names } = namesOf(definition);
  return {
    ...names,
    ...(shortNames.length === 0 ? {} : { shortNames }),
    ...(categories.length === 0 ? {} : { categories }),
  };
}

/** Its time changes with its status only. */
function condition(before: JsonObject, wanted: Wanted, nowText: string): JsonObject {
  const old = jsonItems(before['conditions']).find(
    (one: Json) => jsonMember(one, 'type') === wanted.type,
  );
  const isSame = jsonMember(old, 'status') === wanted.status;
  const since = isSame ? jsonMember(old, 'lastTransitionTime') : undefined;
  return { lastTransitionTime: since ?? nowText, ...wanted };
}
