/** What the watcher reads and tells of content that is part of a revision (ADR 0061): hashes, by name, for those who ask. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPolicyReader } from '../../../../src/adapters/policy/policy-reader.ts';
import type { ObservedConfig } from '../../../../src/core/model/projections.ts';
import { ScriptedConfigSource } from '../../../support/scripted-config-source.ts';
import { createWatcherHarness, daemonSetDraft } from '../../../support/watcher-harness.ts';
import type { WatcherHarness } from '../../../support/watcher-harness.ts';
import type { Watcher } from '../../../../src/watcher/session/watcher.ts';

const SETTINGS = 'ConfigMap/infra/settings';
const SECRET_TEXT = 'hunter2';

interface World {
  readonly harness: WatcherHarness;
  readonly config: ScriptedConfigSource;
  readonly watcher: Watcher;
  readonly loads: () => number;
  /** What a reader knows of the DaemonSet's content. */
  readonly told: () => ObservedConfig | undefined;
  readonly annotate: (policy: string | undefined) => void;
}

async function watching(policy: string | undefined, arrange = filled): Promise<World> {
  const config = new ScriptedConfigSource();
  arrange(config);
  let loads = 0;
  const loadPolicies = (): ReturnType<() => Promise<ReturnType<typeof createPolicyReader>>> => {
    loads += 1;
    return Promise.resolve(createPolicyReader());
  };
  const harness = createWatcherHarness({}, { source: config, loadPolicies });
  const annotate = (text: string | undefined): void => {
    harness.source.put('DaemonSet', drafted(text));
  };
  annotate(policy);
  const watcher = await harness.startSettled();
  await harness.clock.advance(10_000);
  const told = (): ObservedConfig | undefined => {
    const [object] = [...harness.ingest().set('daemonsets').values()];
    return object?.kind === 'DaemonSet' ? object.config : assert.fail('no DaemonSet');
  };
  return { harness, config, watcher, told, annotate, loads: () => loads };
}

function filled(config: ScriptedConfigSource): void {
  config.putKey(1);
  config.put(SETTINGS, { level: 'info', password: SECRET_TEXT });
}

function drafted(policy: string | undefined): ReturnType<typeof daemonSetDraft> {
  const draft = daemonSetDraft('agent', { uid: 'agent' });
  const annotations = policy === undefined ? {} : { 'rollcall.dev/rollout': policy };
  const containers = [{ name: 'a', envFrom: [{ configMapRef: { name: 'settings' } }] }];
  const spec = { selector: { matchLabels: { app: 'agent' } }, template: { spec: { containers } } };
  return { ...draft, metadata: { ...draft.metadata, annotations }, spec };
}

const MINUTE_MS = 61_000;

