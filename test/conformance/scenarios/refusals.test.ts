/**
 * Bad input on the whole path: a typed refusal, one log line, a metric; nothing lost, and nothing done
 * in another tenant's cluster (S6, L4).
 *
 * Messages are forged at the queue itself, under access keys of other senders, beside a running cluster.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { SQSClient, SendMessageCommand } from '@aws-sdk/client-sqs';
import { encodeWatcherMessage } from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import {
  clusterId,
  clusterUid,
  epoch,
  incarnation,
  resourceVersion,
  uid,
} from '../../../src/core/model/identifiers.ts';
import type { WatcherBody, WatcherMessage } from '../../../src/core/model/watcher-message.ts';
import type { ClusterMeta } from '../../../src/core/model/view-items.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { daemonSetPath, testDaemonSet } from './daemon-set.ts';
import { daemonSetUid, expectPodsOn } from './expectations.ts';
import { describeOnBackend } from './backends.ts';
import { UNTAINTED, openStage, type Stage } from './stage.ts';

const VICTIM = clusterId('conformance');
const OTHER = clusterId('other-tenant');
const OTHER_KEY = 'WATCHEROTHERTENANT';
const DEADLINE_MS = 120_000;

describeOnBackend('bad input', { timeout: 900_000 }, (backend) => {
  let stage: Stage;
  let victimUid: ReturnType<typeof clusterUid>;
  let sends = 0;

  before(async () => {
    stage = await openStage({ backend, name: 'scenario-refusals' });
    const found = stage.engine().clusterUids.get(VICTIM);
    assert.ok(found !== undefined);
    victimUid = found;
    await stage.admin.post(daemonSetPath({}), testDaemonSet({ name: 'bystander' }));
    await expectPodsOn(stage, await bystander(), UNTAINTED);
    // What a watcher's role may do is tested elsewhere; here the forged message arrives.
    const arn = 'arn:aws:sts::000000000000:assumed-role/WatcherRole/other-tenant';
    stage.engine().aws.authorizer.grant(OTHER_KEY, { arn, rights: 'administrator' });
    await stage.engine().registry.writeCluster(
      {
        id: OTHER,
        clusterUid: clusterUid('0ther'),
        mode: 'observe',
        isFrozen: false,
        configVersion: 0,
        senderRoleId: `${OTHER_KEY}`,
        server: 'https://127.0.0.1:1',
        authentication: { kind: 'none' },
        labels: {},
      },
      0,
    );
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('a message for another tenant’s cluster is refused as wrong-sender, and changes nothing', async () => {
    await expectRefused('wrong-sender', () =>
      sendAs(
        OTHER_KEY,
        encodeWatcherMessage(message({ cluster: VICTIM, clusterUid: victimUid })),
        VICTIM,
      ),
    );
  });

  it('a message of an unknown cluster is refused as unknown-cluster', async () => {
    await expectRefused('unknown-cluster', () =>
      sendAs(
        OTHER_KEY,
        encodeWatcherMessage(message({ cluster: clusterId('nowhere') })),
        'nowhere',
      ),
    );
  });

  it('a message in another tenant’s group is refused as wrong-group: it would hold up that tenant', async () => {
    await expectRefused('wrong-group', () =>
      sendAs(OTHER_KEY, encodeWatcherMessage(message({ cluster: OTHER })), VICTIM),
    );
  });

  it('a message with another clusterUid is refused as wrong-cluster-uid (row 90)', async () => {
    const body = encodeWatcherMessage(
      message({ cluster: OTHER, clusterUid: clusterUid('rebuilt') }),
    );
    await expectRefused('wrong-cluster-uid', () => sendAs(OTHER_KEY, body));
  });

  it('a body that is no message is refused as undecodable', async () => {
    await expectRefused('undecodable', () => sendAs(OTHER_KEY, 'not json'));
  });

  it('a body that unpacks to too much is refused as oversized', async () => {
    const huge = message({
      cluster: OTHER,
      body: { kind: 'changes', deltas: [hugeDelta()] },
    });
    await expectRefused('oversized', () => sendAs(OTHER_KEY, encodeWatcherMessage(huge)));
  });

  it('a message that breaks the schema is refused as invalid, and names the field', async () => {
    const broken = { ...message({ cluster: OTHER }), seq: -1 } as WatcherMessage;
    await expectRefused('invalid', () => sendAs(OTHER_KEY, encodeWatcherMessage(broken)));
    const line = stage.activity.lines.findLast((one) => one.fields['code'] === 'invalid');
    assert.match(String(line?.fields['field']), /seq/);
  });

  it('leaves the bystander as it was, and the victim still served', async () => {
    await expectPodsOn(stage, await bystander(), UNTAINTED);
    await stage.admin.post(daemonSetPath({}), testDaemonSet({ name: 'afterwards' }));
    const afterwards = await daemonSetUid(stage, { namespace: 'default', name: 'afterwards' });
    await expectPodsOn(stage, afterwards, UNTAINTED);
  });

  function bystander(): Promise<string> {
    return daemonSetUid(stage, { namespace: 'default', name: 'bystander' });
  }

  async function expectRefused(code: string, send: () => Promise<void>): Promise<void> {
    const linesBefore = stage.activity.lines.length;
    const countedBefore = stage.activity.counted('IngestRefusals', code);
    const before = await victimMeta();
    await send();
    await pollUntil({ deadlineMs: DEADLINE_MS, description: `a refusal ${code}` }, () =>
      stage.activity.counted('IngestRefusals', code) > countedBefore ? true : undefined,
    );
    assert.equal(stage.activity.counted('IngestRefusals', code), countedBefore + 1, 'counted once');
    const lines = stage.activity.lines
      .slice(linesBefore)
      .filter((line) => line.level === 'warn' && line.fields['code'] === code);
    assert.equal(lines.length, 1, 'one log line');
    const now = await victimMeta();
    assert.equal(now?.isComplete, before?.isComplete);
    assert.equal(now?.broken, before?.broken);
    assert.equal(now?.epoch, before?.epoch);
  }

  function victimMeta(): Promise<ClusterMeta | undefined> {
    return stage.engine().view.readMeta(victimUid);
  }

  async function sendAs(accessKeyId: string, body: string, group: string = OTHER): Promise<void> {
    const { aws } = stage.engine();
    sends += 1;
    const client = new SQSClient({
      region: aws.region,
      endpoint: aws.sqsEndpoint,
      credentials: aws.authorizer.credentialsOf(accessKeyId),
    });
    await client.send(
      new SendMessageCommand({
        QueueUrl: aws.queueUrls['EventsQueue'],
        MessageBody: body,
        MessageGroupId: group,
        MessageDeduplicationId: `forged-${String(sends)}`,
      }),
    );
    client.destroy();
  }
});

function message(parts: Partial<WatcherMessage> & { readonly body?: WatcherBody }): WatcherMessage {
  return {
    schema: 1,
    cluster: OTHER,
    clusterUid: clusterUid('0ther'),
    epoch: epoch('99999999999'),
    incarnation: incarnation('forged'),
    seq: 1,
    body: { kind: 'announcement', sliceCount: 1, reason: 'start' },
    ...parts,
  };
}

/** Compresses to little and unpacks to tens of megabytes. */
function hugeDelta(): Extract<WatcherBody, { readonly kind: 'changes' }>['deltas'][number] {
  return {
    of: 'Node',
    uid: uid('huge'),
    name: 'huge',
    object: {
      kind: 'Opaque',
      of: 'Node',
      name: 'x'.repeat(48 * 1024 * 1024),
      uid: uid('huge'),
      resourceVersion: resourceVersion('1'),
      reason: 'too-large',
    },
    sets: [],
    formerSets: [],
  };
}
