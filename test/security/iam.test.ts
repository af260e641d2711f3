/**
 * The rights in AWS: what infra/roles.yml grants is what the functions use, no more and no less (row 69).
 *
 * The local servers judge every request by the role of its key. Each function is put through everything that it
 * does; then each right is taken away in turn, and the function must fail loudly, with the type of the error. Rights
 * on logs cannot be tried here, because there is no log service: they are compared with what they should be.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { DynamoDBClient, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { encodeHint, encodeTimer } from '../../src/adapters/sqs/schema/hint-codec.ts';
import { encodeWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { Hint } from '../../src/core/model/hint.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import type { WatcherMessage } from '../../src/core/model/watcher-message.ts';
import { startLocalAws } from '@rollcall/local-aws/deployment/local-aws.ts';
import type { EngineFailure } from '@rollcall/local-aws/event-source-mapping/mapping-set.ts';
import { SERVERLESS_FILE, STAGE } from '../../src/engine/engine-stores.ts';
import {
  answerForAll,
  isAccessError,
  SILENT_TOKEN,
  startFunctionWorld,
  tellsOfMissingRight,
  WATCHER_KEY,
} from '../support/rights/function-world.ts';
import type { FunctionWorld, Invoked, RecordOf } from '../support/rights/function-world.ts';
import { agentDaemonSet, liveDaemonSet } from '../support/rights/agent-daemon-set.ts';
import { takeFleetTurns } from '../support/rights/fleet-turns.ts';
import { fillLog } from '../support/rights/full-log.ts';
import { ageWalk, nameWithTurn } from '../support/rights/resync-turns.ts';
import {
  BOUND_TOKEN,
  sealedCluster,
  sealedMessage,
  sealToken,
} from '../support/rights/sealed-tokens.ts';
import { SENTINEL, seenSentinel } from '../support/rights/standing-sentinel.ts';
import { SENTINEL_KEY } from '../../src/core/may-act/takeover-sentinel.ts';
import { readRoles, withoutGrant } from '../support/rights/role-grants.ts';
import type { FunctionRole, Grant } from '../support/rights/role-grants.ts';
import { nodeOf, podOf, ScriptedSender } from '../support/scripted-sender.ts';
import { waitUntil } from '../support/tenants/two-tenants.ts';

const ROLES = readRoles();
const EVENTS = 'rollcall-local-events.fifo';
const HINTS = 'rollcall-local-reconcile.fifo';
const TAKEOVER = { mode: 'takeover', takeoverProbedAtMs: 1, sentinel: SENTINEL } as const;
const isPolling = ({ sid }: Pick<Grant, 'sid'>): boolean => sid === 'Poll';
const isLogging = ({ action }: Pick<Grant, 'action'>): boolean => action.startsWith('logs:');
const isOpening = ({ action }: Pick<Grant, 'action'>): boolean => action.startsWith('kms:');
/** There is no log service and no key service here; mappings are tried below. */
const isTried = (grant: Grant): boolean =>
  !isPolling(grant) && !isLogging(grant) && !isOpening(grant);

function hintFor({ id, clusterUid }: ClusterRegistration, of: Partial<Hint['key']> = {}): Hint {
  const key = { cluster: id, namespace: 'ops', name: 'agent', ...of };
  return { schema: 1, key, clusterUid, reason: 'manual' };
}

function recordOf(message: WatcherMessage): RecordOf {
  return { body: encodeWatcherMessage(message), group: message.cluster };
}

