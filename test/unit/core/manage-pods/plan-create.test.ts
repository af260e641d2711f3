/** Names of creates: slot, successor, one unresolved name per node (protocol 4–6, S13, faults 86–88). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, resourceVersion, uid } from '../../../../src/core/model/identifiers.ts';
import type { Uid } from '../../../../src/core/model/identifiers.ts';
import type { Plan, PlanContext } from '../../../../src/core/model/plan.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import type { CreateIntent } from '../../../../src/core/model/state.ts';
import { judgeIntents } from '../../../../src/core/intents/intents.ts';
import { successorName } from '../../../../src/core/pod/naming.ts';
import { planReconcile } from '../../../../src/core/plan/plan.ts';
import { keepTombstones } from '../../../../src/core/pod/tombstones.ts';
import {
  CURRENT_HASH,
  NOW_MS,
  LIFE_MS,
  TIMEOUT_MS,
  answerOf,
  context,
  createIntent,
  daemonSet,
  failedPod,
  node,
  outrun,
  pod,
  slot,
  state,
  surging,
  tombstone,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

function plan(options: ViewOptions, by: Partial<PlanContext> = {}): Plan {
  return planReconcile(view({ nodes: [node('n1')], ...options }), context(by));
}

const names = (made: Plan): readonly string[] => made.creates.map(({ name }) => name);
const successor = (of: PodProjection): string =>
  successorName({ daemonSetName: 'agent', predecessorUid: of.uid });
const open = (...intents: readonly CreateIntent[]): Partial<PlanContext> => ({
  state: state({ intents }),
});

const successorIn = (revision: string, of: { readonly uid: Uid }): string =>
  successorName({ daemonSetName: 'agent', predecessorUid: of.uid, revision });

const held = failedPod('n1', { isTerminating: true });
const SLOT = slot('n1');

describe('successors (design 3, faults 47)', () => {
  it('are used where a finalizer-held pod holds the slot name, which a live read is to confirm', () => {
    const made = plan({ pods: [held] });
    assert.deepEqual(names(made), [successor(held)]);
    assert.deepEqual(made.creates[0]?.predecessor, { name: SLOT, uid: held.uid });
    assert.equal('predecessor' in (plan({}).creates[0] ?? {}), false);
  });
  it('follow the chain to the first name that nobody holds', () => {
    const second = failedPod('n1', { name: successor(held), isTerminating: true });
    assert.deepEqual(names(plan({ pods: [held, second] })), [successor(second)]);
  });
  it('are used whatever the name of the held pod is, and of the one made last (ADR 0030)', () => {
    const other = failedPod('n1', { name: 'agent-x7k2p', isTerminating: true });
    const made = plan({ pods: [other] });
    assert.deepEqual(names(made), [successor(other)]);
    assert.deepEqual(made.creates[0]?.predecessor, { name: other.name, uid: other.uid });
    const younger = { ...other, createdAtMs: held.createdAtMs + 1 };
    assert.deepEqual(names(plan({ pods: [held, younger] })), [successor(younger)]);
    const older = { ...other, createdAtMs: held.createdAtMs - 1 };
    assert.deepEqual(names(plan({ pods: [held, older] })), [successor(held)]);
  });
  it('wait while a lost state may have forgotten a request (protocol 6)', () => {
    const made = plan({ pods: [held] }, { state: state({ createdAtMs: NOW_MS - 5000 }) });
    assert.deepEqual(names(made), []);
    assert.equal(made.dueAtMs, NOW_MS - 5000 + LIFE_MS);
    assert.equal(made.verdicts()[0]?.code, 'WaitingForRequest');
    assert.equal(
      made.verdicts()[0]?.message ?? '',
      `Node n1 waits: pod ${SLOT} is still there, and earlier requests may have been forgotten; ` +
        'a pod under another name is created once they are certainly dead.',
    );
  });
  it('end the chain even if names were to repeat', () => {
    const twin = { ...failedPod('n1', { isTerminating: true }), name: successor(held) };
    const made = plan({ pods: [held, { ...twin, uid: held.uid }] });
    assert.equal(made.creates.length, 1);
  });
});

describe('unresolved creates (protocol 4, 5)', () => {
  it('are re-issued under the same name', () => {
    assert.deepEqual(names(plan({}, open(createIntent('n1')))), [SLOT]);
  });
  it('are re-issued under the successor name although the slot is free again (faults 86)', () => {
    const name = successor(held);
    assert.deepEqual(names(plan({}, open(createIntent('n1', { name })))), [name]);
  });
  it('are re-issued under the plain slot although surge was switched on meanwhile (faults 86)', () => {
    const set = daemonSet({ spec: surging() });
    assert.deepEqual(names(plan({ daemonSet: set }, open(createIntent('n1')))), [SLOT]);
  });
  it('keep a successor from being used until that request is dead (protocol 5)', () => {
    const waiting = plan({ pods: [held] }, open(createIntent('n1')));
    assert.deepEqual(names(waiting), []);
    assert.equal(waiting.dueAtMs, NOW_MS + LIFE_MS);
    assert.equal(waiting.verdicts()[0]?.code, 'WaitingForRequest');
    const recordedAtMs = NOW_MS - LIFE_MS;
    const late = plan({ pods: [held] }, open(createIntent('n1', { recordedAtMs })));
    assert.deepEqual(names(late), [successor(held)]);
  });
  it('are not re-issued where a pod is there, or none is wanted', () => {
    assert.deepEqual(names(plan({ pods: [pod('n1')] }, open(createIntent('n1')))), []);
    assert.deepEqual(names(plan({ nodes: [] }, open(createIntent('n1')))), []);
  });
  it('that only time resolved keep their name while nobody holds it (the view may lag)', () => {
    const recordedAtMs = NOW_MS - LIFE_MS;
    const expired = open(createIntent('n1', { name: successor(held), recordedAtMs }));
    assert.deepEqual(names(plan({}, expired)), [successor(held)]);
    const second = failedPod('n1', { name: successor(held), isTerminating: true });
    assert.deepEqual(names(plan({ pods: [second] }, expired)), [successor(second)]);
  });
  it('of one node do not concern another', () => {
    const nodes = [node('n1'), node('n2')];
    assert.deepEqual(names(plan({ nodes }, open(createIntent('n1')))), [SLOT, slot('n2')]);
  });
  it('under two names keep the node waiting until both are dead', () => {
    const recordedAtMs = NOW_MS - 5000;
    const two = [createIntent('n1', { recordedAtMs }), createIntent('n1', { name: 'agent-other' })];
    for (const list of [two, two.toReversed()]) {
      const made = plan({}, open(...list));
      assert.deepEqual(names(made), []);
      assert.equal(made.verdicts()[0]?.untilMs, NOW_MS + LIFE_MS);
      assert.equal(
        made.verdicts()[0]?.message ?? '',
        `Node n1 waits: an earlier request to create agent-other, ${SLOT} may still be on its way; ` +
          'its pod is created once that request is certainly dead.',
      );
    }
  });
  it('that a later request of the same name outran still bound the next name (faults 86)', () => {
    const earlierAtMs = NOW_MS - 5000;
    const answered = createIntent('n1', { answer: answerOf(held.name), ...outrun(earlierAtMs) });
    const made = plan({ pods: [held] }, open(answered));
    assert.deepEqual(names(made), []);
    assert.equal(made.dueAtMs, earlierAtMs + LIFE_MS);
    const dead = { ...answered, ...outrun(NOW_MS - LIFE_MS) };
    assert.deepEqual(names(plan({ pods: [held] }, open(dead))), [successor(held)]);
  });
});

describe('answered creates that are not seen yet', () => {
  const intent = createIntent('n1', { answer: answerOf(SLOT, '90') });
  it('keep the node from getting another', () => {
    const made = plan({}, open(intent));
    assert.deepEqual(names(made), []);
    assert.equal(made.verdicts()[0]?.code, 'Creating');
    assert.equal(made.verdicts()[0]?.pod, SLOT);
    assert.equal(
      made.verdicts()[0]?.message ?? '',
      `Node n1 waits: pod ${SLOT} was created; waiting for the watcher to report it.`,
    );
    assert.equal(made.dueAtMs, NOW_MS + 2 * TIMEOUT_MS);
  });
  it('stop doing so once judged by a mark', () => {
    const by = open(intent);
    const intents = judgeIntents({
      state: state({ intents: [intent], written: { era: 1 } }),
      pods: [],
      marks: { Pod: resourceVersion('90') },
      era: 1,
      nowMs: NOW_MS,
      requestTimeoutMs: TIMEOUT_MS,
    });
    const name = successorName({ daemonSetName: 'agent', predecessorUid: answerOf(SLOT).uid });
    assert.deepEqual(
      names(plan({}, { ...by, intents })),
      [name],
      'its pod came and went unseen (S13)',
    );
  });
});

describe('pods that are gone (S13, ADR 0030)', () => {
  const gone = tombstone('n1');
  const after = (uidBefore: Uid): string =>
    successorName({ daemonSetName: 'agent', predecessorUid: uidBefore });

  it('never lend their name to the next one, which needs no live read of them', () => {
    const made = plan({ gone: [gone] });
    assert.deepEqual(names(made), [after(gone.uid)]);
    assert.equal('predecessor' in (made.creates[0] ?? {}), false);
  });
  it('of another node do not matter', () => {
    const nodes = [node('n1'), node('n2')];
    assert.deepEqual(names(plan({ nodes, gone: [gone] })), [after(gone.uid), slot('n2')]);
    const elsewhere = tombstone('n2', { name: SLOT });
    assert.deepEqual(
      names(plan({ gone: [elsewhere] })),
      [after(elsewhere.uid)],
      'but their names do',
    );
  });
  it('are followed where they were made last, or else were told to be gone last', () => {
    const other = tombstone('n1', { name: 'other', createdAtMs: gone.createdAtMs - 1 });
    assert.deepEqual(names(plan({ gone: [other, gone] })), [after(gone.uid)]);
    const late = { ...other, goneAtMs: gone.goneAtMs + 1 };
    assert.deepEqual(names(plan({ gone: [gone, late] })), [after(gone.uid)]);
    const twin = { ...late, createdAtMs: gone.createdAtMs };
    for (const both of [
      [gone, twin],
      [twin, gone],
    ]) {
      assert.deepEqual(names(plan({ gone: both })), [after(twin.uid)]);
    }
  });
  it('are followed down the chain, whatever the clocks of API servers said', () => {
    const next = tombstone('n1', { name: after(gone.uid), createdAtMs: gone.createdAtMs - 5000 });
    const made = plan({ gone: [gone, next] });
    assert.deepEqual(names(made), [after(next.uid)]);
    assert.equal('predecessor' in (made.creates[0] ?? {}), false);
  });
  it('S13, row 13: lead along the whole chain of a pod whose clock was ahead, of another revision', () => {
    const ahead = tombstone('n1', { revision: 'old', goneAtMs: NOW_MS - 9 });
    const chain = [ahead];
    let last = ahead.uid;
    for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) {
      const at = { createdAtMs: ahead.createdAtMs - 300_000, goneAtMs: NOW_MS - 8 + index };
      chain.push(tombstone('n1', { name: after(last), uid: uid(id), ...at }));
      last = uid(id);
    }
    const kept = keepTombstones(chain, { nowMs: NOW_MS, isLiving: () => false });
    assert.deepEqual(names(plan({ gone: kept })), [after(last)]);
  });
  it('lead to one that is there, which a live read is to confirm', () => {
    const there = failedPod('n1', {
      name: after(gone.uid),
      isTerminating: true,
      createdAtMs: gone.createdAtMs - 5000,
    });
    const [create] = plan({ gone: [gone], pods: [there] }).creates;
    assert.equal(create?.name, successor(there));
    assert.deepEqual(create.predecessor, { name: there.name, uid: there.uid });
  });
  it('count no more where an etcd that was restored brought them back', () => {
    const back = { ...held, uid: gone.uid };
    const made = plan({ gone: [gone], pods: [back] });
    assert.deepEqual(made.creates[0]?.predecessor, { name: SLOT, uid: gone.uid });
    const alive = pod('n2', { uid: gone.uid, name: 'elsewhere' });
    assert.deepEqual(
      names(plan({ nodes: [node('n1'), node('n2')], gone: [gone], pods: [alive] })),
      [SLOT],
    );
  });
  it('with surge concern their own revision only, and name it (S2)', () => {
    const set = daemonSet({ spec: surging() });
    const slotted = slot('n1', CURRENT_HASH);
    const ours = tombstone('n1', { name: slotted });
    const theirs = tombstone('n1', { name: 'theirs', revision: 'old', createdAtMs: NOW_MS });
    const { revision: _none, ...nameless } = tombstone('n1', { name: 'nameless' });
    assert.deepEqual(names(plan({ daemonSet: set, gone: [theirs, nameless] })), [slotted]);
    assert.deepEqual(names(plan({ daemonSet: set, gone: [theirs, ours, nameless] })), [
      successorIn(CURRENT_HASH, ours),
    ]);
  });
  it('with surge are found by their name alone where nobody saw their labels', () => {
    const set = daemonSet({ spec: surging() });
    const { revision: _none, ...unseen } = tombstone('n1', { name: slot('n1', CURRENT_HASH) });
    assert.deepEqual(names(plan({ daemonSet: set, gone: [unseen] })), [
      successorIn(CURRENT_HASH, unseen),
    ]);
  });
  it('of surge are followed when it is switched off, of any revision', () => {
    const [first, last] = [
      tombstone('n1', { name: 'first', revision: 'old' }),
      tombstone('n1', { name: 'last', createdAtMs: NOW_MS - 5000 }),
    ];
    assert.deepEqual(names(plan({ gone: [first, last] })), [after(last.uid)]);
  });
  it('are known to the state where no view ever showed them', () => {
    const buried = tombstone('n1', { uid: uid('unseen') });
    const by = { state: state({ buried: [buried] }) };
    assert.deepEqual(names(plan({}, by)), [after(buried.uid)]);
    assert.deepEqual(names(plan({ gone: [{ ...buried, name: 'seen' }] }, by)), [after(buried.uid)]);
    const living = pod('n1', { uid: buried.uid });
    assert.deepEqual(names(plan({ pods: [living] }, by)), []);
  });
  it('keep an open request under their name from being repeated, until it is dead', () => {
    const request = createIntent('n1', { name: gone.name });
    const waiting = plan({ gone: [gone] }, open(request));
    assert.deepEqual(names(waiting), []);
    assert.equal(waiting.verdicts()[0]?.code, 'WaitingForRequest');
    assert.equal(waiting.dueAtMs, NOW_MS + LIFE_MS);
    const dead = createIntent('n1', { name: gone.name, recordedAtMs: NOW_MS - LIFE_MS });
    assert.deepEqual(names(plan({ gone: [gone] }, open(dead))), [after(gone.uid)]);
  });
  it('keep one that was answered before from being repeated, though no view showed its pod', () => {
    const outran = createIntent('n1', {
      answer: answerOf(SLOT, '70'),
      ...outrun(NOW_MS - 5000),
    });
    const by = open(outran);
    const intents = { unseen: [], unresolved: [outran], settled: [] };
    const waiting = plan({}, { ...by, intents });
    assert.deepEqual(names(waiting), []);
    assert.equal(waiting.verdicts()[0]?.untilMs, NOW_MS - 5000 + LIFE_MS);
  });
});

describe('obstacles', () => {
  const refusal = {
    node: nodeName('n1'),
    generation: 1,
    code: 'admission',
    message: 'policy says no',
    delayMs: 5000,
    notBeforeMs: NOW_MS + 5000,
  };
  it('a refused node waits, the others go on', () => {
    const by = { state: state({ refusals: [refusal] }) };
    const made = plan({ nodes: [node('n1'), node('n2')] }, by);
    assert.deepEqual(names(made), [slot('n2')]);
    assert.equal(made.verdicts()[0]?.code, 'Refused');
    assert.match(made.verdicts()[0]?.message ?? '', /admission: policy says no/);
    assert.equal(made.dueAtMs, NOW_MS + 5000);
  });
  it('a refusal ends with its time, or with an edited DaemonSet', () => {
    const past = { state: state({ refusals: [{ ...refusal, notBeforeMs: NOW_MS }] }) };
    assert.deepEqual(names(plan({}, past)), [SLOT]);
    const other = { state: state({ refusals: [{ ...refusal, generation: 0 }] }) };
    assert.deepEqual(names(plan({}, other)), [SLOT]);
  });
  it('a pod that was found live under the name is succeeded once the refusal is over (faults 88)', () => {
    const holder = { name: SLOT, uid: uid('quarantined') };
    const over = { ...refusal, code: 'name-taken', notBeforeMs: NOW_MS, holders: [holder] };
    const [create] = plan({}, { state: state({ refusals: [over] }) }).creates;
    const name = successorName({ daemonSetName: 'agent', predecessorUid: holder.uid });
    assert.equal(create?.name, name);
    assert.deepEqual(create.predecessor, holder);
  });
  it('a key that backs off as a whole creates nothing, if that is what it holds', () => {
    const retry = {
      code: 'namespace-terminating',
      delayMs: 5000,
      notBeforeMs: NOW_MS + 5000,
      holdsCreates: true,
    };
    const holding = plan({}, { state: state({ retry }) });
    assert.deepEqual(names(holding), []);
    assert.equal(holding.verdicts()[0]?.code, 'WaitingForCluster');
    assert.equal(
      holding.verdicts()[0]?.message ?? '',
      'Node n1 waits: no pod can be created at the moment (namespace-terminating); ' +
        'it is tried again later.',
    );
    const looking = { state: state({ retry: { ...retry, holdsCreates: false } }) };
    assert.deepEqual(names(plan({}, looking)), [SLOT]);
    const over = { state: state({ retry: { ...retry, notBeforeMs: NOW_MS } }) };
    assert.deepEqual(names(plan({}, over)), [SLOT]);
  });
  it('a template without labels makes no pods (spec 2.8)', () => {
    const set = daemonSet({ templateMetadata: {} });
    const made = plan({ daemonSet: set });
    assert.deepEqual(names(made), []);
    assert.equal(made.verdicts()[0]?.code, 'Blocked');
    assert.equal(
      made.verdicts()[0]?.message ?? '',
      'Node n1 waits: the template has no labels, so no pod can be made of it.',
    );
  });
});

describe('the body', () => {
  it('is the pod of that node and name, under the current hash', () => {
    const [create] = plan({}).creates;
    const metadata = create?.body['metadata'] as { readonly name: string; readonly labels: object };
    assert.equal(metadata.name, SLOT);
    assert.deepEqual(metadata.labels, { app: 'agent', 'controller-revision-hash': CURRENT_HASH });
    assert.equal(create?.node, 'n1');
    assert.ok(uid(SLOT));
  });
});
