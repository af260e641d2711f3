/** The outputs of a stack: from CloudFormation or a file, and what is said when they are not there. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { CloudFormationServiceException } from '@aws-sdk/client-cloudformation';
import type { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { describeStack, readStackOutputs } from '../../../../src/cli/reach/describe-stack.ts';
import { STACK_OUTPUT_NAMES } from '../../../../src/cli/reach/stack.ts';

const outputs = Object.fromEntries(STACK_OUTPUT_NAMES.map((name) => [name, `the ${name}`]));
const pairs = Object.entries(outputs).map(([OutputKey, OutputValue]) => ({
  OutputKey,
  OutputValue,
}));
const which = { stackName: 'rollcall-prod', stage: 'prod', region: 'eu-west-1' };

function answering(answer: () => unknown): Pick<CloudFormationClient, 'send'> {
  const send = (): Promise<unknown> => Promise.try(answer);
  return { send: send as CloudFormationClient['send'] }; // overloads: the tests send one command
}

describe('describing a stack', () => {
  it('gives every output by name', async () => {
    const client = answering(() => ({ Stacks: [{ Outputs: [...pairs, { OutputKey: 'Other' }] }] }));
    assert.deepEqual(await describeStack(client, which), outputs);
  });

  it('says where it looked when there is none', async () => {
    const missing = answering(() => {
      throw new CloudFormationServiceException({
        name: 'ValidationError',
        $fault: 'client',
        $metadata: {},
      });
    });
    for (const client of [missing, answering(() => ({ Stacks: [] }))]) {
      await assert.rejects(describeStack(client, which), {
        name: 'CommandError',
        message: 'There is no stack rollcall-prod in eu-west-1.',
        remedy: /--stage \(prod\), --region and --profile/,
      });
    }
  });

  it('names what a stack of another release does not have', async () => {
    const Outputs = [
      ...pairs.filter(({ OutputKey }) => OutputKey !== 'DelayQueueUrl' && OutputKey !== 'Release'),
      { OutputKey: 'Release', OutputValue: '0.0.9' },
    ];
    const client = answering(() => ({ Stacks: [{ Outputs, StackStatus: 'UPDATE_COMPLETE' }] }));
    await assert.rejects(describeStack(client, which), {
      message:
        /\(UPDATE_COMPLETE\) has no output DelayQueueUrl: it is of another release \(0\.0\.9\)/,
    });
  });

  it('lets errors of AWS pass', async () => {
    const denied = Object.assign(new Error('no'), { name: 'AccessDenied' });
    const client = answering(() => {
      throw denied;
    });
    await assert.rejects(describeStack(client, which), denied);
  });
});

describe('outputs in a file', () => {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-outputs-'));
  });
  after(() => rm(directory, { recursive: true }));

  const write = async (name: string, text: string): Promise<string> => {
    const file = path.join(directory, name);
    await writeFile(file, text);
    return file;
  };

  it('may be names and values, or what CloudFormation prints', async () => {
    for (const [name, content] of Object.entries({
      plain: outputs,
      pairs,
      described: { Stacks: [{ StackName: 'rollcall-prod', Outputs: pairs }] },
    })) {
      const file = await write(name, JSON.stringify(content));
      assert.deepEqual(await readStackOutputs(file), outputs, name);
    }
  });

  it('is refused with the way to make one', async () => {
    for (const [content, pattern] of [
      ['{', /it is no JSON/],
      ['[1]', /neither/],
      ['{"Release": 1}', /neither/],
      ['{"Release": "1.2.3"}', /another release \(1\.2\.3\)/],
    ] as const) {
      const file = await write('bad', content);
      await assert.rejects(readStackOutputs(file), { name: 'CommandError', message: pattern });
    }
    const missing = readStackOutputs(path.join(directory, 'none'));
    await assert.rejects(missing, { message: /it cannot be read/, exitCode: 2 });
  });
});
