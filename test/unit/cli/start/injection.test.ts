/** A bad rollout of `npm start -- --inject`: each step waits for what was recorded. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { openInjection } from '../../../../src/cli/start/injection.ts';
import type { ClusterOverview, DaemonSetOverview } from '../../../../src/engine/overview.ts';
import { evidenceOf } from '../../../../src/core/rollout/shown-evidence.ts';
import { recordOf } from '../../../support/rollout-records.ts';
import { cluster, daemonSet } from './fixtures.ts';

type Rollout = NonNullable<DaemonSetOverview['rollout']>;

const rollout = (phase: Rollout['phase'], revision: string): Rollout => ({
  phase,
  revision,
  summary: 'in short',
  gate: { kind: 'next' },
  evidence: evidenceOf(recordOf()),
});

const local = (changes: Partial<DaemonSetOverview> = {}): readonly ClusterOverview[] => [
  cluster({ cluster: 'local-1', daemonSets: [daemonSet(changes)] }),
];

function play(): {
  readonly advance: (
    clusters: readonly ClusterOverview[],
    isSettled: boolean,
  ) => Promise<string | undefined>;
  readonly patches: JsonObject[];
  readonly said: string[];
} {
  const patches: JsonObject[] = [];
  const said: string[] = [];
  const injection = openInjection({
    failure: 'bad-image',
    patch: async (body) => void patches.push(body),
    say: (text) => said.push(text),
  });
  const advance = (clusters: readonly ClusterOverview[], isSettled: boolean) =>
    injection.advance({ clusters, isSettled });
  return { advance, patches, said };
}

describe('an injected rollout', () => {
  it('opts in once settled, rolls once that was seen, and ends when it was halted', async () => {
    const { advance, patches, said } = play();
    assert.match((await advance(local(), false)) ?? '', /settle/);
    assert.deepEqual(patches, []);
    await advance(local(), true);
    assert.deepEqual(Object.keys(patches[0] ?? {}), ['metadata']);
    await advance(local(), true);
    assert.equal(patches.length, 1, 'the policy was not seen yet');
    await advance(local({ generation: 1, rollout: rollout('Done', 'old') }), true);
    assert.match(JSON.stringify(patches[1]), /log-collector:2\.0\.2-simulate-pull-fails/);
    const waits = [
      local({ rollout: rollout('Done', 'old') }),
      local({ rollout: rollout('Progressing', 'new') }),
      local({ rollout: rollout('Waiting', 'new') }),
    ];
    for (const clusters of waits) {
      assert.match((await advance(clusters, true)) ?? '', /rollout/);
    }
    const halted = local({ rollout: rollout('Halted', 'new') });
    assert.equal(await advance(halted, false), undefined);
    assert.match(said.at(-1) ?? '', /is held: in short/);
    assert.equal(await advance(halted, false), undefined);
    assert.equal(patches.length, 2);
    assert.equal(said.length, 3, 'it is said once');
  });

  it('says it where nothing halted it', async () => {
    const { advance, said } = play();
    await advance(local(), true);
    await advance(local({ rollout: rollout('Halted', 'old') }), true);
    const done = local({ rollout: rollout('Done', 'new') });
    assert.equal(await advance(done, true), undefined);
    assert.match(said.at(-1) ?? '', /went through/);
  });

  it('waits where its DaemonSet is not there', async () => {
    const { advance, patches } = play();
    const elsewhere = [cluster({ cluster: 'local-2' })];
    assert.match((await advance(elsewhere, true)) ?? '', /settle/);
    assert.deepEqual(patches, []);
  });
});
