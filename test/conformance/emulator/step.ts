/**
 * One request of an episode as plain data: the same for both servers, replayable, removable from its episode.
 *
 * What a server itself chose (UIDs, versions, generated names, continue tokens) is written as a reference,
 * `{{uid pods:ns/name}}`, and filled in from that server's own answers (memory.ts).
 */
import type { Json } from '@rollcall/base/json.ts';
import type { TestActor } from '../control-plane/identities.ts';
import type { ComparedVerb } from './surface.ts';

/** A value to put at a dotted path of an object (`spec.containers.0.image`); undefined removes what is there. */
export interface Change {
  readonly path: string;
  readonly value: Json | undefined;
}

export type StepBody =
  | { readonly kind: 'literal'; readonly value: Json }
  /** The object as the server gave it last, changed; `fallback` when it is not known. */
  | {
      readonly kind: 'stored';
      readonly key: string;
      readonly fallback: Json;
      readonly changes: readonly Change[];
    };

/** One request. */
export interface Step {
  /** Its number in the episode; stays when other steps are removed. */
  readonly id: number;
  readonly verb: ComparedVerb;
  /** Plural of the collection, or '' where there is none. */
  readonly resource: string;
  /** What is special about it, for people. */
  readonly note: string;
  readonly actor: TestActor;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly accept?: string;
  readonly contentType?: string;
  readonly body?: StepBody;
  /** The answer is a stream of frames, read until the end of the episode. */
  readonly isWatch?: boolean;
  /** The watch marks the end of its initial events: nothing else is sent until both servers have done so. */
  readonly awaitsBookmark?: boolean;
  /** The real server answers from a cache that may lag: wait this long, and until it has caught up. */
  readonly settleMs?: number;
}

/** The key under which a server's memory keeps an object. */
export function objectKey(where: {
  readonly plural: string;
  readonly namespace?: string;
  readonly name: string;
}): string {
  return `${where.plural}:${where.namespace ?? ''}/${where.name}`;
}
