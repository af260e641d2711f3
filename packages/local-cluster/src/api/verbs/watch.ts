/**
 * GET of a collection with `watch=true`: changes after a version, through selectors, with bookmarks.
 *
 *     resourceVersion   sendInitialEvents   first frames
 *     unset, 0          unset or true       ADDED of everything
 *     N                 true                ADDED of everything (it is never older than N)
 *     N                 unset               changes after N; 410 as an ERROR frame when N is forgotten
 *     any               false               changes after N, or after now
 *
 * After the first frames comes a bookmark that says so, where bookmarks are allowed.
 *
 * Frames may be sent from inside `open`; `end` comes later. A change of labels or fields that makes an object match, or
 * match no longer, is ADDED or DELETED; a DELETED object carries the version of the change. Once the sink has been told
 * of the end, nothing follows.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ApiObject } from '../../objects/api-object.ts';
import type { StoreChange } from '../../store/store.ts';
import type { ApiAnswer, Status, WatchFrame, WatchSink } from '../request/api-request.ts';
import { answerStatus } from '../request/answers.ts';
import { parseListOptions } from '../request/list-options.ts';
import type { ListOptions } from '../request/list-options.ts';
import { apiVersionOf, bookmarkAnnotations, frameRenderer } from '../steps/render.ts';
import type { ResourceCall } from '../steps/resource-call.ts';
import { parseObjectSelector } from '../selectors/object-selector.ts';
import type { ObjectSelector } from '../selectors/object-selector.ts';
import { expired, isStatus, tooLargeResourceVersion } from '../request/statuses.ts';
import { candidates } from './read.ts';

const TIMEOUT_SHORTEST_MS = 1_800_000;
const BOOKMARK_INTERVAL_MS = 60_000;
/** A last bookmark comes this long before the end. */
const BOOKMARK_BEFORE_END_MS = 2_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

/** Answers it: the stream begins when the answer's `open` is called. */
export function watchObjects(call: ResourceCall): ApiAnswer {
  const options = parseListOptions(call.query);
  if (isStatus(options)) return answerStatus(options);
  const selector = parseObjectSelector(call.resource, call.query);
  if (isStatus(selector)) return answerStatus(selector);
  const { random } = call.services;
  const timeoutMs =
    options.timeoutSeconds === undefined || options.timeoutSeconds <= 0
      ? Math.floor(TIMEOUT_SHORTEST_MS * (1 + random.next()))
      : options.timeoutSeconds * 1000;
  const wantsInitial =
    options.sendsInitialEvents ?? (options.version === undefined || options.version === 0n);
  const plan: WatchPlan = { call, options, selector, timeoutMs, wantsInitial };
  return { kind: 'watch', open: (sink) => new Watch(plan, sink).open() };
}

interface WatchPlan {
  readonly call: ResourceCall;
  readonly options: ListOptions;
  readonly selector: ObjectSelector;
  readonly timeoutMs: number;
  readonly wantsInitial: boolean;
}

class Watch {
  readonly #plan: WatchPlan;
  readonly #sink: WatchSink;
  readonly #render: (object: ApiObject) => JsonObject;
  readonly #cancels: Cancel[] = [];
  #cancelBookmark: Cancel = () => undefined;
  #isOver = false;
  /** Changes up to here were sent, or did not concern this watch. */
  #sentVersion = 0n;

  constructor(plan: WatchPlan, sink: WatchSink) {
    this.#plan = plan;
    this.#sink = sink;
    this.#render = frameRenderer(plan.call);
  }

