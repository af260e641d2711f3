/**
 * A renewer with stolen credentials changes nothing of another cluster, and no token stands anywhere but under its
 * seal (S6, S11, rows 63, 66 and 68).
 *
 * The deployed handlers under their own roles, local queues and tables, a key service that binds a seal to its
 * cluster as KMS does. Alpha's renewer is captured; beta is the victim. Every token here bears a mark, and in the
 * end everything that was written is searched for it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { encodeCredentialMessage } from '../../src/adapters/sqs/schema/credential-message-schema.ts';
import { encodeWatcherMessage } from '../../src/adapters/sqs/schema/watcher-message-codec.ts';
import type { CredentialMessage } from '../../src/core/model/watcher-message.ts';
import { clusterId, clusterUid } from '../../src/core/model/identifiers.ts';
import type { ClusterRegistration } from '../../src/core/model/registration.ts';
import { subjectOf, type TokenPurpose } from '../../src/ports/stores/credential-store.ts';
import { startFunctionWorld, type FunctionWorld } from '../support/rights/function-world.ts';
import { answerJson, statusBody } from '../support/scripted-api-server.ts';
import { ScriptedSender } from '../support/scripted-sender.ts';
import { serviceAccountToken, type TokenContent } from '../support/service-account-token.ts';

const QUEUE = 'rollcall-local-credentials';
/** Stands for the signature: who has it has the token. */
const MARK = 'canary-5d41402a-bc4b2a76';
const HOUR_S = 3600;

interface Tenant {
  readonly registration: ClusterRegistration;
  readonly renewer: string;
}

