/**
 * A kind that is stored and that nothing acts on: one definition for all of them, and for custom kinds.
 *
 * What differs between such kinds is data (StoredKind). Their fields are decoded strictly by the generated types; beyond that
 * only metadata are looked at. Differs from Kubernetes: no defaults and no validation of a spec.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import {
  defineResource,
  keepStatus,
  statusView,
  withGeneration,
  withStatus,
} from '../shared/define-resource.ts';
import type { ResourceDefinition } from '../shared/define-resource.ts';
import { equalJson } from '../shared/equal-json.ts';
import type { Resource } from '../shared/resource.ts';

/** What is to be known of a kind that is stored. */
export interface StoredKind extends Pick<
  ResourceDefinition,
  | 'group'
  | 'version'
  | 'kind'
  | 'plural'
  | 'singular'
  | 'isNamespaced'
  | 'shortNames'
  | 'categories'
  | 'allowsUnconditionalUpdate'
  | 'allowsCreateOnUpdate'
> {
  readonly hasStatus: boolean;
  /** A change of anything but metadata and status is another generation. */
  readonly countsGenerations: boolean;
  /** Stands in for a status that was never written; by default nothing. */
  readonly emptyStatus?: () => JsonObject | undefined;
  /** The warning at its creation: that nothing enforces it. */
  readonly warning?: string;
  /** What is filled in where the API server fills it in; by default nothing. */
  readonly applyDefaults?: (object: ApiObject) => ApiObject;
}

/** The resource of a kind that is stored. */
export function defineStored(stored: StoredKind): Resource {
  const { hasStatus, countsGenerations, emptyStatus, warning, applyDefaults, ...names } = stored;
  return defineResource({
    ...names,
    rules: {
      ...(applyDefaults === undefined ? {} : { applyDefaults }),
      prepareForCreate: (object) => {
        const counted = withGeneration(object, countsGenerations ? 1 : undefined);
        return hasStatus ? withStatus(counted, emptyStatus?.()) : counted;
      },
      prepareForUpdate: (next, current) => {
        const kept = hasStatus ? keepStatus(next, current) : next;
        return countsGenerations && !isSameButStatus(kept, current)
          ? withGeneration(kept, (current.metadata.generation ?? 0) + 1)
          : kept;
      },
      ...(warning === undefined
        ? {}
        : { warnings: (_object, current) => (current === undefined ? [warning] : []) }),
    },
    subresources: hasStatus
      ? [
          statusView({
            prepareForUpdate: (next, current) =>
              withStatus(
                { ...current, metadata: next.metadata },
                next['status'] as JsonObject | undefined, // decoded: of its type
              ),
          }),
        ]
      : [],
  });
}

function isSameButStatus(next: ApiObject, current: ApiObject): boolean {
  const names = new Set([...Object.keys(next), ...Object.keys(current)]);
  return [...names].every(
    (name) =>
      name === 'metadata' || name === 'status' || equalJson(memberOf(next, name), current[name]),
  );
}

function memberOf(object: ApiObject, name: string): Json | undefined {
  return object[name];
}