  open(): Cancel {
    const { call, options, wantsInitial, timeoutMs } = this.#plan;
    const { store, clock } = call.services;
    const newest = store.version();
    const { version = 0n } = options;
    if (wantsInitial && version > newest) {
      this.#fail(tooLargeResourceVersion(String(version), newest));
      return () => {
        this.#stop();
      };
    }
    if (wantsInitial) {
      this.#sentVersion = newest;
      this.#sendInitial();
    } else {
      this.#sentVersion = version === 0n ? newest : version;
    }
    const isSubscribed = this.#subscribe(newest);
    if (isSubscribed) {
      this.#cancels.push(
        clock.after(timeoutMs, () => {
          this.#end();
        }),
      );
      if (options.allowsBookmarks) this.#scheduleBookmark(timeoutMs);
    }
    return () => {
      this.#stop();
    };
  }

  #subscribe(newest: bigint): boolean {
    const { call, selector } = this.#plan;
    const { resource, namespace, services } = call;
    const outcome = services.store.subscribe({
      resource: resource.resourceName,
      ...(namespace === undefined ? {} : { namespace }),
      ...(selector.nodeName === undefined ? {} : { nodeName: selector.nodeName }),
      ...(selector.name === undefined ? {} : { name: selector.name }),
      afterVersion: this.#sentVersion < newest ? this.#sentVersion : newest,
      onChange: (change) => {
        this.#onChange(change);
      },
    });
    if (outcome.kind === 'subscribed') {
      this.#cancels.push(outcome.cancel);
      return true;
    }
    this.#fail(
      expired(
        `too old resource version: ${String(this.#sentVersion)} (${String(outcome.oldestVersion)})`,
      ),
    );
    return false;
  }

  /** What cannot be watched is said in a frame, since the real server has begun its answer by then. */
  #fail(status: Status): void {
    this.#sink.frame({ type: 'ERROR', object: status });
    this.#cancels.push(
      this.#plan.call.services.clock.after(0, () => {
        this.#end();
      }),
    );
  }

  #sendInitial(): void {
    const { call, selector, options } = this.#plan;
    for (const object of candidates(call, selector)) {
      if (selector.matches(object)) this.#send('ADDED', object);
    }
    if (options.allowsBookmarks) {
      this.#sendBookmark({ [INITIAL_EVENTS_END]: 'true' });
    }
  }

  #onChange(change: StoreChange): void {
    if (this.#isOver || change.version <= this.#sentVersion) return;
    this.#sentVersion = change.version;
    const { matches } = this.#plan.selector;
    const { object, previous } = change;
    if (change.type === 'DELETED') {
      if (matches(previous ?? object)) this.#send('DELETED', object);
      return;
    }
    const matchesNow = matches(object);
    const matchedBefore = previous !== undefined && matches(previous);
    if (matchesNow) this.#send(matchedBefore ? 'MODIFIED' : 'ADDED', object);
    else if (matchedBefore) {
      const { resourceVersion } = object.metadata;
      this.#send('DELETED', { ...previous, metadata: { ...previous.metadata, resourceVersion } });
    }
  }

  /** Every minute; sooner when the watch ends before that. */
  #scheduleBookmark(remainingMs: number): void {
    const delayMs =
      remainingMs - BOOKMARK_BEFORE_END_MS < BOOKMARK_INTERVAL_MS
        ? remainingMs - BOOKMARK_BEFORE_END_MS
        : BOOKMARK_INTERVAL_MS;
    if (delayMs <= 0) return;
    this.#cancelBookmark = this.#plan.call.services.clock.after(delayMs, () => {
      this.#sendBookmark();
      this.#scheduleBookmark(remainingMs - delayMs);
    });
  }

  #sendBookmark(annotations?: Readonly<Record<string, string>>): void {
    const { services, resource } = this.#plan.call;
    // The store tells of every change within the turn that made it, so in a timer's turn none is outstanding.
    const newest = services.store.version();
    const resourceVersion = String(this.#sentVersion > newest ? this.#sentVersion : newest);
    const members = { ...bookmarkAnnotations(resource), ...annotations };
    const bare = {
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: {
        resourceVersion,
        ...(Object.keys(members).length === 0 ? {} : { annotations: members }),
      },
    };
    const decoded = services.schema.decode(resource, bare);
    const object = decoded.kind === 'decoded' ? decoded.object : (bare as unknown as ApiObject); // a kind without a schema: the bare bookmark says all
    this.#send('BOOKMARK', object);
  }

  #send(type: WatchFrame['type'], object: ApiObject): void {
    this.#sink.frame({ type, object: this.#render(object) });
  }

  #end(): void {
    if (this.#isOver) return;
    this.#stop();
    this.#sink.end();
  }

  #stop(): void {
    this.#isOver = true;
    this.#cancelBookmark();
    for (const cancel of this.#cancels) cancel();
  }
}
