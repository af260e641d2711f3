/**
 * A watcher with stolen credentials affects no other cluster (S6, row 63), whatever it sends.
 *
 * Real queues (the sender's id comes from its access key, its rights from infra/cluster/roles.yml), real
 * tables, the deployed handlers. Alpha's key is stolen; beta is the victim. Every kind of message and of
 * object that the schema knows is sent, naming beta in every combination of header and message group;
 * a kind that the schema learns later fails the first test until it is forged here too.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  DeleteMessageCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { projectionSchema } from '../../src/adapters/sqs/schema/projection-schema.ts';
import {
  encodeWatcherMessage,
  bodySchema,
} from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import {
  clusterId,
  clusterUid,
  epoch,
  incarnation,
  resourceVersion,
  uid,
} from '../../src/core/model/identifiers.ts';
import type { Projection } from '../../src/core/model/projections.ts';
import type { Cut, Delta, SetId, WatcherBody } from '../../src/core/model/watcher-message.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';
import { daemonSetOf, nodeOf, podOf, revisionOf } from '../support/scripted-sender.ts';
import { startTwoTenants, waitUntil } from '../support/tenants/two-tenants.ts';
import type { StoredEntry, TwoTenants } from '../support/tenants/two-tenants.ts';

/** UID of beta's DaemonSet, as scripted-sender.ts names it. */
const BETA_SET = 'ds-beta-agent';
const INFLATED = resourceVersion('9'.repeat(39));

const opaque: Projection = {
  kind: 'Opaque',
  of: 'DaemonSet',
  namespace: 'ops',
  name: 'beta-agent',
  uid: uid(BETA_SET),
  resourceVersion: INFLATED,
  reason: 'too-large',
};

/** One object of each kind, all of them beta's. */
const FORGED_OBJECTS: Readonly<Record<string, { object: Projection; sets: readonly SetId[] }>> = {
  Node: nodeOf('beta-n1', 900),
  Pod: podOf('beta-agent-x', [BETA_SET], { version: 900 }),
  DaemonSet: daemonSetOf('beta-agent', 900),
  ControllerRevision: revisionOf('beta-agent-1', BETA_SET, 900),
  Opaque: { object: opaque, sets: ['daemonsets'] },
};

const cut: Cut = {
  marks: { Node: INFLATED, Pod: INFLATED, DaemonSet: INFLATED, ControllerRevision: INFLATED },
  hashes: { Node: 0, Pod: 0, DaemonSet: 0, ControllerRevision: 0 },
  silentMs: {},
};

function deltaOf({ object, sets }: (typeof FORGED_OBJECTS)[string], isGone: boolean): Delta {
  const memberships = sets.map((set) => ({ set, hash: 7 }));
  return {
    of: object.kind === 'Opaque' ? object.of : object.kind,
    uid: object.uid,
    name: object.name,
    ...('namespace' in object ? { namespace: object.namespace ?? 'ops' } : {}),
    object: isGone ? null : object,
    sets: isGone ? [] : memberships,
    formerSets: memberships,
  };
}

/** Bodies of every kind, by kind. */
const FORGED_BODIES: Readonly<Record<string, readonly WatcherBody[]>> = {
  announcement: [
    { kind: 'announcement', sliceCount: 16, reason: 'start' },
    { kind: 'announcement', sliceCount: 1, reason: 'restored', requestId: 'forged' },
  ],
  changes: [
    { kind: 'changes', deltas: [], cut },
    {
      kind: 'changes',
      deltas: Object.values(FORGED_OBJECTS).map((one) => deltaOf(one, false)),
    },
    {
      kind: 'changes',
      deltas: Object.values(FORGED_OBJECTS).map((one) => deltaOf(one, true)),
      cut,
    },
  ],
  slices: [
    {
      // A portion that covers all names and holds none: a sweep would take everything away.
      kind: 'slices',
      slices: [{ set: 'daemonsets', index: 0, covers: {}, objects: [] }],
    },
    {
      kind: 'slices',
      slices: Object.values(FORGED_OBJECTS).flatMap(({ object, sets }) =>
        sets.map((set) => ({ set, index: 0, objects: [{ object, hash: 7 }] })),
      ),
    },
  ],
  manifest: [{ kind: 'manifest', announcedSeq: 1, sliceCount: 1, cut }],
};

