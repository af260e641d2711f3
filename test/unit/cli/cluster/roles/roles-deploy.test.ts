/** Deploying the roles of a cluster: again without harm, and a failure with its first reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CloudFormationServiceException,
  CreateStackCommand,
  DeleteStackCommand,
  DescribeStackEventsCommand,
  DescribeStacksCommand,
  UpdateStackCommand,
} from '@aws-sdk/client-cloudformation';
import type { Stack, Tag } from '@aws-sdk/client-cloudformation';
import { deployRoles } from '../../../../../src/cli/cluster/roles/roles-deploy.ts';
import type { RolesDeployment } from '../../../../../src/cli/cluster/roles/roles-deploy.ts';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';

const OUTPUTS = [
  { OutputKey: 'WatcherRoleId', OutputValue: 'AROAW' },
  { OutputKey: 'WatcherRoleArn', OutputValue: 'arn:w' },
];

/** CloudFormation with one stack, whose next statuses are told in advance. */
class ScriptedCloudFormation {
  stack: Stack | undefined;
  readonly asked: string[] = [];
  /** What each look after a change finds, the last one for ever; `gone` for none. */
  statuses: string[] = [];

  send(command: object): Promise<never> {
    const answer = this.#answer(command);
    // Each command has an answer of its own type; the test gives the members that are read.
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as never);
  }

  #answer(command: object): unknown {
    if (command instanceof DescribeStacksCommand) return this.#describe();
    if (command instanceof DescribeStackEventsCommand) return { StackEvents: EVENTS };
    const { input } = command as { input: { Tags?: Tag[] } };
    if (command instanceof DeleteStackCommand) this.asked.push('delete');
    else this.asked.push(command instanceof UpdateStackCommand ? 'update' : 'create');
    if (command instanceof CreateStackCommand || command instanceof UpdateStackCommand) {
      this.stack = { ...stackOf('CREATE_IN_PROGRESS'), Tags: input.Tags };
    }
    return {};
  }

  #describe(): unknown {
    const status = this.statuses.length > 1 ? this.statuses.shift() : this.statuses[0];
    if (status === 'gone') this.stack = undefined;
    else if (status !== undefined && this.stack !== undefined) {
      this.stack = { ...this.stack, StackStatus: status as Stack['StackStatus'] };
    }
    if (this.stack !== undefined) return { Stacks: [this.stack] };
    return new CloudFormationServiceException({
      name: 'ValidationError',
      $fault: 'client',
      $metadata: {},
    });
  }
}

const EVENTS = [
  { ResourceStatus: 'CREATE_FAILED', ResourceStatusReason: 'cancelled', LogicalResourceId: 'B' },
  { ResourceStatus: 'CREATE_FAILED', ResourceStatusReason: 'it is there', LogicalResourceId: 'A' },
];

function stackOf(status: Stack['StackStatus']): Stack {
  return { StackName: 's', CreationTime: new Date(0), StackStatus: status, Outputs: OUTPUTS };
}

async function deploy(
  client: ScriptedCloudFormation,
  change: Partial<RolesDeployment> = {},
): Promise<unknown> {
  const clock = new VirtualClock();
  const running = deployRoles({
    client,
    stackName: 's',
    template: 't',
    parameters: { ClusterId: 'a' },
    clock,
    signal: new AbortController().signal,
    say: () => undefined,
    ...change,
  });
  let isDone = false;
  const ended = running.then(
    (roles) => roles,
    (error: unknown) => error,
  );
  void ended.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await settle();
    await clock.advance(3000);
  }
  return ended;
}

const ROLES = { watcher: { roleId: 'AROAW', roleArn: 'arn:w' } };

describe('deploying the roles of a cluster', () => {
  it('creates the stack, waits, and reads the roles', async () => {
    const client = new ScriptedCloudFormation();
    client.statuses = ['gone', 'CREATE_IN_PROGRESS', 'CREATE_COMPLETE'];
    assert.deepEqual(await deploy(client), ROLES);
    assert.deepEqual(client.asked, ['create']);
  });

  it('changes nothing for the same template and parameters, and updates for others', async () => {
    const client = new ScriptedCloudFormation();
    client.statuses = ['gone', 'CREATE_COMPLETE'];
    await deploy(client);
    assert.deepEqual(await deploy(client), ROLES);
    assert.deepEqual(client.asked, ['create']);
    client.statuses = ['CREATE_COMPLETE', 'UPDATE_COMPLETE'];
    assert.deepEqual(await deploy(client, { template: 'other' }), ROLES);
    assert.deepEqual(client.asked, ['create', 'update']);
  });

  it('goes on with a stack that an interrupted run began', async () => {
    const client = new ScriptedCloudFormation();
    client.statuses = ['gone', 'CREATE_COMPLETE'];
    await deploy(client);
    client.statuses = ['CREATE_IN_PROGRESS', 'CREATE_IN_PROGRESS', 'CREATE_COMPLETE'];
    assert.deepEqual(await deploy(client), ROLES);
    assert.deepEqual(client.asked, ['create']);
  });

  it('removes what failed to be created, and makes it anew', async () => {
    const client = new ScriptedCloudFormation();
    client.stack = stackOf('ROLLBACK_COMPLETE');
    client.statuses = ['ROLLBACK_COMPLETE', 'DELETE_IN_PROGRESS', 'gone', 'CREATE_COMPLETE'];
    assert.deepEqual(await deploy(client), ROLES);
    assert.deepEqual(client.asked, ['delete', 'create']);
  });

  it('gives the first reason of a failure', async () => {
    const client = new ScriptedCloudFormation();
    client.statuses = ['gone', 'ROLLBACK_IN_PROGRESS', 'ROLLBACK_COMPLETE'];
    const error = await deploy(client);
    assert.ok(error instanceof Error);
    assert.match(error.message, /ROLLBACK_COMPLETE: A: it is there/);
  });

  it('leaves a stack that is being made when it is interrupted', async () => {
    const controller = new AbortController();
    controller.abort();
    const client = new ScriptedCloudFormation();
    client.stack = stackOf('CREATE_IN_PROGRESS');
    const error = await deploy(client, { signal: controller.signal });
    assert.ok(error instanceof Error);
    assert.match(error.message, /still CREATE_IN_PROGRESS/);
    assert.deepEqual(client.asked, []);
  });
});