describe('content, as the watcher tells it', () => {
  it('is one keyed hash for each object that counts, and no part of it', async () => {
    const { told, watcher, harness } = await watching('config: true');
    const { key, objects } = told() ?? assert.fail('nothing was told');
    assert.match(key ?? '', /^[0-9a-f]{8}$/);
    assert.deepEqual(
      objects.map(({ kind, name }) => `${kind} ${name}`),
      ['ConfigMap settings'],
    );
    assert.match(objects[0]?.hash ?? '', /^[0-9a-f]{20}$/);
    const sent = JSON.stringify([harness.queue.accepted, harness.log.lines]);
    assert.ok(!sent.includes(SECRET_TEXT));
    await watcher.stop();
  });

  it('costs nothing while nobody asks: no request, no timer of a minute, no reader of policies', async () => {
    for (const policy of [undefined, 'soak: 1m']) {
      const { told, config, watcher, harness, loads } = await watching(policy);
      await harness.clock.advance(3_600_000);
      assert.deepEqual([told(), config.asked, loads()], [undefined, [], 0]);
      await watcher.stop();
    }
  });

  it('is told anew when content changes, and not when labels do', async () => {
    const { told, config, watcher, harness } = await watching('config: true');
    const before = told();
    config.put(SETTINGS, { level: 'info', password: SECRET_TEXT }, { touched: 'yes' });
    await harness.clock.advance(MINUTE_MS);
    assert.deepEqual(told(), before);
    config.put(SETTINGS, { level: 'debug', password: SECRET_TEXT });
    await harness.clock.advance(MINUTE_MS);
    assert.notEqual(told()?.objects[0]?.hash, before?.objects[0]?.hash);
    await watcher.stop();
  });

  it('asks for content only where the version moved', async () => {
    const { config, watcher, harness } = await watching('config: true');
    config.asked.length = 0;
    await harness.clock.advance(10 * MINUTE_MS);
    assert.ok(config.asked.length > 0 && config.asked.length < 30);
    assert.deepEqual(
      config.asked.filter((each) => each.startsWith('whole')),
      [],
    );
    await watcher.stop();
  });

  it('names what is missing and what may not be read, and takes a failure for nothing until it lasts', async () => {
    const { told, config, watcher, harness } = await watching('config: true');
    const { hash } = told()?.objects[0] ?? assert.fail('nothing was told');
    config.failures.set(SETTINGS, 'unavailable');
    await harness.clock.advance(5 * MINUTE_MS);
    assert.deepEqual(told()?.objects, [{ kind: 'ConfigMap', name: 'settings', hash }]);
    await harness.clock.advance(10 * MINUTE_MS);
    assert.deepEqual(told()?.objects, [
      { kind: 'ConfigMap', name: 'settings', hash, problem: 'unread' },
    ]);
    config.failures.set(SETTINGS, 'unauthorized');
    await harness.clock.advance(MINUTE_MS);
    assert.equal(told()?.objects[0]?.problem, 'forbidden');
    config.failures.clear();
    config.remove(SETTINGS);
    await harness.clock.advance(MINUTE_MS);
    assert.equal(told()?.objects[0]?.problem, 'missing');
    filled(config);
    await harness.clock.advance(MINUTE_MS);
    assert.deepEqual(told()?.objects, [{ kind: 'ConfigMap', name: 'settings', hash }]);
    await watcher.stop();
  });

  it('without a key nothing is hashed, and another key says that it is another one', async () => {
    const { told, config, watcher, harness } = await watching('config: true', (source) => {
      source.put(SETTINGS, { a: 'b' });
    });
    assert.deepEqual(told(), { objects: [{ kind: 'ConfigMap', name: 'settings' }] });
    config.putKey(1);
    await harness.clock.advance(MINUTE_MS);
    const first = told();
    config.putKey(2);
    await harness.clock.advance(MINUTE_MS);
    assert.notEqual(told()?.key, first?.key);
    assert.notEqual(told()?.objects[0]?.hash, first?.objects[0]?.hash);
    config.put('Secret/rollcall-system/rollcall-config-key', { key: 'c2hvcnQ=' });
    await harness.clock.advance(MINUTE_MS);
    assert.equal(told()?.key, undefined);
    await watcher.stop();
  });

  it('another watcher tells the same hash', async () => {
    const { told, watcher, harness } = await watching('config: true');
    const before = told();
    await watcher.stop();
    const other = await harness.startSettled(2);
    await harness.clock.advance(10_000);
    assert.deepEqual(told(), before);
    await other.stop();
  });

  it('turned on it is read soon, turned off it is told and read no more', async () => {
    const { told, config, watcher, harness, annotate } = await watching('soak: 1m');
    annotate('config: true');
    await harness.clock.advance(5000);
    assert.notEqual(told()?.objects[0]?.hash, undefined);
    annotate('soak: 1m');
    await harness.clock.advance(2 * MINUTE_MS);
    config.asked.length = 0;
    await harness.clock.advance(3_600_000);
    assert.deepEqual([told(), config.asked], [undefined, []]);
    await watcher.stop();
  });

  it('a list names what counts; a policy that cannot be read counts nothing', async () => {
    const { told, watcher, harness, annotate } = await watching('config: {secrets: [token]}');
    assert.deepEqual(told()?.objects, [{ kind: 'Secret', name: 'token', problem: 'missing' }]);
    annotate('config: maybe');
    await harness.clock.advance(2 * MINUTE_MS);
    assert.equal(told(), undefined);
    await watcher.stop();
  });
});
