/**
 * The mirror of a selection, kept by list and watch, as a client-go informer keeps its own.
 *
 *   observe ─ (microtask) ─ list: ADDED ... ─ watch: changes ... ─ end: watch again from the last version
 *                                                                └ 410: list again, tell the differences, watch
 *
 * Nothing is told from inside `observe`. When a change is told, the mirror already holds it. Invariants: each object is
 * ADDED once before it is MODIFIED or DELETED; `previous` is what was told before. Assumes that watches end by the clock
 * or with an error frame, not at once: otherwise this would go round without a pause.
 */
import assert from 'node:assert/strict';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ApiAnswer, WatchFrame } from '../api/request/api-request.ts';
import type { ApiObject } from '../objects/api-object.ts';
import { keyText } from '../store/key-order.ts';
import type { Observation, ObservedChange, Selection } from './local-client.ts';
import type { RequestTargets } from './request-targets.ts';

/** What an observation needs. */
export interface ObserveOptions {
  readonly selection: Selection;
  readonly targets: RequestTargets;
  /** Must not throw; may make requests. */
  readonly onChange: (change: ObservedChange) => void;
  /** Makes a GET request. */
  readonly request: (target: string) => ApiAnswer;
}

/** Starts to observe. */
export function observe(options: ObserveOptions): Observation {
  const observer = new Observer(options);
  observer.start();
  return {
    get: (name, namespace) =>
      observer.objects.get(keyText(namespace === undefined ? { name } : { namespace, name })),
    list: () => observer.objects.values(),
    stop: () => {
      observer.stop();
    },
  };
}

class Observer {
  readonly objects = new Map<string, ApiObject>();
  readonly #options: ObserveOptions;
  #resourceVersion = '';
  #isStopped = false;
  #cancelWatch: Cancel | undefined;

  constructor(options: ObserveOptions) {
    this.#options = options;
  }

  /** Lists and watches, in a microtask: neither a caller nor a watch that just ended is interrupted. */
  start(): void {
    queueMicrotask(() => {
      this.#list();
      this.#watch();
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }

  #list(): void {
    if (this.#isStopped) return;
    const { selection, request, targets } = this.#options;
    const { items, resourceVersion } = listItems(request(targets.selection(selection)), selection);
    this.#resourceVersion = resourceVersion;
    const goneKeys = new Set(this.objects.keys());
    for (const item of items) goneKeys.delete(keyText(item.metadata));
    for (const key of goneKeys) {
      const gone = this.objects.get(key);
      if (gone !== undefined) this.#remove(gone);
    }
    for (const item of items) this.#put(item);
  }

  #watch(): void {
    if (this.#isStopped) return;
    const { selection, request, targets } = this.#options;
    const answer = request(targets.watch(selection, this.#resourceVersion));
    if (answer.kind === 'object' && answer.status === 410) {
      this.start();
      return;
    }
    assert(answer.kind === 'watch', `a watch of ${selection.resource} was refused`);
    // Belongs to this watch alone: a late call of an old one must not disturb its successor.
    let isOver = false;
    const end = (next: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#cancelWatch?.();
      this.#cancelWatch = undefined;
      if (!this.#isStopped) next();
    };
    const cancel = answer.open({
      frame: (frame) => {
        if (isOver || this.#isStopped) return;
        if (frame.type !== 'ERROR') this.#apply(frame.type, frame.object);
        else {
          end(() => {
            this.start();
          });
        }
      },
      end: () => {
        end(() => {
          queueMicrotask(() => {
            this.#watch();
          });
        });
      },
    });
    // It may have ended while it was opened, before there was anything to cancel.
    if (isOver) cancel();
    else this.#cancelWatch = cancel;
  }

  #apply(type: Exclude<WatchFrame['type'], 'ERROR'>, object: JsonObject): void {
    // Frames carry stored objects; a bookmark carries at least the version.
    const observed = object as ApiObject;
    this.#resourceVersion = observed.metadata.resourceVersion;
    if (type === 'BOOKMARK') return;
    if (type === 'DELETED') this.#remove(observed);
    else this.#put(observed);
  }

  /** Tells of an object that is there, unless just this state was told before. */
  #put(object: ApiObject): void {
    const key = keyText(object.metadata);
    const previous = this.objects.get(key);
    if (previous === undefined) {
      this.objects.set(key, object);
      this.#tell({ type: 'ADDED', object });
      return;
    }
    if (previous.metadata.uid !== object.metadata.uid) {
      // Deleted and made anew between two watches.
      this.#remove(previous);
      this.#put(object);
      return;
    }
    if (previous.metadata.resourceVersion === object.metadata.resourceVersion) return;
    this.objects.set(key, object);
    this.#tell({ type: 'MODIFIED', object, previous });
  }

  #remove(object: ApiObject): void {
    const key = keyText(object.metadata);
    const previous = this.objects.get(key);
    if (previous === undefined) return;
    this.objects.delete(key);
    this.#tell({ type: 'DELETED', object, previous });
  }

  #tell(change: ObservedChange): void {
    if (!this.#isStopped) this.#options.onChange(change);
  }
}

/** A list with the version that a watch goes on from. */
interface ListedItems {
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
