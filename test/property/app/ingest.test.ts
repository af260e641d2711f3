/**
 * Any history of a cluster, told with duplicates, redeliveries, crashes, lost answers, restarts and
 * concurrent runs, leaves the view that telling it once would leave, and the keys hinted.
 *
 * A failure prints fast-check's seed and path; replay it with
 * `npm test -- test/property/app/ingest.test.ts` after putting both into `fc.assert`'s options.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { createIngestProcessCache } from '../../../src/app/ingest/process/dependencies.ts';
import { resourceVersion } from '../../../src/core/model/identifiers.ts';
import type { SetId, WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import { IngestHarness, contentOf, deliver } from '../../support/ingest-harness.ts';
import {
  ScriptedSender,
  daemonSetOf,
  nodeOf,
  podOf,
  revisionOf,
} from '../../support/scripted-sender.ts';
import type { Standing } from '../../support/scripted-sender.ts';
import { failingAtWrite } from '../../support/store-hooks.ts';

const small = fc.integer({ min: 0, max: 3 });
const DAEMON_SETS = ['ds-d0', 'ds-d1', 'ds-d2', 'ds-d3'];

const objectChange = fc.oneof(
  fc.record({ what: fc.constant('node' as const), index: small, version: small }),
  fc.record({ what: fc.constant('daemonset' as const), index: small, version: small }),
  fc.record({ what: fc.constant('revision' as const), index: small, version: small, owner: small }),
  fc.record({
    what: fc.constant('pod' as const),
    index: small,
    version: small,
    owners: fc.subarray(DAEMON_SETS, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ what: fc.constant('gone' as const), uid: fc.constantFrom(...uids()) }),
);
type ObjectChange = typeof objectChange extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('changes' as const),
      changes: fc.array(objectChange, { maxLength: 4 }),
      cut: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('snapshot' as const),
      sliceCount: fc.constantFrom(1, 4),
      isNewEpoch: fc.boolean(),
      before: fc.array(objectChange, { maxLength: 2 }),
      between: fc.array(objectChange, { maxLength: 3 }),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const trouble = fc.record({
  duplicate: fc.integer({ min: 0, max: 3 }),
  crashAtWrite: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
  moment: fc.constantFrom('before' as const, 'after' as const),
  hintsFail: fc.boolean(),
  isRestarted: fc.boolean(),
  isConcurrent: fc.boolean(),
});

function uids(): readonly string[] {
  return [0, 1, 2, 3].flatMap((index) => [
    `node-uid-n${index}`,
    `ds-d${index}`,
    `pod-uid-p${index}`,
    `rev-uid-r${index}`,
  ]);
}

function standingOf(change: Exclude<ObjectChange, { what: 'gone' }>): Standing {
  const version = change.version + 1;
  switch (change.what) {
    case 'node':
      return nodeOf(`n${change.index}`, version);
    case 'daemonset':
      return daemonSetOf(`d${change.index}`, version);
    case 'revision':
      return revisionOf(`r${change.index}`, `ds-d${change.owner}`, version);
    case 'pod':
      return podOf(`p${change.index}`, change.owners, { version });
  }
}

/** The newest state per object, as a watcher's outbox holds it. */
function messageOf(
  sender: ScriptedSender,
  changes: readonly ObjectChange[],
  cut: boolean,
): WatcherMessage {
  const gone = new Set(changes.flatMap((one) => (one.what === 'gone' ? [one.uid] : [])));
  const standing = new Map<string, Standing>();
  for (const change of changes) {
    if (change.what === 'gone') continue;
    const one = standingOf(change);
    if (!gone.has(one.object.uid)) standing.set(one.object.uid, one);
  }
  return sender.changes([...standing.values()], { gone: [...gone], cut });
}

/** The messages of a history; each watcher knows what the one before it knew. */
function messagesOf(steps: readonly Step[]): readonly WatcherMessage[] {
  const messages: WatcherMessage[] = [];
  let epochNumber = 100;
  let sender = new ScriptedSender({ epoch: String(epochNumber) });
  messages.push(...sender.snapshot());
  for (const one of steps) {
    if (one.kind === 'changes') {
      messages.push(messageOf(sender, one.changes, one.cut));
      continue;
    }
    if (one.isNewEpoch) {
      epochNumber += 7;
      const next = new ScriptedSender({ epoch: String(epochNumber) });
      const mark = resourceVersion(String(epochNumber));
      next.marks = { Node: mark, Pod: mark, DaemonSet: mark, ControllerRevision: mark };
      const all = sender
        .sets()
        .flatMap((set: SetId) => sender.members(set).map(({ object }) => object));
      const unique = new Map(all.map((object) => [object.uid, object]));
      next.know(
        [...unique.values()].map((object) => ({
          object,
          sets: sender
            .sets()
            .filter((set) =>
              sender.members(set).some((member) => member.object.uid === object.uid),
            ),
        })),
      );
      // What vanished while nobody watched, or came.
      for (const change of one.before) {
        if (change.what === 'gone') next.forget(change.uid);
        else next.know([standingOf(change)]);
      }
      sender = next;
    }
    messages.push(sender.announce({ reason: 'periodic', sliceCount: one.sliceCount }));
    messages.push(sender.slices());
    messages.push(messageOf(sender, one.between, false));
    messages.push(sender.manifest());
  }
  messages.push(sender.heartbeat());
  return messages;
}

