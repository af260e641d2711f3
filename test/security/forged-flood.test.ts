/**
 * A flood of messages in another cluster's name is refused, costs next to nothing, and never comes again (S6, L3).
 *
 * The deployed handlers under their own roles, local queues and tables. What a sender that nobody vouches for wrote is
 * noted as far as that is cheap; a note of a sender that is known is kept, or its message comes again.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { encodeCredentialMessage } from '../../src/adapters/sqs/schema/credential-message-schema.ts';
import { encodeWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { startFunctionWorld } from '../support/rights/function-world.ts';
import type { FunctionWorld, RecordOf } from '../support/rights/function-world.ts';
import { ScriptedSender } from '../support/scripted-sender.ts';

const FLOOD = 500;
const HOUR_MS = 3_600_000;
const RENEWER = 'AROARENEWERBETA';
const QUEUES = { credential: 'rollcall-local-credentials', ingest: 'rollcall-local-events.fifo' };
type Receiver = keyof typeof QUEUES;

describe('a flood of forged messages (S6, L3)', () => {
  let world: FunctionWorld;
  let beta: ClusterRegistration;
  let isStoreFull = false;
  let thieves = 0;
  let thief = '';

  before(async () => {
    world = await startFunctionWorld();
    const decide = world.aws.authorizer.decide.bind(world.aws.authorizer);
    world.aws.authorizer.decide = (accessKey, request) => {
      const decision = decide(accessKey, request);
      const isNote = request.leadingKeys?.().some((key) => key.startsWith('REFUSED#'));
      if (!isStoreFull || isNote !== true) return decision;
      return { kind: 'denied', message: 'no refusal is noted now' };
    };
    const authentication = { kind: 'bound-token', renewerRoleId: RENEWER } as const;
    beta = await world.newCluster({ authentication, mode: 'takeover' }, 'beta');
  });
  after(async () => {
    await (world as FunctionWorld | undefined)?.stop();
  });
  beforeEach(() => {
    thieves += 1;
    thief = `AROATHIEF${String(thieves)}`;
  });
  afterEach(() => {
    isStoreFull = false;
  });

  const bodies: Readonly<Record<Receiver, (cluster: string, uid: string) => string>> = {
    credential: (cluster, uid) =>
      encodeCredentialMessage({
        ...{
          schema: 1,
          purpose: 'act',
          ciphertext: 'QUJD',
          issuedAtMs: 1,
          expiresAtMs: Date.now() + HOUR_MS,
        },
        ...{ cluster: clusterId(cluster), clusterUid: clusterUid(uid) },
      }),
    ingest: (cluster, uid) => {
      const message = new ScriptedSender({ cluster: clusterId(cluster), epoch: '9' }).announce();
      return encodeWatcherMessage({ ...message, clusterUid: clusterUid(uid) });
    },
  };
  /** Of one sender, ten at a time, as a queue gives them; what comes again. */
  async function flood(receiver: Receiver, bodyOf: (index: number) => string): Promise<number> {
    const group = receiver === 'ingest' ? { group: beta.id } : {};
    const records = Array.from({ length: FLOOD }, (_, index): RecordOf => {
      return { body: bodyOf(index), senderId: `${thief}:session`, ...group };
    });
    let again = 0;
    for (let from = 0; from < FLOOD; from += 10) {
      const batch = records.slice(from, from + 10);
      again += (await world.deliver(receiver, QUEUES[receiver], batch)).failed.length;
    }
    return again;
  }
  const written = (partition: string): number =>
    world.decisions.filter(
      ({ action, leadingKeys }) =>
        action === 'dynamodb:PutItem' && leadingKeys.includes(`REFUSED#${partition}`),
    ).length;
  /** A test that begins before an hour is full may end in the next one. */
  const hoursSince = (startMs: number): number =>
    Math.floor(Date.now() / HOUR_MS) - Math.floor(startMs / HOUR_MS) + 1;

  for (const receiver of ['credential', 'ingest'] as const) {
    it(`costs ${receiver} one write an hour where all of them name beta`, async () => {
      const startMs = Date.now();
      const body = bodies[receiver](beta.id, beta.clusterUid);
      const before = written('/beta');
      assert.equal(await flood(receiver, () => body), 0);
      const writes = written('/beta') - before;
      assert.ok(writes >= 1 && writes <= hoursSince(startMs), `${String(writes)} writes`);
    });

    it(`costs ${receiver} no more than twenty where each names another cluster, or is none`, async () => {
      const startMs = Date.now();
      const other = (index: number): string => `somewhere-${String(index)}`;
      const bodyOf = (index: number): string =>
        index % 2 === 0 ? bodies[receiver](other(index), 'u') : `{"cluster": ${String(index)}`;
      const before = written('/');
      assert.equal(await flood(receiver, bodyOf), 0);
      const writes = written('/') - before;
      assert.ok(writes >= 1 && writes <= 20 * hoursSince(startMs), `${String(writes)} writes`);
    });

    it(`never comes again to ${receiver} while nothing can be noted, nor is tried each time`, async () => {
      isStoreFull = true;
      const body = bodies[receiver](beta.id, beta.clusterUid);
      const startMs = Date.now();
      const before = written('/beta');
      assert.equal(await flood(receiver, () => body), 0);
      const tried = written('/beta') - before;
      assert.ok(tried >= 1 && tried <= hoursSince(startMs), `${String(tried)} tries`);
      const lines = world.log.lines.filter(
        ({ message, fields }) =>
          message === 'a refused message could not be kept' && fields['senderRoleId'] === thief,
      );
      assert.ok(lines.length >= 1 && lines.length <= hoursSince(startMs), 'said once an hour');
    });

    it(`comes again to ${receiver} where a known sender’s refusal cannot be noted, until it is`, async () => {
      const senderId = receiver === 'credential' ? RENEWER : beta.senderRoleId;
      const record = {
        body: bodies[receiver](beta.id, 'uid-of-a-rebuilt-one'),
        senderId: `${senderId}:session`,
        ...(receiver === 'ingest' ? { group: beta.id } : {}),
      };
      const deliver = async (): Promise<readonly number[]> =>
        (await world.deliver(receiver, QUEUES[receiver], [record])).failed;
      isStoreFull = true;
      assert.deepEqual(await deliver(), [0]);
      assert.deepEqual(await deliver(), [0]);
      isStoreFull = false;
      const before = written('beta');
      const startMs = Date.now();
      for (let time = 0; time < 20; time += 1) assert.deepEqual(await deliver(), []);
      const writes = written('beta') - before;
      assert.ok(writes >= 1 && writes <= hoursSince(startMs), `${String(writes)} writes`);
    });
  }
});