describe('the roles of the functions (row 69)', () => {
  let world: FunctionWorld;
  const invocations: Invoked[] = [];

  const openWorld = async (): Promise<void> => {
    world = await startFunctionWorld();
    answerForAll(world.api, liveDaemonSet);
  };
  before(openWorld);
  after(async () => {
    await (world as FunctionWorld | undefined)?.stop();
  });

  const deliver = async (
    functionName: string,
    queueName: string,
    records: readonly RecordOf[],
  ): Promise<void> => {
    invocations.push(await world.deliver(functionName, queueName, records));
  };
  let strangers = 0;
  /** Not one that is noted already. */
  const stranger = (): string => {
    strangers += 1;
    return `AROASTRANGER${String(strangers)}:session`;
  };
  const ingest = (...records: readonly RecordOf[]) => deliver('ingest', EVENTS, records);

  /** Clusters whose views are complete, written by ingest with all its rights. */
  async function see(changes: readonly Partial<ClusterRegistration>[], name?: string) {
    const clusters = await Promise.all(changes.map((change) => world.newCluster(change, name)));
    const seen = clusters.map((cluster) => {
      const sender = new ScriptedSender({ cluster: cluster.id, epoch: '5000' });
      const sentinel = cluster.sentinel === undefined ? [] : [seenSentinel()];
      sender.know([nodeOf('n1'), agentDaemonSet(), podOf('agent-1', ['ds-agent']), ...sentinel]);
      return { cluster, sender };
    });
    const messages = seen.flatMap(({ sender }) => sender.snapshot());
    const { failed } = await world.deliver('ingest', EVENTS, messages.map(recordOf));
    assert.deepEqual(failed, []);
    return seen;
  }

  async function seenCluster(change: Partial<ClusterRegistration> = {}, name?: string) {
    const [seen] = await see([change], name);
    assert.ok(seen !== undefined);
    return seen;
  }

  /** Everything that a function does, on clusters of its own. What is prepared for it has all rights. */
  const EXERCISES: Readonly<Record<string, (prepared: () => void) => Promise<void>>> = {
    ingest: async (prepared) => {
      const [one, two] = [await world.newCluster(), await world.newCluster()];
      const sealed = await sealedCluster(world);
      const sealedSender = new ScriptedSender({ cluster: sealed.id, epoch: '5000' });
      prepared();
      const [first, second] = [one, two].map(
        ({ id }) => new ScriptedSender({ cluster: id, epoch: '5000' }),
      );
      assert.ok(first !== undefined && second !== undefined);
      first.know([nodeOf('n1'), agentDaemonSet(), podOf('agent-1', ['ds-agent'])]);
      for (const message of first.snapshot()) await ingest(recordOf(message));
      await ingest(recordOf(first.changes([nodeOf('n1', 2), podOf('agent-1', ['ds-agent'])])));
      // Two clusters in one batch: their items are read together.
      await ingest(recordOf(second.announce()), recordOf(first.heartbeat()));
      // All is gone while nobody watched: swept by the next snapshot, and removed by the one after it.
      for (const epoch of ['6000', '7000', '8000']) {
        const next = new ScriptedSender({ cluster: one.id, epoch });
        next.know([nodeOf('n1')]);
        for (const message of next.snapshot()) await ingest(recordOf(message));
      }
      await ingest({ body: 'no message', group: one.id, senderId: stranger() });
      // An older epoch is believed or not by a live read of the Lease: the token is asked for.
      const former = new ScriptedSender({ cluster: sealed.id, epoch: '4000' });
      for (const message of sealedSender.snapshot()) await ingest(recordOf(message));
      await ingest(recordOf(former.announce()));
    },
    reconcile: async (prepared) => {
      const [own, silent, sealed, rivalled, observed, ...abreast] = await see([
        TAKEOVER,
        { ...TAKEOVER, authentication: { kind: 'bearer', token: SILENT_TOKEN } },
        { ...TAKEOVER, authentication: BOUND_TOKEN },
        TAKEOVER,
        ...[{}, {}, {}, {}],
      ]);
      assert.ok(own && silent && sealed && rivalled && observed);
      await sealToken(world, sealed.cluster);
      // Keys of one batch whose states stand already: these are written together.
      const hints = abreast.map(({ cluster }) => {
        return { body: encodeHint(hintFor(cluster)), group: cluster.id };
      });
      await world.deliver('reconcile', HINTS, hints);
      const changes = abreast.map(({ sender }) => sender.changes([nodeOf('n1', 2)]));
      const touched = rivalled.sender.changes([seenSentinel('touched')]);
      await world.deliver('ingest', EVENTS, [...changes, touched].map(recordOf));
      for (const { cluster } of abreast) await fillLog(world.view, cluster.clusterUid);
      prepared();
      const look = { body: encodeHint(hintFor(rivalled.cluster, SENTINEL_KEY)), group: 'g' };
      await deliver('reconcile', HINTS, [look]);
      await deliver('reconcile', HINTS, hints);
      for (const { cluster } of [observed, own, silent, sealed]) {
        const record = { body: encodeHint(hintFor(cluster)), group: 'g' };
        await deliver('reconcile', HINTS, [record]);
        await deliver('reconcile', HINTS, [record]);
      }
      await deliver('reconcile', HINTS, [{ body: '{}', group: 'g' }]);
    },
    requeue: async (prepared) => {
      const [hint, other] = [hintFor(await world.newCluster()), hintFor(await world.newCluster())];
      prepared();
      const timer = { schema: 1 as const, hint, timerId: 'timer', hops: 0 };
      const due = encodeTimer({ ...timer, dueAtMs: Date.now() });
      const later = encodeTimer({ ...timer, dueAtMs: Date.now() + 3_600_000 });
      await deliver('requeue', 'rollcall-local-delay', [{ body: due }]);
      // The breakers of two clusters are read together.
      const otherDue = encodeTimer({ ...timer, hint: other, dueAtMs: Date.now() });
      await deliver('requeue', 'rollcall-local-delay', [{ body: due }, { body: otherDue }]);
      await deliver('requeue', 'rollcall-local-delay', [{ body: later }]);
      await deliver('requeue', 'rollcall-local-delay', [{ body: '{}' }]);
    },
    resync: async (prepared) => {
      // The only cluster there is: its items are read one by one, and all of its keys have their turn.
      await seenCluster({}, nameWithTurn('hints'));
      prepared();
      invocations.push(await world.tick('resync'));
      // Beside others they are read together. Of one, the due times have their turn.
      await seenCluster({}, nameWithTurn('due-times'));
      // The last one: nothing else is read beside its token.
      await ageWalk(world.view);
      const waiting = await sealedCluster(world, { mode: 'takeover', takeoverProbedAtMs: 1 }, 'z');
      const sender = new ScriptedSender({ cluster: waiting.id, epoch: '5000' });
      await world.deliver('ingest', EVENTS, [recordOf(sender.announce())]);
      invocations.push(await world.tick('resync'));
    },
    fleet: async (prepared) => {
      const { cluster } = await seenCluster({ ...TAKEOVER, authentication: BOUND_TOKEN });
      await sealToken(world, cluster);
      invocations.push(...(await takeFleetTurns(world, prepared)));
    },
    credential: async (prepared) => {
      const clusters = await Promise.all([1, 2, 3].map(() => sealedCluster(world)));
      const bodies = await Promise.all(clusters.map((cluster) => sealedMessage(world, cluster)));
      const [first = '', ...others] = bodies;
      const [asked] = clusters;
      if (asked !== undefined) others.push(await sealedMessage(world, asked, 'ask'));
      prepared();
      const queue = 'rollcall-local-credentials';
      await deliver('credential', queue, [{ body: first }]);
      const batch = others.map((body) => ({ body }));
      await deliver('credential', queue, batch);
      await deliver('credential', queue, [{ body: 'no message', senderId: stranger() }]);
    },
    'dead-letter': async (prepared) => {
      const lost = await Promise.all([seenCluster(), seenCluster()]);
      prepared();
      const letters = lost.map(({ sender }) => recordOf(sender.heartbeat()));
      await deliver('dead-letter', 'rollcall-local-events-dead-letter.fifo', letters.slice(0, 1));
      await deliver('dead-letter', 'rollcall-local-events-dead-letter.fifo', letters);
      const hint = encodeHint(hintFor((await seenCluster()).cluster));
      const queue = 'rollcall-local-reconcile-dead-letter.fifo';
      await deliver('dead-letter', queue, [{ body: hint, group: 'g' }]);
      await deliver('dead-letter', 'rollcall-local-delay-dead-letter', [{ body: '{}' }]);
    },
  };

  const keyOf = (functionName: string): string => world.aws.credentialsOf(functionName).accessKeyId;

  /** Runs an exercise; answers the decisions about this function since its preparation. */
  async function exercise(role: FunctionRole, whenPrepared: () => void = () => undefined) {
    const run = EXERCISES[role.functionName];
    assert.ok(run !== undefined, `no exercise for ${role.functionName}`);
    let from = 0;
    let linesFrom = 0;
    invocations.length = 0;
    await run(() => {
      from = world.decisions.length;
      linesFrom = world.log.lines.length;
      whenPrepared();
    });
    const key = keyOf(role.functionName);
    return {
      decisions: world.decisions.slice(from).filter(({ accessKey }) => accessKey === key),
      lines: world.log.lines.slice(linesFrom),
      results: [...invocations],
    };
  }

  for (const role of ROLES.filter(({ grants }) => grants.some(isTried))) {
    describe(role.functionName, () => {
      // They go through all clusters, so each of their exercises has a world of its own.
      if (role.functionName === 'resync' || role.functionName === 'fleet') {
        beforeEach(async () => {
          await world.stop();
          await openWorld();
        });
      }

      it('does everything under its role, and uses every right and every key prefix of it', async () => {
        const { decisions, results } = await exercise(role);
        const denied = decisions.filter(({ isAllowed }) => !isAllowed);
        assert.deepEqual(denied, []);
        assert.deepEqual(
          results.flatMap(({ failed, thrown }) => [...failed, thrown ?? []]).flat(),
          [],
        );
        const tried = role.grants.filter(isTried);
        const unused = tried.flatMap(({ action, resourceArn, leadingKeys = [''] }) => {
          const uses = decisions.filter(
            (one) => one.action === action && one.resourceArn === resourceArn,
          );
          if (action === 'dynamodb:BatchGetItem') return uses.length > 0 ? [] : [action];
          return leadingKeys
            .map((pattern) => pattern.replace('*', ''))
            .filter((prefix) => !uses.some((use) => usesPrefix(use.leadingKeys, prefix)))
            .map((prefix) => `${action} on ${resourceArn} ${prefix}`);
        });
        assert.deepEqual(unused, []);
      });

      for (const grant of role.grants.filter(isTried)) {
        const table = grant.resourceArn.split(/[:/]/).at(-1) ?? '';
        it(`fails loudly without ${grant.action} on ${table} (${grant.sid})`, async () => {
          const key = keyOf(role.functionName);
          const arn = `arn:aws:sts::000000000000:assumed-role/${role.roleId}/test`;
          const unreadTokens = (): number => world.metrics.sum('TokenFaults', 'unread');
          const before = unreadTokens();
          const give = (rights: FunctionRole['statements']): void => {
            world.aws.authorizer.grant(key, { arn, rights });
          };
          try {
            const { decisions, lines } = await exercise(role, () => {
              give(withoutGrant(role.statements, grant));
            });
            const denied = decisions.filter(({ isAllowed }) => !isAllowed);
            assert.ok(denied.length > 0, 'nothing needed it');
            assert.deepEqual(
              denied.filter((one) => one.action !== grant.action),
              [],
            );
            assert.ok(lines.some(tellsOfMissingRight), 'nobody said so');
            assert.equal(unreadTokens() > before, grant.sid === 'ReadToken', 'for its alarm');
          } finally {
            give(role.statements);
          }
        });
      }
    });
  }

  it('give every mapping its own queue and nothing else to poll, and every function its own log', () => {
    for (const { functionName, grants, polls } of ROLES) {
      const polled = grants.filter(isPolling);
      assert.equal(polled.length, polls.length * 3, functionName);
      const logs = grants.filter(isLogging);
      assert.deepEqual(
        logs.map(({ action, resourceArn }) => [action, resourceArn]),
        ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => [
          action,
          `arn:aws:logs:us-east-1:000000000000:log-group:/aws/lambda/rollcall-local-${functionName}:*`,
        ]),
      );
    }
  });

  it('keep registrations and refusals from what reads watchers’ messages (S11, S12)', () => {
    const ofIngest = ROLES.filter(({ functionName }) => functionName === 'ingest');
    const writes = ofIngest
      .flatMap(({ grants }) => grants)
      .filter(({ resourceArn }) => resourceArn.endsWith('-registry'))
      .map(({ action, leadingKeys }) => [action, leadingKeys?.[0]]);
    assert.deepEqual(
      writes.filter(([action]) => action !== 'dynamodb:BatchGetItem'),
      [
        ['dynamodb:GetItem', 'CLUSTER#*'],
        ['dynamodb:PutItem', 'REFUSED#*'],
        ['dynamodb:GetItem', 'REQUEST-CREDENTIAL#*'],
      ],
    );
  });

  it('open sealed tokens where clusters are connected to or tokens are checked, and nowhere else (S11)', () => {
    const opening = ROLES.filter(({ grants }) => grants.some(isOpening));
    assert.deepEqual(
      opening.map(({ functionName }) => functionName),
      ['ingest', 'reconcile', 'resync', 'fleet', 'credential'],
    );
    for (const { grants } of opening) {
      for (const { action, resourceArn } of grants.filter(isOpening)) {
        const key = 'arn:aws:kms:us-east-1:000000000000:key/CredentialsKey';
        assert.deepEqual([action, resourceArn], ['kms:Decrypt', key]);
      }
    }
  });
});

