/** S1, S4, S7, S8, S9, S19: what is looked at just before something is sent or written. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  findEffectBreach,
  findStateBreach,
  findStatusBreach,
} from '../../../../src/core/plan/invariants.ts';
import type { EffectRules, SentSoFar } from '../../../../src/core/plan/invariants.ts';
import type { DeletePodEffect, Effect, PatchEffect } from '../../../../src/core/model/effects.ts';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { DaemonSetState } from '../../../../src/core/model/state.ts';
import {
  answerOf,
  createIntent,
  daemonSet,
  deleteIntent,
  pod,
  state,
} from '../../../support/core-fixtures.ts';

const UID = uid('ds');
const CREATE = createIntent('n1');
const DELETE = deleteIntent(pod('n2'));
const RULES: EffectRules = {
  mode: 'takeover',
  namespace: 'ops',
  uid: UID,
  burstPodsMax: 2,
  recorded: [CREATE, DELETE],
};
const NOTHING: SentSoFar = { creates: 0, deletes: 0, patches: 0, pods: new Set() };
const AT = { namespace: 'ops', name: 'x' };

const create: Effect = {
  ...{ ...AT, kind: 'create-pod', name: CREATE.name, node: nodeName('n1') },
  body: { metadata: { ownerReferences: [{ uid: UID }] } },
};
const remove: DeletePodEffect = {
  ...{ ...AT, kind: 'delete-pod', uid: DELETE.uid },
  resourceVersion: DELETE.resourceVersion,
};
const patch: PatchEffect = {
  ...{ ...AT, kind: 'patch', resource: 'pods', uid: uid('p'), purpose: 'adopt' },
  ...{ contentType: 'application/merge-patch+json', body: { metadata: { uid: 'p' } } },
};
const status: Effect = {
  ...{ ...AT, kind: 'update-status', uid: UID },
  body: { metadata: { uid: UID, resourceVersion: '5' } },
};

const brokenBy = (effect: Effect, sent: Partial<SentSoFar> = {}): string | undefined =>
  findEffectBreach(effect, RULES, { ...NOTHING, ...sent })?.invariant;

describe('an effect breaks nothing', () => {
  it('that was recorded, carries what it goes by, and is within the burst', () => {
    const revision = { ...AT, uid: uid('r'), resourceVersion: resourceVersion('7') };
    const event: Effect = { ...AT, kind: 'create-event', body: {} };
    for (const effect of [create, remove, patch, status, event]) {
      assert.equal(brokenBy(effect, { creates: 1, deletes: 1, patches: 1 }), undefined);
    }
    assert.equal(brokenBy({ ...revision, kind: 'delete-revision' }), undefined);
  });
});

describe('an effect breaks', () => {
  it('S1 as a create that was not recorded, or was sent before', () => {
    assert.equal(brokenBy({ ...create, name: 'unknown' }), 'S1');
    assert.equal(brokenBy(create, { pods: new Set([CREATE.name]) }), 'S1');
  });

  it('S4 without what it goes by, of another version than was recorded, or for others', () => {
    const body = { metadata: { uid: UID } };
    const others: readonly Effect[] = [
      { ...create, namespace: 'elsewhere' },
      { ...create, body: { metadata: {} } },
      { ...remove, uid: uid('') },
      { ...remove, uid: uid('another') },
      { ...remove, resourceVersion: resourceVersion('9999') },
      { ...patch, body: { metadata: {} } },
      { ...patch, uid: uid('') },
      { ...status, uid: uid('another') },
      { ...status, body },
      { ...AT, kind: 'delete-revision', uid: uid(''), resourceVersion: resourceVersion('7') },
    ];
    for (const effect of others) assert.equal(brokenBy(effect), 'S4', JSON.stringify(effect));
  });

  it('S4 in copilot unless it deletes a pod or tells an Event, and in observe always', () => {
    const at = { ...AT, uid: uid('r'), resourceVersion: resourceVersion('7') };
    const everything: readonly Effect[] = [
      ...[create, remove, patch, status],
      { ...at, kind: 'delete-revision' },
      ...(['create-revision', 'create-event', 'patch-event'] as const).map((kind): Effect => ({
        ...AT,
        kind,
        body: {},
      })),
    ];
    const sentIn = (mode: EffectRules['mode']): readonly string[] =>
      everything
        .filter((effect) => findEffectBreach(effect, { ...RULES, mode }, NOTHING) === undefined)
        .map(({ kind }) => kind);
    assert.equal(sentIn('takeover').length, everything.length);
    assert.deepEqual(sentIn('copilot'), ['delete-pod', 'create-event', 'patch-event']);
    assert.deepEqual(sentIn('observe'), []);
  });

  it('S19 as a taint that is not the start-up taint of the cluster, without a UID, or in observe', () => {
    const taint = { key: 'example.com/not-ready', effect: 'NoSchedule' } as const;
    const startUp = { taint, counts: 'labelled', waitBoundMs: 1 } as const;
    const effect: Effect = {
      ...{ kind: 'remove-taint', namespace: '', name: nodeName('n1'), uid: uid('n') },
      ...{ index: 0, taint },
    };
    const breaks = (changed: Partial<typeof effect>, rules: Partial<EffectRules>): unknown => {
      const asked = { ...effect, ...changed } as Effect;
      return findEffectBreach(asked, { ...RULES, ...rules }, NOTHING)?.invariant;
    };
    for (const mode of ['takeover', 'copilot'] as const) {
      assert.equal(breaks({}, { startUp, mode }), undefined);
    }
    assert.equal(breaks({}, { startUp, mode: 'observe' }), 'S19');
    assert.equal(breaks({}, {}), 'S19');
    assert.equal(breaks({ uid: uid('') }, { startUp }), 'S19');
    assert.equal(breaks({ taint: { ...taint, effect: 'NoExecute' } }, { startUp }), 'S19');
  });

  it('S19 as a condition that is not the start-up condition of the cluster', () => {
    const taint = { key: 'example.com/not-ready', effect: 'NoSchedule' } as const;
    const startUp = { taint, counts: 'labelled', waitBoundMs: 1 } as const;
    const effect: Effect = {
      ...{ kind: 'set-condition', namespace: '', name: nodeName('n1'), uid: uid('n') },
      ...{ condition: 'example.com/Ready', sinceMs: 1 },
    };
    const breaks = (condition: string, mode: EffectRules['mode']): unknown => {
      const rules = { ...RULES, mode, startUp: { ...startUp, condition } };
      return findEffectBreach(effect, rules, NOTHING)?.invariant;
    };
    assert.equal(breaks('example.com/Ready', 'copilot'), undefined);
    assert.equal(breaks('example.com/Ready', 'observe'), 'S19');
    assert.equal(breaks('Ready', 'takeover'), 'S19');
    assert.equal(findEffectBreach(effect, { ...RULES, startUp }, NOTHING)?.invariant, 'S19');
  });

  it('S4 as a template outside of copilot, or of another DaemonSet', () => {
    const restore: Effect = {
      ...{ ...AT, kind: 'restore-template', uid: UID },
      ...{ resourceVersion: resourceVersion('7'), template: {} },
    };
    const inMode = (effect: Effect, mode: EffectRules['mode']): string | undefined =>
      findEffectBreach(effect, { ...RULES, mode }, NOTHING)?.invariant;
    assert.equal(inMode(restore, 'copilot'), undefined);
    assert.equal(inMode(restore, 'takeover'), 'S4');
    assert.equal(inMode({ ...restore, uid: uid('another') }, 'copilot'), 'S4');
  });

  it('S4 as a copy of another DaemonSet’s template, or outside of takeover', () => {
    const owned = (...uids: readonly string[]): Effect => ({
      ...{ ...AT, kind: 'create-copy' },
      body: { metadata: { ownerReferences: uids.map((each) => ({ uid: each })) } },
    });
    const inMode = (effect: Effect, mode: EffectRules['mode']): string | undefined =>
      findEffectBreach(effect, { ...RULES, mode }, NOTHING)?.invariant;
    assert.equal(inMode(owned(UID), 'takeover'), undefined);
    assert.equal(inMode(owned(UID), 'copilot'), 'S4');
    assert.equal(inMode(owned('another'), 'takeover'), 'S4');
    assert.equal(inMode(owned(UID, 'another'), 'takeover'), 'S4');
    assert.equal(inMode(owned(), 'takeover'), 'S4');
  });

  it('S9 beyond the burst of one run', () => {
    assert.equal(brokenBy(create, { creates: 2 }), 'S9');
    assert.equal(brokenBy(remove, { deletes: 2 }), 'S9');
    assert.equal(brokenBy(patch, { patches: 2 }), 'S9');
    assert.equal(
      brokenBy({ ...patch, resource: 'controllerrevisions' }, { patches: 2 }),
      undefined,
    );
  });
});

describe('a write of the state breaks', () => {
  const written = { era: 3, pods: resourceVersion('90') };
  const from = state({ intents: [CREATE, DELETE], written });
  const breaks = (to: Partial<DaemonSetState>, settled = [CREATE]): string | undefined =>
    findStateBreach({ from, to: { ...from, ...to }, settled })?.invariant;

  it('nothing that keeps intents or settles them, and raises marks', () => {
    const answered = createIntent('n1', { answer: answerOf('x') });
    assert.equal(breaks({}), undefined);
    assert.equal(breaks({ intents: [answered, DELETE] }), undefined);
    assert.equal(breaks({ intents: [DELETE] }), undefined);
    assert.equal(breaks({ written: { era: 3, pods: resourceVersion('100') } }), undefined);
    assert.equal(breaks({ written: { era: 4 } }), undefined);
  });

  it('S1 that forgets an intent which is not settled, or has one twice', () => {
    assert.equal(breaks({ intents: [CREATE] }), 'S1');
    assert.equal(breaks({ intents: [CREATE, CREATE, DELETE] }), 'S1');
    assert.equal(breaks({ intents: [DELETE] }, []), 'S1');
  });

  it('S8 that takes an era or a mark back', () => {
    assert.equal(breaks({ written: { era: 2 } }), 'S8');
    assert.equal(breaks({ written: { era: 3 } }), 'S8');
    assert.equal(breaks({ written: { era: 3, pods: resourceVersion('89') } }), 'S8');
  });
});

describe('a status breaks S7', () => {
  const sample = daemonSet();
  const COUNTERS = {
    currentNumberScheduled: 0,
    numberMisscheduled: 0,
    desiredNumberScheduled: 0,
    numberReady: 0,
  };
  const live = (generation: number, observedGeneration: number): DaemonSetObject => ({
    ...sample,
    metadata: { ...sample.metadata, generation },
    status: { ...COUNTERS, observedGeneration },
  });
  const breaks = (object: DaemonSetObject, observedGeneration: number): string | undefined =>
    findStatusBreach(object, { ...COUNTERS, observedGeneration })?.invariant;

  it('whose observedGeneration leads or falls; not one that stands as it was', () => {
    assert.equal(breaks(live(3, 2), 3), undefined);
    assert.equal(breaks(live(3, 2), 4), 'S7');
    assert.equal(breaks(live(3, 2), 1), 'S7');
    assert.equal(breaks(live(3, 5), 5), undefined, 'etcd went back: what is there already stays');
  });
});
