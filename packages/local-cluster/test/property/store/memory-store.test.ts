/**
 * The store against a naive model: whatever is written and whoever subscribes when, lists are the model's, and each
 * subscriber sees every change that it asked for after its version exactly once and in order, or is told it expired.
 *
 * A failure prints fast-check's seed and path; put both into `fc.assert`'s options to replay it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ApiObject, ResourceName } from '../../../src/objects/api-object.ts';
import { createMemoryStore } from '../../../src/store/memory-store.ts';
import type { StoreChange } from '../../../src/store/store.ts';
import { storableNode, storablePod } from '../../support/stored-objects.ts';
import { settle } from '@rollcall/base/testing/virtual-clock.ts';

const HISTORY_MAX = 6;

type Filter = {
  readonly resource: ResourceName;
  readonly namespace?: string;
  readonly name?: string;
  readonly nodeName?: string;
};
type Act =
  | { readonly kind: 'put'; readonly object: ApiObject; readonly resource: ResourceName }
  | { readonly kind: 'remove'; readonly index: number }
  | {
      readonly kind: 'subscribe';
      readonly filter: Filter;
      readonly age: number;
      /** What the subscriber does itself when it is called for the first time. */
      readonly reaction?: Act;
    }
  | { readonly kind: 'cancel'; readonly index: number }
  | { readonly kind: 'compact' };
type Step = Act | { readonly kind: 'settle' };

const nameTexts = fc.constantFrom('a', 'b', 'b-1', 'c');
const namespaceTexts = fc.constantFrom('x', 'x-y', 'z');
const nodeTexts = fc.constantFrom('one', 'two');
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const puts: fc.Arbitrary<Act> = fc.oneof(
  fc
    .tuple(nameTexts, namespaceTexts, maybe(nodeTexts), fc.nat(2))
    .map(([name, namespace, nodeName, restarts]) => ({
      kind: 'put' as const,
      resource: 'pods' as const,
      object: storablePod({
        name,
        namespace,
        status: { restarts },
        ...(nodeName === undefined ? {} : { nodeName }),
      }),
    })),
  fc.tuple(nameTexts, fc.nat(2)).map(([name, heartbeat]) => ({
    kind: 'put' as const,
    resource: 'nodes' as const,
    object: storableNode({ name, status: { heartbeat } }),
  })),
);
const filters: fc.Arbitrary<Filter> = fc.oneof(
  fc.constant({ resource: 'nodes' as const }),
  fc
    .record(
      { namespace: namespaceTexts, name: nameTexts, nodeName: nodeTexts },
      { requiredKeys: [] },
    )
    .map((filter) => ({ resource: 'pods' as const, ...filter })),
);
const actsWith = (reactions: fc.Arbitrary<Act | undefined>): fc.Arbitrary<Act> =>
  fc.oneof(
    { weight: 8, arbitrary: puts },
    { weight: 3, arbitrary: fc.nat(20).map((index) => ({ kind: 'remove' as const, index })) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(filters, fc.integer({ min: -1, max: 12 }), reactions)
        .map(([filter, age, reaction]) => ({
          kind: 'subscribe' as const,
          filter,
          age,
          ...(reaction === undefined ? {} : { reaction }),
        })),
    },
    { weight: 1, arbitrary: fc.nat(9).map((index) => ({ kind: 'cancel' as const, index })) },
    { weight: 1, arbitrary: fc.constant({ kind: 'compact' as const }) },
  );
const acts = actsWith(maybe(actsWith(maybe(actsWith(fc.constant(undefined))))));
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: acts },
  { weight: 1, arbitrary: fc.constant({ kind: 'settle' as const }) },
);

interface Watcher {
  readonly filter: Filter;
  readonly afterVersion: bigint;
  readonly seen: StoreChange[];
  readonly cancel: () => void;
  /** How many it had seen when it was cancelled: it must see no more. */
  seenCountAtCancel?: number;
}

/** The simplest thing that could be right: a Map and a list of everything that ever happened. */
class Model {
  readonly objects = new Map<string, { resource: ResourceName; object: ApiObject }>();
  readonly changes: StoreChange[] = [];
  compactedVersion = 0n;

  oldestVersion(resource: ResourceName): bigint {
    const dropped = this.changes
      .filter((change) => change.resource === resource && change.version > this.compactedVersion)
      .slice(0, -HISTORY_MAX);
    return dropped.at(-1)?.version ?? this.compactedVersion;
  }

  list(resource: ResourceName): readonly ApiObject[] {
    const key = ({ metadata }: ApiObject): Buffer =>
      Buffer.from(`${metadata.namespace ?? ''}/${metadata.name}`);
    return [...this.objects.values()]
      .filter((stored) => stored.resource === resource)
      .map(({ object }) => object)
      .sort((left, right) => Buffer.compare(key(left), key(right)));
  }
}

function nodeOf(object: ApiObject | undefined): unknown {
  return (object?.['spec'] as { nodeName?: string } | undefined)?.nodeName;
}

