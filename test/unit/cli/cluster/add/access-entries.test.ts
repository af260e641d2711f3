/** Access entries against an EKS that holds them by the unique id of their role, as the real one does (F5). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeAccessEntryCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateAccessEntryCommand,
} from '@aws-sdk/client-eks';
import { GetRoleCommand, NoSuchEntityException } from '@aws-sdk/client-iam';
import {
  commandsForEntries,
  ensureAccessEntries,
  examineAccessEntries,
  principalsOf,
  unverifiedWarning,
  type AccessEntryClients,
  type AccessEntryResult,
} from '../../../../../src/cli/cluster/add/access-entries.ts';

const ROLE = 'arn:aws:iam::111122223333:role/rollcall-prod-reconcile-eu-west-1';
const PATHED = 'arn:aws:iam::111122223333:role/team/rollcall-prod-ingest-eu-west-1';

interface Role {
  readonly id: string;
  readonly createdMs: number;
}

interface Entry {
  readonly roleId: string;
  readonly createdAt: Date;
  username: string;
  kubernetesGroups: readonly string[];
}

/** IAM and EKS of one account: an entry is found by ARN, and works by id. */
class FakeAccount {
  readonly roles = new Map<string, Role>();
  readonly entries = new Map<string, Entry>();
  iamRefusal: Error | undefined;
  nowMs = Date.parse('2026-11-01T00:00:00Z');
  #ids = 0;

  /** As CloudFormation does: under the same name, and another id. */
  makeRole(arn: string): void {
    this.nowMs += 60_000;
    this.#ids += 1;
    this.roles.set(arn, { id: `AROA${this.#ids}`, createdMs: this.nowMs });
  }

  /** Whether EKS takes a token of the role for somebody. */
  lets(arn: string): boolean {
    return this.entries.get(arn)?.roleId === this.roles.get(arn)?.id;
  }

  clients(): AccessEntryClients {
    const send = async (command: object): Promise<never> => this.#answer(command) as never;
    return { eks: { send }, iam: { send } };
  }

  #answer(command: object): unknown {
    if (command instanceof GetRoleCommand) return this.#role(command.input.RoleName ?? '');
    if (command instanceof CreateAccessEntryCommand) return this.#create(command.input);
    const { input } = command as DescribeAccessEntryCommand;
    const arn = input.principalArn ?? '';
    const standing = this.entries.get(arn);
    if (command instanceof DeleteAccessEntryCommand) this.entries.delete(arn);
    if (command instanceof UpdateAccessEntryCommand) Object.assign(standing ?? {}, input);
    if (command instanceof DescribeAccessEntryCommand) {
      if (standing === undefined) {
        throw new ResourceNotFoundException({ message: '', $metadata: {} });
      }
      return { accessEntry: { ...standing } };
    }
    return {};
  }

  #create({
    principalArn: arn = '',
    username = '',
    kubernetesGroups = [],
  }: CreateAccessEntryCommand['input']): unknown {
    this.nowMs += 1_000;
    if (this.entries.has(arn)) throw new ResourceInUseException({ message: '', $metadata: {} });
    const roleId = this.roles.get(arn)?.id ?? '';
    const createdAt = new Date(this.nowMs);
    this.entries.set(arn, { roleId, createdAt, username, kubernetesGroups });
    return {};
  }

  #role(name: string): unknown {
    if (this.iamRefusal !== undefined) throw this.iamRefusal;
    const found = [...this.roles].find(([arn]) => arn.endsWith(`/${name}`));
    if (found === undefined) throw new NoSuchEntityException({ message: '', $metadata: {} });
    const [Arn, { createdMs }] = found;
    return { Role: { Arn, CreateDate: new Date(createdMs) } };
  }
}

const AS_FUNCTIONS = { arn: ROLE, user: 'rollcall-functions' } as const;