function usesPrefix(keys: readonly string[], prefix: string): boolean {
  return prefix === '' || keys.some((key) => key.startsWith(prefix));
}

describe('the mappings (row 69)', () => {
  const actions = ['sqs:GetQueueAttributes', 'sqs:ReceiveMessage', 'sqs:DeleteMessage'];
  for (const action of actions) {
    it(`each say so when ${action} is missing, and deliver nothing twice in silence`, async () => {
      const failures: EngineFailure[] = [];
      const aws = await startLocalAws({
        serverlessFile: SERVERLESS_FILE,
        stage: STAGE,
        onFailure: (failure) => failures.push(failure),
      });
      const sqs = new SQSClient({
        region: aws.region,
        endpoint: aws.sqsEndpoint,
        credentials: aws.operator,
      });
      try {
        for (const { functionName, roleId, statements } of ROLES) {
          const rights = statements.map((statement) => ({
            ...statement,
            actions: statement.actions.filter((one) => one !== action),
          }));
          const { accessKeyId } = aws.credentialsOf(functionName);
          aws.authorizer.grant(accessKeyId, { arn: roleId, rights });
        }
        const invoked: string[] = [];
        aws.startMappings(
          Object.fromEntries(
            ROLES.map(({ functionName }) => [
              functionName,
              () => {
                invoked.push(functionName);
                return { batchItemFailures: [] };
              },
            ]),
          ),
        );
        const polled = ROLES.flatMap(({ functionName, polls }) =>
          polls.map((queueId) => ({ functionName, queueId })),
        );
        for (const { queueId } of polled) await sendTo(sqs, aws.queueUrls[queueId]);
        await waitUntil(
          () =>
            polled.every(({ functionName, queueId }) =>
              failures.some(
                (failure) =>
                  failure.functionName === functionName &&
                  aws.queueUrls[queueId]?.endsWith(`/${String(failure.queueName)}`) === true &&
                  isAccessError(failure.error),
              ),
            ),
          'a failure of each mapping',
        );
        if (action !== 'sqs:DeleteMessage') assert.deepEqual(invoked, []);
      } finally {
        sqs.destroy();
        await aws.stop({ waitMs: 0 });
      }
    });
  }
});