function hintsOf(harness: IngestHarness): readonly string[] {
  const keys = harness.queue.sends.flatMap((send) =>
    send.keys.map((key) => `${send.prefix} ${key}`),
  );
  return [...new Set(keys)].sort();
}

/**
 * What `reconcile` can read: META, names, live DaemonSets and their slices. What a loss left behind in
 * sets of DaemonSets that do not exist, or beyond the slice count, is read by nobody.
 */
async function readableOf(harness: IngestHarness): Promise<Readonly<Record<string, unknown>>> {
  const { clusterUid, sliceCount } = await harness.meta();
  const { names } = await harness.view.listNames(clusterUid, { limit: 100 });
  const live = new Set(names.map(({ uid }) => String(uid)));
  const isReadable = (key: string): boolean => {
    const [kind, , part = '', index] = key.split(' ');
    if (kind === 'DAEMONSET') return live.has(part);
    if (kind === 'NAME')
      return names.some(({ namespace, name }) => part === `${namespace}/${name}`);
    if (kind !== 'SLICE') return true;
    return Number(index) < sliceCount && (part === 'nodes' || live.has(part.split('/')[1] ?? ''));
  };
  const entries = Object.entries(contentOf(harness.view));
  return Object.fromEntries(entries.filter(([key]) => isReadable(key)));
}

describe('ingest, whatever happens to its messages', () => {
  it('leaves the view and the hints of a history told once (L1, L2, S8)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 10 }),
        fc.array(trouble, { minLength: 8, maxLength: 8 }),
        async (steps, troubles) => {
          const messages = messagesOf(steps);
          const wanted = new IngestHarness();
          const last = await wanted.ingestAll(messages);
          assert.equal(last.kind, 'applied', 'a correct sender is never refused');
          assert.equal((await wanted.meta()).isComplete, true);
          assert.equal((await wanted.meta()).broken, 0, 'and never mistrusted');
          const harness = new IngestHarness();
          for (const [index, message] of messages.entries()) {
            const now = troubles[index % troubles.length];
            assert.ok(now !== undefined);
            if (now.isRestarted) harness.restart();
            if (now.crashAtWrite !== undefined) {
              harness.view.hooks = failingAtWrite(now.crashAtWrite, now.moment);
            }
            harness.queue.failNext(now.hintsFail ? 1 : 0);
            await harness.ingest(message).catch(() => undefined);
            harness.view.hooks = {};
            harness.queue.failNext(0);
            const other = { ...harness.dependencies(), processCache: createIngestProcessCache() };
            await Promise.all([
              harness.ingest(message),
              now.isConcurrent ? deliver(message, harness.context(), other) : undefined,
            ]);
            const earlier = messages[index - now.duplicate];
            if (earlier !== undefined) await harness.ingest(earlier);
          }
          assert.deepEqual(contentOf(harness.view), contentOf(wanted.view));
          for (const hint of hintsOf(wanted)) assert.ok(hintsOf(harness).includes(hint), hint);
          assert.equal((await harness.meta()).broken, 0);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is brought back by the next snapshot from any loss (rows 26, 83)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 8 }),
        fc.nat(),
        async (steps, where) => {
          const messages = messagesOf([
            ...steps,
            { kind: 'snapshot', sliceCount: 1, isNewEpoch: false, before: [], between: [] },
          ]);
          const wanted = new IngestHarness();
          await wanted.ingestAll(messages);
          // Between the first snapshot and the last one.
          const lost = 3 + (where % (messages.length - 8));
          const harness = new IngestHarness();
          for (const [index, message] of messages.entries()) {
            if (index === lost) continue;
            const result = await harness.ingest(message);
            if (index !== lost + 1 || message.body.kind === 'announcement') continue;
            assert.equal((await harness.meta()).isComplete, false, result.kind);
          }
          assert.deepEqual(await readableOf(harness), await readableOf(wanted));
          assert.equal((await harness.meta()).isComplete, true);
        },
      ),
      { numRuns: 100 },
    );
  });
});
