/**
 * Whatever the schedule does (early, late, twice, never, for hours), however long a walk takes, and
 * wherever an invocation dies: every cluster meets each boundary of its intervals (L2, F11).
 *
 * A failure prints fast-check's seed and path; replay it by putting both into `fc.assert`'s options.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { resyncClusters } from '../../../../src/app/resync/resync.ts';
import {
  defaultResyncOptions,
  createResyncProcessCache,
} from '../../../../src/app/resync/dependencies.ts';
import { clusterId, clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import type { ResyncWalk } from '../../../../src/core/hints/resync-walk.ts';
import { hash48 } from '@rollcall/base/hash48.ts';
import { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { stampAt } from '../../../support/store-suite.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const { hintEveryMs, overdueEveryMs, concurrentClustersMax } = defaultResyncOptions;
const CLUSTERS = 3 * concurrentClustersMax;

const gapMs = fc.oneof(
  // EventBridge: somewhere in its minute, at least once.
  { weight: 9, arbitrary: fc.integer({ min: 50_000, max: 180_000 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 40_000 }) },
  // A rule that was off.
  { weight: 1, arbitrary: fc.constantFrom(HOUR_MS, 7 * HOUR_MS) },
);
const trouble = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ kind: 'none' as const }) },
  // The first sends are refused; or the tables are gone from some call on, as for a process that died.
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('refused' as const, 'dies' as const),
      at: fc.integer({ min: 0, max: 60 }),
    }),
  },
);
const tick = fc.record({ gapMs, trouble, isTwice: fc.boolean() });
type Trouble = typeof trouble extends fc.Arbitrary<infer T> ? T : never;

/** A walk that ended, and that nothing befell: every boundary up to `untilMs` has been met by then. */
interface CleanWalk {
  readonly untilMs: number;
  readonly endedAtMs: number;
}

/** A fleet with one key in each cluster. An invocation gets to all of them, or to a third. */
class Fleet {
  readonly world = new ReconcileWorld({ nodes: 1 });
  readonly #isQuick: boolean;
  /** When each cluster was hinted, and when its due times were looked at. */
  readonly hintedAtMs = new Map<string, number[]>();
  readonly checkedAtMs = new Map<string, number[]>();
  readonly cleanWalks: CleanWalk[] = [];
  /** All invocations are of one process. */
  readonly processCache = createResyncProcessCache();
  readonly #troubled = new Set<number>();

  constructor(isQuick: boolean) {
    this.#isQuick = isQuick;
  }

  async prepare(): Promise<void> {
    const { world } = this;
    await world.mirror.sync();
    const meta = await world.view.readMeta(world.registration.clusterUid);
    assert.ok(meta !== undefined);
    await world.registry.removeCluster(world.registration.id, 1);
    for (let index = 0; index < CLUSTERS; index += 1) {
      const id = `c${String(index).padStart(2, '0')}`;
      const owner = clusterUid(`uid-of-${id}`);
      world.registry.seed({ ...world.registration, id: clusterId(id), clusterUid: owner });
      await world.view.writeMeta({ ...meta, clusterUid: owner, version: 0 });
      const name = { namespace: 'system', name: 'agents', uid: uid(`ds-${id}`), stamp: stampAt(1) };
      await world.view.writeName(owner, name);
      this.hintedAtMs.set(id, []);
      this.checkedAtMs.set(id, []);
    }
  }