const NOWHERE = clusterId('nowhere');

describe('a watcher with stolen credentials (S6, row 63)', () => {
  const log = new MemoryLog();
  let world: TwoTenants;
  before(async () => {
    world = await startTwoTenants({ log });
  });
  after(async () => {
    await (world as TwoTenants | undefined)?.stop();
  });

  /** Everything stored that is beta's, or is kept under its name. */
  async function itemsOfBeta(): Promise<readonly StoredEntry[]> {
    // `…#beta`, `…#uid-of-beta`, `…#uid-of-beta/…`, but no UID of beta's in a partition of alpha.
    const isBetas = ({ partition }: StoredEntry): boolean =>
      /^[A-Z-]+#(uid-of-)?beta(?![^#/])/.test(partition);
    return (await world.items()).filter(isBetas);
  }

  const notesIn = async (partition: string): Promise<number> =>
    (await world.items()).filter((entry) => entry.partition === `REFUSED#${partition}`).length;

  const refusals = (): number => world.metrics.sum('IngestRefusals');
  const refusalLines = (): readonly unknown[] =>
    log.lines
      .filter(({ message }) => message === 'message refused')
      .map(({ fields }) => fields['messageId']);
  /** Messages, not deliveries: where the machine stands still, one comes again. */
  const refusedMessages = (): number => new Set(refusalLines()).size;

  /** Plays an attack; beta must be as it was, and neither asked nor looked at. */
  async function leavesBetaAlone(attack: () => Promise<void>): Promise<void> {
    const { beta, metrics } = world;
    const before = await itemsOfBeta();
    assert.ok(before.length >= 6, 'registration, META, slices, DaemonSet, name');
    const requestsBefore = beta.api.requests.length;
    const hintsBefore = metrics.sum('IngestHints');
    const runsBefore = metrics.sum('ReconcileRuns');
    await attack();
    assert.deepEqual(await itemsOfBeta(), before);
    assert.equal(beta.api.requests.length, requestsBefore, 'no request to its API server');
    assert.equal(metrics.sum('IngestHints'), hintsBefore, 'no hint');
    assert.equal(metrics.sum('ReconcileRuns'), runsBefore, 'no look');
  }

  it('forges every kind of message and of object that the schema knows', () => {
    const bodies = bodySchema.options.map(({ entries }) => entries.kind.literal);
    assert.deepEqual(Object.keys(FORGED_BODIES).sort(), [...bodies].sort());
    const objects = projectionSchema.options.map(({ entries }) => entries.kind.literal);
    assert.deepEqual(Object.keys(FORGED_OBJECTS).sort(), [...objects].sort());
  });

  it('is refused whatever it says of another cluster: logged once, counted, kept (row 63, L4)', async () => {
    const { alpha, beta } = world;
    const known = beta.sender.header;
    const positions = [
      { epoch: known.epoch, incarnation: known.incarnation, seq: beta.sender.seq + 1 },
      { epoch: known.epoch, incarnation: known.incarnation, seq: 999_999_999_999 },
      { epoch: epoch(INFLATED), incarnation: incarnation('forged'), seq: 1 },
      { epoch: epoch('1'), incarnation: incarnation('forged'), seq: 1 },
    ];
    const claims = [alpha.id, beta.id, NOWHERE].flatMap((cluster) =>
      [alpha.uid, beta.uid, clusterUid('nobody')].flatMap((claimedUid) =>
        [alpha.id, beta.id, NOWHERE].map((groupId) => ({ cluster, claimedUid, groupId })),
      ),
    );
    const forged = claims.filter(
      ({ cluster, claimedUid, groupId }) =>
        cluster !== alpha.id || claimedUid !== alpha.uid || groupId !== alpha.id,
    );
    const bodies = Object.values(FORGED_BODIES).flat();
    let sent = 0;
    const refusedBefore = refusals();
    const linesBefore = refusalLines().length;
    const messagesBefore = refusedMessages();
    await leavesBetaAlone(async () => {
      for (const { cluster, claimedUid, groupId } of forged) {
        for (const body of bodies) {
          const position = positions[sent % positions.length] ?? assert.fail();
          sent += 1;
          const header = { schema: 1, cluster, clusterUid: claimedUid, ...position } as const;
          const message = encodeWatcherMessage({ ...header, body });
          await world.send({ accessKey: alpha.accessKey, body: message, groupId });
        }
      }
      await waitUntil(() => refusedMessages() - messagesBefore >= sent, 'a refusal of each');
    });
    assert.equal(sent, 26 * bodies.length);
    assert.equal(refusedMessages() - messagesBefore, sent);
    assert.equal(refusals() - refusedBefore, refusalLines().length - linesBefore, 'counted once');
    const senders = log.lines
      .filter(({ message }) => message === 'message refused')
      .map(({ fields }) => fields['senderRoleId']);
    assert.deepEqual([...new Set(senders)], [alpha.roleId], 'and it says who sent it');
    // One note for each code: other UIDs under its own name; a wrong group, and a cluster that is unknown; somebody else.
    const notes = await Promise.all([alpha.id, '/', `/${beta.id}`].map(notesIn));
    assert.deepEqual(notes, [1, 2, 1]);
    assert.equal(await notesIn(beta.id), 0);
  });

  it('is refused as well with bodies that cannot be read, and names that are traps (row 67)', async () => {
    const { alpha, beta } = world;
    const header = { ...beta.sender.header, seq: 1 };
    const bodies = [
      JSON.stringify({ ...header, payload: 'j{' }),
      JSON.stringify({ ...header, payload: 'zAAAA' }),
      JSON.stringify({ ...header, schema: 2, payload: 'j{}' }),
      JSON.stringify({ ...header, payload: 'j{}', extra: 1 }),
      JSON.stringify({ ...header, seq: -1, payload: 'j{"kind":"changes","deltas":[]}' }),
      `{"__proto__":{"cluster":"beta"},"cluster":"beta"}`,
      'not json',
      JSON.stringify({ ...header, cluster: 'beta\nalpha', payload: 'j{}' }),
      JSON.stringify({ ...header, cluster: 'beta/../alpha', payload: 'j{}' }),
    ];
    const before = refusals();
    await leavesBetaAlone(async () => {
      for (const body of bodies) {
        for (const groupId of [alpha.id, beta.id]) {
          await world.send({ accessKey: alpha.accessKey, body, groupId });
        }
      }
      await waitUntil(() => refusals() - before >= 2 * bodies.length, 'a refusal of each');
    });
    const { isComplete } = (await world.view.readMeta(alpha.uid)) ?? {};
    assert.equal(isComplete, true, 'nor is its own view lost by what does not name it');
  });

  it('may send to no other queue, receive from none, and touch no table (row 69)', async () => {
    const { alpha, aws } = world;
    const credentials = aws.authorizer.credentialsOf(alpha.accessKey);
    const sqs = new SQSClient({ region: aws.region, endpoint: aws.sqsEndpoint, credentials });
    const dynamo = new DynamoDBClient({ credentials });
    const isDenied = (error: Error): boolean => /AccessDenied/.test(error.name);
    await leavesBetaAlone(async () => {
      for (const [queue, url] of Object.entries(aws.queueUrls)) {
        const QueueUrl = url;
        const body = '{}';
        if (queue !== 'EventsQueue') {
          const sending = { accessKey: alpha.accessKey, body, groupId: 'beta', queue };
          await assert.rejects(world.send(sending), isDenied, queue);
        }
        await assert.rejects(sqs.send(new ReceiveMessageCommand({ QueueUrl })), isDenied, queue);
        await assert.rejects(sqs.send(new PurgeQueueCommand({ QueueUrl })), isDenied, queue);
        const deletion = new DeleteMessageCommand({ QueueUrl, ReceiptHandle: 'x' });
        await assert.rejects(sqs.send(deletion), isDenied, queue);
      }
      const key = { pk: { S: 'CLUSTER#beta' }, sk: { S: 'CLUSTER' } };
      for (const TableName of Object.values(aws.tableNames)) {
        const get = new GetItemCommand({ TableName, Key: key });
        await assert.rejects(dynamo.send(get), isDenied);
        await assert.rejects(dynamo.send(new PutItemCommand({ TableName, Item: key })), isDenied);
      }
    });
    sqs.destroy();
    dynamo.destroy();
  });

  it('gets no more than a look out of forged hints, timers and dead letters, if rights failed too', async () => {
    const { alpha, beta, aws, metrics } = world;
    const arn = 'arn:aws:sts::000000000000:assumed-role/stolen/session';
    aws.authorizer.grant(alpha.accessKey, { arn, rights: 'administrator' });
    const before = await itemsOfBeta();
    const requestsBefore = beta.api.requests.length;
    const runsBefore = metrics.sum('ReconcileRuns');
    const lettersBefore = metrics.sum('DeadLetters');
    let hints = 0;
    for (const cluster of [alpha.id, beta.id]) {
      for (const ofUid of [alpha.uid, beta.uid]) {
        for (const name of ['beta-agent', 'nobody']) {
          const key = { cluster, namespace: 'ops', name };
          const hint = { schema: 1, key, clusterUid: ofUid, reason: 'manual' };
          const timer = { schema: 1, hint, timerId: `t-${String(hints)}`, dueAtMs: 0, hops: 0 };
          const forged = { accessKey: alpha.accessKey, groupId: `g-${String(hints)}` };
          await world.send({ ...forged, queue: 'ReconcileQueue', body: JSON.stringify(hint) });
          await world.send({ ...forged, queue: 'DelayQueue', body: JSON.stringify(timer) });
          hints += 2;
        }
      }
    }
    const header = { ...beta.sender.header, seq: beta.sender.seq + 1 };
    const letters = Object.values(FORGED_BODIES).flat();
    for (const body of letters) {
      await world.send({
        accessKey: alpha.accessKey,
        groupId: beta.id,
        queue: 'EventsDeadLetterQueue',
        body: encodeWatcherMessage({ ...header, body }),
      });
    }
    const settledRuns = (): number => metrics.sum('ReconcileRuns') - runsBefore;
    await waitUntil(() => metrics.sum('DeadLetters') - lettersBefore >= letters.length, 'letters');
    await waitUntil(() => settledRuns() + metrics.sum('ReconcileRefusals') >= hints, 'the looks');
    assert.deepEqual(await itemsOfBeta(), before);
    assert.equal(beta.api.requests.length, requestsBefore, 'no request to its API server');
    assert.equal(metrics.sum('DeadLetters', 'events/unverified-event'), letters.length);
    assert.equal(await notesIn(beta.id), 0);
  });

  it('can hurt its own cluster alone: its view, its marks (row 64)', async () => {
    const { alpha, beta } = world;
    const before = await itemsOfBeta();
    const requestsBefore = beta.api.requests.length;
    alpha.sender.marks = cut.marks;
    await world.sendAs(alpha, alpha.sender.heartbeat(cut.marks));
    await world.sendAs(alpha, alpha.sender.changes(Object.values(FORGED_OBJECTS)));
    await world.sendAs(alpha, { ...alpha.sender.heartbeat(), seq: 999_999_999_999 });
    await waitUntil(
      async () => (await world.view.readMeta(alpha.uid))?.isComplete === false,
      'a loss in its own view',
    );
    const { marks } = (await world.view.readMeta(alpha.uid)) ?? {};
    assert.equal(marks?.Pod, INFLATED);
    const items = await world.items();
    const ofItsOwn = `DS#${alpha.uid}/${BETA_SET}`;
    assert.ok(items.some(({ partition }) => partition === ofItsOwn));
    assert.deepEqual(await itemsOfBeta(), before);
    assert.equal(beta.api.requests.length, requestsBefore);
  });

  it('does not keep the victim from being served meanwhile (L3)', async () => {
    const { beta, view } = world;
    await world.sendAs(beta, beta.sender.changes([nodeOf('beta-n2')]));
    const { seq } = beta.sender;
    await waitUntil(async () => (await view.readMeta(beta.uid))?.seq === seq, 'its own message');
    assert.equal((await view.readMeta(beta.uid))?.isComplete, true);
  });
});