async function sendTo(client: SQSClient, url: string | undefined): Promise<void> {
  const fifo = { MessageGroupId: 'g', MessageDeduplicationId: 'd' };
  await client.send(
    new SendMessageCommand({
      QueueUrl: url,
      MessageBody: 'x',
      ...(url?.endsWith('.fifo') === true ? fifo : {}),
    }),
  );
}

describe('the key of a watcher (row 69)', () => {
  it('sends to events.fifo and can do nothing else', async () => {
    const world = await startFunctionWorld();
    const credentials = world.aws.authorizer.credentialsOf(WATCHER_KEY);
    const { region } = world.aws;
    const sqs = new SQSClient({ region, endpoint: world.aws.sqsEndpoint, credentials });
    const dynamo = new DynamoDBClient({
      region,
      endpoint: world.aws.dynamodbEndpoint,
      credentials,
    });
    try {
      const { EventsQueue: events, ...others } = world.aws.queueUrls;
      await sendTo(sqs, events);
      for (const url of Object.values(others)) {
        await assert.rejects(sendTo(sqs, url), isAccessError, url);
      }
      for (const url of Object.values(world.aws.queueUrls)) {
        const QueueUrl = url;
        const attempts = [
          sqs.send(new ReceiveMessageCommand({ QueueUrl })),
          sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: 'x' })),
          sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] })),
          sqs.send(new PurgeQueueCommand({ QueueUrl })),
          sqs.send(new ListQueuesCommand({})),
        ];
        for (const attempt of attempts) await assert.rejects(attempt, isAccessError, url);
      }
      for (const TableName of Object.values(world.aws.tableNames)) {
        const Key = { pk: { S: 'CLUSTER#c1' }, sk: { S: 'CLUSTER' } };
        const attempts = [
          dynamo.send(new GetItemCommand({ TableName, Key })),
          dynamo.send(new ScanCommand({ TableName })),
        ];
        for (const attempt of attempts) await assert.rejects(attempt, isAccessError, TableName);
      }
    } finally {
      sqs.destroy();
      dynamo.destroy();
      await world.stop();
    }
  });

  it('is refused when nobody has it', async () => {
    const world = await startFunctionWorld();
    const { region, sqsEndpoint, queueUrls } = world.aws;
    const credentials = { accessKeyId: 'NOBODY', secretAccessKey: 'local' };
    const sqs = new SQSClient({ region, endpoint: sqsEndpoint, credentials });
    try {
      await assert.rejects(sendTo(sqs, queueUrls['EventsQueue']), { name: 'InvalidClientTokenId' });
    } finally {
      sqs.destroy();
      await world.stop();
    }
  });
});
