/** `rollcall cluster doctor`: its command line, and what it says without any network. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failed, notChecked, ok } from '../../../../src/app/checks/finding.ts';
import { uncoloured } from '../../../../src/cli/command-line/colour.ts';
import { renderProblems } from '../../../../src/cli/checks/doctor.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { registrationOf } from '../../../support/store-suite.ts';

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

  it('prints of all clusters what is not in order, and everything when asked', async () => {
    const world = new CommandWorld();
    world.stores().registry.seed(registrationOf('c10'));
    world.stores().registry.seed(registrationOf('c9'));
    const { stdout, stderr } = (await world.run(['cluster', 'doctor', '--all'])).expectExit(1);
    assert.equal(stderr, '');
    assert.match(stdout, /^Cluster c9\n(.+\n)+Cluster c10\n/);
    assert.match(stdout, /\[never-heard\]/);
    assert.doesNotMatch(stdout, /^ {2}(ok|unknown)/m);
    const whole = await world.run(['cluster', 'doctor', '--all', '--verbose']);
    assert.match(whole.expectExit(1).stdout, /^ {2}ok {7}registration/m);
    assert.match(whole.stderr, /^examined c9$/m);
  });

  it('counts the clusters in which nothing failed', () => {
    const well = { findings: [ok('name', 'name-ok', 'found'), notChecked('watcher', 'no way in')] };
    const bad = [failed('view', 'view-incomplete', { seen: 'a gap', next: 'Wait.' })];
    assert.deepEqual(renderProblems([{ id: 'a', ...well }]).map(uncoloured), [
      '1 cluster: nothing failed',
    ]);
    assert.deepEqual(
      renderProblems([
        { id: 'a', ...well },
        { id: 'b', findings: bad },
        { id: 'c', ...well },
      ]).map(uncoloured),
      [
        'Cluster b',
        '  FAILED   view              a gap [view-incomplete]',
        '           → Wait.',
        '2 clusters: nothing failed',
      ],
    );
  });
});
