/**
 * What every implementation of the freeze store must do: run against the one in memory and against the DynamoDB adapter, so
 * that the double and the real thing agree (M4). Each test begins with whatever the one before left.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  FROZEN_DAEMON_SETS_MAX,
  withFreeze,
  withoutFreeze,
} from '../../src/core/may-act/freeze.ts';
import { BY_CHARACTERS_MAX } from '../../src/core/model/registration.ts';
import type { Freeze } from '../../src/core/may-act/freeze.ts';
import type { FreezeStore } from '../../src/ports/stores/freeze-store.ts';
import type { RegistryStore } from '../../src/ports/stores/registry-store.ts';
import { freshName, registrationOf } from './store-suite.ts';

const NOTE = { by: 'ann', why: 'bad kernel', atMs: 1000 };
const DNS = { kind: 'daemon-set', namespace: 'kube-system', name: 'dns' } as const;

function frozen(freeze: Freeze | 'full'): Freeze {
  assert.ok(freeze !== 'full');
  return freeze;
}

/** Tests of a freeze store that nobody wrote to; call inside a describe block. */
export function testFreezeStore(store: () => FreezeStore): void {
  it('has nothing frozen where nothing ever was', async () => {
    assert.deepEqual(await store().readFreeze(), { version: 0, daemonSets: {} });
  });

  it('gives back what was written, at a version one higher', async () => {
    const before = await store().readFreeze();
    const wanted = frozen(
      withFreeze(frozen(withFreeze(before, DNS, NOTE)), { kind: 'stack' }, NOTE),
    );
    assert.equal(await store().writeFreeze(wanted), 'written');
    assert.deepEqual(await store().readFreeze(), { ...wanted, version: before.version + 1 });
    const lifted = withoutFreeze(await store().readFreeze(), { kind: 'stack' });
    assert.equal(await store().writeFreeze(lifted), 'written');
    const left = await store().readFreeze();
    assert.deepEqual(left, {
      version: before.version + 2,
      daemonSets: { 'kube-system/dns': NOTE },
    });
    assert.equal(await store().writeFreeze(withoutFreeze(left, DNS)), 'written');
  });

  it('writes only over the version that was read, and of several at once lets one', async () => {
    const before = await store().readFreeze();
    const outcomes = await Promise.all(
      ['a', 'b', 'c'].map((by) => store().writeFreeze({ ...before, all: { ...NOTE, by } })),
    );
    assert.deepEqual([...outcomes].sort(), ['lost', 'lost', 'written']);
    const winner = ['a', 'b', 'c'][outcomes.indexOf('written')];
    assert.equal((await store().readFreeze()).all?.by, winner);
    assert.equal(await store().writeFreeze({ ...before, version: 0 }), 'lost');
    await store().writeFreeze(withoutFreeze(await store().readFreeze(), { kind: 'stack' }));
  });

  it('keeps who stopped the functions beside the freeze, until they are resumed', async () => {
    const before = await store().readFreeze();
    const note = { ...NOTE, functions: ['reconcile', 'fleet'] };
    assert.equal(await store().readStop(), undefined);
    await store().writeStop(note);
    assert.deepEqual(await store().readStop(), note);
    assert.deepEqual(await store().readFreeze(), before);
    await store().writeStop(undefined);
    assert.equal(await store().readStop(), undefined);
    await assert.rejects(store().writeStop({ ...note, why: 'two\nlines' }));
  });

  it('keeps when functions were stopped, beside it', async () => {
    assert.deepEqual(await store().readStops(), []);
    await store().writeStops([[1, 2]]);
    assert.deepEqual(await store().readStops(), [[1, 2]]);
    await store().writeStops([]);
    assert.deepEqual(await store().readStops(), []);
  });

  it('writes nothing that is no freeze', async () => {
    const before = await store().readFreeze();
    const many = Array.from({ length: FROZEN_DAEMON_SETS_MAX + 1 }, (_, index) => [
      `ns/set-${String(index)}`,
      NOTE,
    ]);
    for (const bad of [
      { ...before, daemonSets: Object.fromEntries(many) as Freeze['daemonSets'] },
      { ...before, daemonSets: { 'no-namespace': NOTE } },
      { ...before, all: { ...NOTE, why: 'x'.repeat(257) } },
      { ...before, all: { ...NOTE, why: 'two\nlines' } },
      { ...before, all: { ...NOTE, by: 'x'.repeat(BY_CHARACTERS_MAX + 1) } },
    ]) {
      await assert.rejects(async () => store().writeFreeze(bad));
    }
    assert.deepEqual(await store().readFreeze(), before);
  });
}

/** Tests of what a registry keeps of a cluster's own freeze; call inside a describe block. */
export function testFreezeNotes(store: () => RegistryStore): void {
  it('keeps who froze a cluster and why for as long as it is frozen (issue 18)', async () => {
    const registration = registrationOf(freshName('cluster'));
    const frozen = { by: 'ann', why: 'bad kernel', atMs: 7 };
    await store().writeCluster({ ...registration, isFrozen: true, frozen }, 0);
    assert.deepEqual((await store().readCluster(registration.id))?.frozen, frozen);
    const labelled = { ...registration, isFrozen: true, frozen, labels: { ring: '1' } };
    await store().writeCluster(labelled, 1);
    assert.deepEqual(await store().readCluster(registration.id), { ...labelled, configVersion: 2 });
    await store().writeCluster({ ...registration, frozen }, 2);
    assert.deepEqual(await store().readCluster(registration.id), {
      ...registration,
      configVersion: 3,
    });
    await store().writeCluster({ ...registration, isFrozen: true }, 3);
    const unnoted = { ...registration, isFrozen: true, configVersion: 4 };
    assert.deepEqual(await store().readCluster(registration.id), unnoted, 'not the note of before');
  });
}