describe('a renewer with stolen credentials (S6, row 63)', () => {
  let world: FunctionWorld;
  let dynamo: DynamoDBClient;
  let alpha: Tenant;
  let beta: Tenant;
  /** Every ciphertext that was ever sent: by itself it may be kept in one place only. */
  const ciphertexts: string[] = [];

  before(async () => {
    world = await startFunctionWorld();
    world.api.answerWith((request, response) => {
      // It repeats what it was sent wherever there is room for text.
      const echo = String(request.headers.authorization);
      const body = { ...statusBody(401, echo, { name: echo }), message: `you sent ${echo}` };
      answerJson(response, { status: 401, body });
    });
    dynamo = new DynamoDBClient({});
    [alpha, beta] = (await Promise.all(['alpha', 'beta'].map(newTenant))) as [Tenant, Tenant];
    await send(beta, await messageFor(beta));
    assert.notEqual(await itemOf('CREDENTIAL#beta'), undefined);
  });
  after(async () => {
    dynamo.destroy();
    await (world as FunctionWorld | undefined)?.stop();
  });

  async function newTenant(name: string): Promise<Tenant> {
    const renewer = `AROARENEWER${name.toUpperCase()}`;
    const authentication = { kind: 'bound-token', renewerRoleId: renewer } as const;
    const registration = await world.newCluster({ authentication, mode: 'takeover' }, name);
    return { registration, renewer };
  }

  const nowS = (): number => Math.floor(Date.now() / 1000);
  let tokens = 0;
  function tokenOf(content: TokenContent = {}): string {
    tokens += 1;
    const times = { iat: nowS(), exp: nowS() + 4 * HOUR_S };
    return serviceAccountToken({ ...times, ...content }, `${MARK}-${String(tokens)}`);
  }
  async function sealFor(
    { id: cluster, clusterUid: uid }: Pick<ClusterRegistration, 'id' | 'clusterUid'>,
    text: string,
    purpose: TokenPurpose = 'act',
  ): Promise<string> {
    const made = await world.seal.seal(text, { cluster, clusterUid: uid, purpose });
    assert.ok(made.kind === 'sealed');
    ciphertexts.push(made.ciphertext);
    return made.ciphertext;
  }
  async function messageFor(
    { registration }: Tenant,
    changes: Partial<CredentialMessage> = {},
  ): Promise<CredentialMessage> {
    const { id: cluster, clusterUid: uid } = registration;
    return {
      schema: 1,
      cluster,
      clusterUid: uid,
      purpose: 'act',
      ciphertext: await sealFor(registration, tokenOf()),
      issuedAtMs: nowS() * 1000,
      expiresAtMs: (nowS() + 4 * HOUR_S) * 1000,
      ...changes,
    };
  }
  async function sendBody(sender: string, body: string): Promise<void> {
    const record = { body, senderId: `${sender}:session` };
    const { failed } = await world.deliver('credential', QUEUE, [record]);
    assert.deepEqual(failed, [], 'a refused message is finished');
  }
  const send = (tenant: Tenant, message: CredentialMessage): Promise<void> =>
    sendBody(tenant.renewer, encodeCredentialMessage(message));

  async function items(): Promise<readonly Record<string, unknown>[]> {
    const tables = Object.values(world.aws.tableNames);
    const pages = await Promise.all(
      tables.map((TableName) => dynamo.send(new ScanCommand({ TableName, ConsistentRead: true }))),
    );
    return pages.flatMap(({ Items = [] }) => Items);
  }
  const partitionOf = (item: Record<string, unknown>): string =>
    String((item['pk'] as { readonly S: string }).S);
  /** Everything but notes of what unverified senders claimed. */
  const others = async (): Promise<readonly Record<string, unknown>[]> =>
    (await items()).filter((item) => !partitionOf(item).startsWith('REFUSED#/'));
  const itemOf = async (partition: string): Promise<unknown> =>
    (await items()).find((item) => partitionOf(item) === partition);

  it('is refused whatever it says of another cluster, and beta’s token stays (row 63)', async () => {
    const before = await itemOf('CREDENTIAL#beta');
    const uids = [alpha.registration.clusterUid, beta.registration.clusterUid, clusterUid('no')];
    const contexts = [alpha, beta].map(({ registration }) => registration);
    const opens = world.seal.opened.length;
    let sent = 0;
    for (const cluster of [beta.registration.id, clusterId('nowhere')]) {
      for (const uid of uids) {
        for (const { id, clusterUid: contextUid } of contexts) {
          // A token far in the future would win over all that follow.
          for (const content of [{}, { iat: nowS() + 10 * HOUR_S, exp: nowS() + 20 * HOUR_S }]) {
            const ciphertext = await sealFor({ id, clusterUid: contextUid }, tokenOf(content));
            const changes = { cluster, clusterUid: uid, ciphertext };
            await send(alpha, await messageFor(alpha, changes));
            sent += 1;
          }
        }
      }
    }
    assert.deepEqual(await itemOf('CREDENTIAL#beta'), before);
    assert.equal(world.seal.opened.length, opens, 'nothing of it was opened');
    const notes = (await items()).filter((item) => partitionOf(item).startsWith('REFUSED#'));
    const lines = world.log.lines.filter(({ message }) => message === 'credential refused');
    assert.equal(lines.length, sent, 'one line each');
    // One note for each claim, of the thief, apart from what beta sends.
    assert.deepEqual(notes.map(partitionOf).sort(), ['REFUSED#/', 'REFUSED#/beta']);
    assert.ok(notes.every((item) => inspect(item).includes(alpha.renewer)));
  });

  it('is refused with traps and with bodies that are none (row 67)', async () => {
    const before = await others();
    const refused = (): number =>
      world.log.lines.filter(({ message }) => message === 'credential refused').length;
    const refusedBefore = refused();
    const message = await messageFor(beta);
    const bodies = [
      'not json',
      tokenOf(),
      JSON.stringify({ ...message, token: tokenOf() }),
      JSON.stringify({ ...message, ciphertext: tokenOf() }),
      JSON.stringify({ ...message, cluster: 'beta\nalpha' }),
      JSON.stringify({ ...message, cluster: `beta/${tokenOf()}` }),
      `{"__proto__":{"cluster":"beta"},"cluster":"beta"}`,
      JSON.stringify({ ...message, ciphertext: 'A'.repeat(100_000) }),
    ];
    for (const body of bodies) await sendBody(alpha.renewer, body);
    assert.equal(refused() - refusedBefore, bodies.length, 'each is refused');
    assert.deepEqual(await others(), before, 'and nothing is kept but who it was');
  });

  it('can neither use what was sealed for beta nor have it used for alpha (S6)', async () => {
    const stolen = await messageFor(beta);
    const { id, clusterUid: uid } = alpha.registration;
    await send(alpha, { ...stolen, cluster: id, clusterUid: uid });
    assert.equal(await itemOf('CREDENTIAL#alpha'), undefined);
    const notes = (await items()).filter((item) => partitionOf(item) === 'REFUSED#alpha');
    assert.match(inspect(notes, { depth: 9 }), /invalid-ciphertext/);
  });

  it('cannot be stood in for by the watcher of the same cluster', async () => {
    const { senderRoleId } = alpha.registration;
    await sendBody(senderRoleId, encodeCredentialMessage(await messageFor(alpha)));
    assert.equal(await itemOf('CREDENTIAL#alpha'), undefined);
  });

  it('can hurt its own cluster alone: a token that no API server accepts (S6)', async () => {
    const before = await itemOf('CREDENTIAL#beta');
    await send(alpha, await messageFor(alpha));
    assert.notEqual(await itemOf('CREDENTIAL#alpha'), undefined);
    assert.deepEqual(await itemOf('CREDENTIAL#beta'), before);
  });

  it('marks stand nowhere but under a seal, whatever an API server answers (S11, row 68)', async () => {
    const { id } = beta.registration;
    const asking = tokenOf({ sub: subjectOf('ask') });
    const ciphertext = await sealFor(beta.registration, asking, 'ask');
    await send(beta, await messageFor(beta, { ciphertext, purpose: 'ask' }));
    const requests = world.api.requests.length;
    for (const epoch of ['5000', '4000']) {
      const sender = new ScriptedSender({ cluster: id, epoch });
      const record = { body: encodeWatcherMessage(sender.announce()), group: id };
      await world.deliver('ingest', 'rollcall-local-events.fifo', [record]);
    }
    await world.tick('resync');
    const sent = world.api.requests.slice(requests).map(({ headers }) => headers.authorization);
    assert.ok(sent.length > 0 && sent.every((token) => token?.includes(MARK)), 'it was used');
    const rejected = world.log.lines.filter(({ fields }) => fields['reason'] === 'rejected');
    assert.ok(rejected.length > 0, 'and it is said that it was not accepted');
    const everything = { depth: 20, maxArrayLength: null, maxStringLength: null };
    const written = { lines: world.log.lines, items: await items() };
    assert.ok(!inspect(written, everything).includes(MARK));
    for (const item of await items()) {
      if (/^(REQUEST-)?CREDENTIAL#/.test(partitionOf(item))) continue;
      const text = inspect(item, everything);
      assert.ok(!ciphertexts.some((one) => text.includes(one)), partitionOf(item));
    }
  });
});
