/** Who a record names as the giver of an order: a name at the terminal, and whom AWS knows the command as. */
import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { describe, it } from 'node:test';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';
import { uncoloured } from '../../../../src/cli/command-line/colour.ts';
import { callerOf } from '../../../../src/cli/command-line/caller.ts';
import { BY_CHARACTERS_MAX } from '../../../../src/core/model/registration.ts';
import { CommandWorld } from '../../../support/command-world.ts';

const outputs = new CommandWorld().open({ stage: 'dev' }).outputs;
const ACCOUNT = '111122223333';

describe('who gives an order', () => {
  const said: string[] = [];
  const ask = (
    environment: Readonly<Record<string, string>>,
    callerArn: () => Promise<string>,
    clock = new VirtualClock(),
  ): Promise<string> =>
    callerOf(
      { environment, say: (line) => said.push(uncoloured(line)) },
      { clock, outputs, callerArn },
    );
  const known = (arn: string) => (): Promise<string> => Promise.resolve(arn);
  const role = known(`arn:aws:sts::${ACCOUNT}:assumed-role/Admin/ann@example.com`);

  it('is a user of the environment, without one of the system, and whom AWS knows', async () => {
    const named = async (environment: Readonly<Record<string, string>>): Promise<string> =>
      ask(environment, role);
    assert.equal(await named({ USER: 'ann', LOGNAME: 'bob' }), 'ann (Admin/ann@example.com)');
    assert.equal(await named({ USER: '', LOGNAME: 'bob' }), 'bob (Admin/ann@example.com)');
    assert.equal(await named({}), `${userInfo().username} (Admin/ann@example.com)`);
  });

  it('has of an ARN what tells principals apart, and the account where it is not the stack’s', async () => {
    const shown = async (arn: string): Promise<string> => ask({ USER: 'ann' }, known(arn));
    assert.equal(await shown(`arn:aws:iam::${ACCOUNT}:user/teams/edge/ann`), 'ann (user/ann)');
    assert.equal(await shown(`arn:aws:iam::${ACCOUNT}:root`), 'ann (root)');
    assert.equal(await shown('arn:aws:iam::9:user/eve'), 'ann (9:user/eve)');
  });

  it('cannot be forged by a name, and fits what is stored', async () => {
    const forged = await ask({ USER: 'bob (Admin/bob)' }, role);
    assert.equal(forged, 'bob-Admin/bob- (Admin/ann@example.com)');
    const long = 'x'.repeat(64);
    const longest = known(`arn:aws:sts::444455556666:assumed-role/${long}/${long}`);
    const told = await ask({ USER: 'y'.repeat(1000) }, longest);
    assert.ok(told.length <= BY_CHARACTERS_MAX && told.endsWith(`${long})`), told);
  });

  it('is said to be unknown, and the order is given, where AWS refuses or does not answer', async () => {
    const refused = await ask({ USER: 'ann' }, () => Promise.reject(new Error('no route')));
    assert.equal(refused, 'ann (identity unknown)');
    assert.match(said.at(-1) ?? '', /^! AWS did not tell who you are \(no route\): the order is/);
    const clock = new VirtualClock();
    const silent = ask({ USER: 'ann' }, () => new Promise(() => undefined), clock);
    await settle();
    await clock.advance(2000);
    const told = await Promise.race([silent, settle().then(() => 'it waits')]);
    assert.equal(told, 'ann (identity unknown)');
    assert.match(said.at(-1) ?? '', /no answer of STS in 2 s/);
  });
});
