/** `rollcall cluster doctor`: its command line, and what it says without any network. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandWorld } from '../../../../support/command-world.ts';
import { registrationOf } from '../../../../support/store-suite.ts';

describe('rollcall cluster doctor', () => {
  it('wants one cluster, or all', async () => {
    const world = new CommandWorld();
    (await world.run(['cluster', 'doctor'])).expectExit(2);
    (await world.run(['cluster', 'doctor', 'c1', '--all'])).expectExit(2);
    (await world.run(['cluster', 'doctor', '--all', '--kubeconfig', 'f'])).expectExit(2);
    const none = await world.run(['cluster', 'doctor', '--all']);
    assert.match(none.expectExit(0).stdout, /No clusters are registered/);
  });

  it('fails for a cluster that is not there, and still looks at the stack', async () => {
    const world = new CommandWorld();
    const { stdout } = (await world.run(['cluster', 'doctor', 'nobody'])).expectExit(1);
    assert.match(stdout, /FAILED +registration .*\[registration-missing\]/);
    assert.match(stdout, /unknown +events-queue/, 'SQS cannot be reached in this test');
  });

  it('prints what it has of each cluster, as one document with --json', async () => {
    const world = new CommandWorld();
    world.stores().registry.seed(registrationOf('c1'));
    world.stores().registry.seed(registrationOf('c2'));
    const run = (await world.run(['cluster', 'doctor', '--all', '--json'])).expectExit(1);
    const { clusters, failed } = run.document() as {
      readonly failed: number;
      readonly clusters: readonly {
        readonly id: string;
        readonly findings: readonly { readonly code: string }[];
      }[];
    };
    assert.equal(failed, 2);
    assert.deepEqual(
      clusters.map(({ id }) => id),
      ['c1', 'c2'],
    );
    for (const { findings } of clusters) {
      assert.ok(findings.some(({ code }) => code === 'never-heard'));
    }
  });
});