describe('access entries of the functions', () => {
  const resultOf = async (account: FakeAccount): Promise<AccessEntryResult['result'] | undefined> =>
    (await ensureAccessEntries(account.clients(), 'prod', [AS_FUNCTIONS]))[0]?.result;

  it('are made where they are missing, and once: who only asks for snapshots has a name of its own (row 69)', async () => {
    const account = new FakeAccount();
    account.makeRole(ROLE);
    account.makeRole(PATHED);
    const principals = principalsOf({
      ClusterAccessRoleArns: ROLE,
      ClusterRequestRoleArns: PATHED,
    });
    const results = await ensureAccessEntries(account.clients(), 'prod', principals);
    assert.deepEqual(
      results.map(({ result }) => result),
      ['created', 'created'],
    );
    assert.deepEqual(account.entries.get(ROLE)?.kubernetesGroups, ['rollcall-functions']);
    assert.equal(account.entries.get(PATHED)?.username, 'rollcall-requests');
    const again = await ensureAccessEntries(account.clients(), 'prod', principals);
    assert.deepEqual(
      again.map(({ result }) => result),
      ['present', 'present'],
    );
  });

  it('that outlived their role are made anew, and work again (F5)', async () => {
    const account = new FakeAccount();
    account.makeRole(ROLE);
    await resultOf(account);
    assert.ok(account.lets(ROLE));
    // osls remove, osls deploy.
    account.makeRole(ROLE);
    assert.ok(!account.lets(ROLE), 'the entry stands, and is nobody’s');
    assert.equal(await resultOf(account), 'replaced');
    assert.ok(account.lets(ROLE));
    assert.equal(await resultOf(account), 'present');
  });

  it('that name another user or group are put right', async () => {
    for (const change of [{ kubernetesGroups: ['system:masters'] }, { username: 'other' }]) {
      const account = new FakeAccount();
      account.makeRole(ROLE);
      await resultOf(account);
      Object.assign(account.entries.get(ROLE) ?? {}, change);
      assert.equal(await resultOf(account), 'updated');
      assert.equal(await resultOf(account), 'present');
    }
  });

  it('are not called present when IAM does not say how old the role is', async () => {
    const account = new FakeAccount();
    account.makeRole(ROLE);
    await resultOf(account);
    account.iamRefusal = Object.assign(new Error('no'), { name: 'AccessDenied' });
    const results = await ensureAccessEntries(account.clients(), 'prod', [AS_FUNCTIONS]);
    assert.equal(results[0]?.result, 'unverified');
    assert.match(unverifiedWarning(results) ?? '', /removed and deployed again/);
    account.iamRefusal = Object.assign(new Error('no'), { name: 'Throttling' });
    await assert.rejects(resultOf(account), { name: 'Throttling' });
  });

  it('can be made by hand', () => {
    const [command] = commandsForEntries({ name: 'prod', region: 'eu-west-1' }, [
      { arn: 'arn:a', user: 'rollcall-requests' },
    ]);
    assert.match(command ?? '', /--principal-arn arn:a --username rollcall-requests/);
  });
});

describe('examineAccessEntries', () => {
  const standingOf = async (account: FakeAccount): Promise<string | undefined> =>
    (await examineAccessEntries(account.clients(), 'prod', [AS_FUNCTIONS]))[0]?.standing;

  it('tells one that is missing, as that of a function that came later, and makes none', async () => {
    const account = new FakeAccount();
    account.makeRole(ROLE);
    assert.equal(await standingOf(account), 'missing');
    assert.equal(account.entries.size, 0);
  });

  it('tells one that is right, of another name, older than its role, or of unknown age', async () => {
    const account = new FakeAccount();
    account.makeRole(ROLE);
    await ensureAccessEntries(account.clients(), 'prod', [AS_FUNCTIONS]);
    assert.equal(await standingOf(account), 'present');
    account.iamRefusal = Object.assign(new Error('no'), { name: 'AccessDenied' });
    assert.equal(await standingOf(account), 'unverified');
    account.iamRefusal = undefined;
    const entry = account.entries.get(ROLE);
    assert.ok(entry);
    entry.username = 'somebody';
    assert.equal(await standingOf(account), 'differs');
    account.makeRole(ROLE);
    assert.equal(await standingOf(account), 'outlived');
    assert.equal(entry.username, 'somebody', 'nothing was changed');
  });
});