  /** One invocation; what it was doing when it died is lost. */
  async invoke(befalling: Trouble = { kind: 'none' }): Promise<void> {
    const { registry, view, connector, queue, clock, log, metrics, dependencies } = this.world;
    let calls = 0;
    const before = (): void => {
      calls += 1;
      if (befalling.kind === 'dies' && calls > befalling.at) throw new Error('injected: gone');
    };
    registry.hooks = { before };
    view.hooks = {
      before,
      after: ({ operation, target }) => {
        if (operation === 'readState') this.#note(this.checkedAtMs, target.split('uid-of-')[1]);
      },
    };
    if (befalling.kind === 'refused') queue.failNext(befalling.at);
    const { random } = dependencies;
    const options = defaultResyncOptions;
    const { processCache } = this;
    const ports = {
      registry,
      view,
      connector,
      queue,
      processCache,
      clock,
      random,
      log,
      metrics,
      options,
    };
    const deadlineMs = clock.monotonicMs() + (this.#isQuick ? 20_000 : 0);
    await resyncClusters({ deadlineMs }, ports).catch((error: unknown) => {
      assert.match(String(error), /injected/);
    });
    [registry.hooks, view.hooks] = [{}, {}];
    queue.failNext(0);
    // What is hinted is looked at anyway.
    for (const { key } of queue.hints) {
      this.#note(this.hintedAtMs, key.cluster);
      this.#note(this.checkedAtMs, key.cluster);
    }
    queue.hints.length = 0;
    this.#noteWalk(befalling);
  }

  #noteWalk(befalling: Trouble): void {
    const { untilMs, isOver } = this.world.view.peek('WALK') as ResyncWalk;
    if (befalling.kind !== 'none') this.#troubled.add(untilMs);
    else if (isOver && !this.#troubled.has(untilMs)) {
      this.cleanWalks.push({ untilMs, endedAtMs: this.world.clock.nowMs() });
    }
  }

  #note(notes: ReadonlyMap<string, number[]>, cluster: string | undefined): void {
    notes.get(cluster?.split(' ')[0] ?? '')?.push(this.world.clock.nowMs());
  }
}

function boundaries(id: string, everyMs: number, [fromMs, untilMs]: readonly [number, number]) {
  const phaseMs = hash48(id) % everyMs;
  const first = Math.floor((fromMs + phaseMs) / everyMs) + 1;
  const last = Math.floor((untilMs + phaseMs) / everyMs);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => {
    return (first + index) * everyMs - phaseMs;
  });
}

describe('resync, whenever it is called (F11)', () => {
  it('meets every boundary of every cluster, hints and due times, by the end of the next walk (L2)', async () => {
    const ticks = fc.array(tick, { minLength: 10, maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(fc.boolean(), ticks, async (isQuick, schedule) => {
        const fleet = new Fleet(isQuick);
        const { clock, queue } = fleet.world;
        await fleet.prepare();
        await fleet.invoke();
        const fromMs = clock.nowMs();
        for (const { gapMs: byMs, trouble: befalling, isTwice } of schedule) {
          await clock.advance(byMs);
          queue.forgetDeduplication();
          await fleet.invoke(befalling);
          if (isTwice) await fleet.invoke();
        }
        const met: readonly [number, number] = [fromMs, clock.nowMs()];
        // What is under way ends, then a walk that begins afterwards.
        for (let count = 0; count < (isQuick ? 2 : 6); count += 1) {
          await clock.advance(MINUTE_MS);
          await fleet.invoke();
        }
        for (const [everyMs, notes] of [
          [hintEveryMs, fleet.hintedAtMs],
          [overdueEveryMs, fleet.checkedAtMs],
        ] as const) {
          for (const [id, atMs] of notes) {
            const missed = boundaries(id, everyMs, met).filter((boundaryMs) => {
              const walk = fleet.cleanWalks.find(({ untilMs }) => untilMs >= boundaryMs);
              assert.ok(walk !== undefined, 'the last ones are clean');
              const isMet = (ms: number): boolean => ms >= boundaryMs && ms <= walk.endedAtMs;
              return !atMs.some(isMet);
            });
            assert.deepEqual(missed, [], `${id} missed a boundary`);
          }
        }
      }),
      { numRuns: 20 },
    );
  });

  it('hints no cluster twice for one boundary, in whole walks and in long ones, called late or twice', async () => {
    const ticks = fc.array(fc.tuple(gapMs, fc.boolean()), { minLength: 20, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.boolean(), ticks, async (isQuick, schedule) => {
        const fleet = new Fleet(isQuick);
        const { clock, queue } = fleet.world;
        await fleet.prepare();
        for (const [byMs, isTwice] of schedule) {
          await clock.advance(byMs);
          await Promise.all(isTwice ? [fleet.invoke(), fleet.invoke()] : [fleet.invoke()]);
        }
        const sent = queue.sends.flatMap(({ prefix, keys }) => keys.map((key) => prefix + key));
        assert.equal(new Set(sent).size, sent.length);
      }),
      { numRuns: 15 },
    );
  });
});