function isAskedFor({ filter, afterVersion }: Watcher, change: StoreChange): boolean {
  const { object, previous } = change;
  const { resource, namespace, name, nodeName } = filter;
  return (
    change.version > afterVersion &&
    change.resource === resource &&
    (namespace === undefined || object.metadata.namespace === namespace) &&
    (name === undefined || object.metadata.name === name) &&
    (nodeName === undefined || nodeOf(object) === nodeName || nodeOf(previous) === nodeName)
  );
}

class World {
  readonly store = createMemoryStore({ historyMax: HISTORY_MAX });
  readonly model = new Model();
  readonly watchers: Watcher[] = [];

  async take(step: Step): Promise<void> {
    if (step.kind !== 'settle') {
      this.#act(step);
      return;
    }
    await settle();
    this.#checkLists();
  }

  #act(act: Act): void {
    switch (act.kind) {
      case 'put':
        this.#put(act.resource, act.object);
        break;
      case 'remove':
        this.#remove(act.index);
        break;
      case 'subscribe':
        this.#subscribe(act);
        break;
      case 'cancel':
        this.#cancel(act.index);
        break;
      case 'compact':
        this.store.compact();
        this.model.compactedVersion = this.store.version();
        break;
    }
  }

  #put(resource: ResourceName, wished: ApiObject): void {
    const { namespace, name } = wished.metadata;
    const key = `${resource} ${namespace ?? ''}/${name}`;
    const previous = this.model.objects.get(key)?.object;
    const versionBefore = this.store.version();
    const object =
      previous === undefined
        ? this.store.insert(resource, wished)
        : this.store.replace(resource, wished);
    const comparable = (it: ApiObject | undefined): unknown => ({
      ...it,
      metadata: { ...it?.metadata, resourceVersion: '' },
    });
    assert.deepEqual(comparable(object), comparable(wished));
    const version = this.store.version();
    if (version === versionBefore) {
      assert.deepEqual(
        comparable(previous),
        comparable(wished),
        'only an equal one is not written',
      );
      return;
    }
    this.model.objects.set(key, { resource, object });
    this.model.changes.push({
      type: previous === undefined ? 'ADDED' : 'MODIFIED',
      resource,
      object,
      ...(previous === undefined ? {} : { previous }),
      version,
    });
  }

  #remove(index: number): void {
    const entry = [...this.model.objects][index % Math.max(1, this.model.objects.size)];
    if (entry === undefined) return;
    const [key, { resource, object: previous }] = entry;
    const { namespace, name } = previous.metadata;
    const object = this.store.remove({
      resource,
      name,
      ...(namespace === undefined ? {} : { namespace }),
    });
    this.model.objects.delete(key);
    const version = this.store.version();
    this.model.changes.push({ type: 'DELETED', resource, object, previous, version });
  }

  #subscribe({ filter, age, reaction }: Extract<Act, { kind: 'subscribe' }>): void {
    const wished = this.store.version() - BigInt(age);
    const afterVersion = wished < 0n ? 0n : wished;
    const seen: StoreChange[] = [];
    let isInside = true;
    const outcome = this.store.subscribe({
      ...filter,
      afterVersion,
      onChange: (change) => {
        assert.equal(isInside, false, 'nothing is told from inside subscribe');
        seen.push(change);
        if (seen.length === 1 && reaction !== undefined) this.#act(reaction);
      },
    });
    isInside = false;
    const oldestVersion = this.model.oldestVersion(filter.resource);
    if (outcome.kind === 'expired') {
      assert.equal(outcome.oldestVersion, oldestVersion);
      assert(afterVersion < oldestVersion, 'expired although the history reaches back');
      return;
    }
    assert(afterVersion >= oldestVersion, 'not expired although changes are forgotten');
    this.watchers.push({ filter, afterVersion, seen, cancel: outcome.cancel });
  }

  #cancel(index: number): void {
    const watcher = this.watchers[index];
    if (watcher === undefined || watcher.seenCountAtCancel !== undefined) return;
    watcher.cancel();
    watcher.seenCountAtCancel = watcher.seen.length;
  }

  #checkLists(): void {
    for (const resource of ['pods', 'nodes'] as const) {
      assert.deepEqual(this.store.list(resource), this.model.list(resource));
    }
    for (const nodeName of ['one', 'two']) {
      assert.deepEqual(
        this.store.podsOnNode(nodeName),
        this.model.list('pods').filter((pod) => nodeOf(pod) === nodeName),
      );
    }
  }

  check(): void {
    this.#checkLists();
    for (const watcher of this.watchers) {
      const expected = this.model.changes.filter((change) => isAskedFor(watcher, change));
      const seenCount = watcher.seenCountAtCancel ?? expected.length;
      assert.deepEqual(watcher.seen, expected.slice(0, seenCount));
    }
  }
}

test('lists are the model’s, and every subscriber sees each change once, in order, or expires', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 60 }), async (list) => {
      const world = new World();
      for (const step of list) await world.take(step);
      await settle();
      world.check();
    }),
    { numRuns: 1500 },
  );
});
