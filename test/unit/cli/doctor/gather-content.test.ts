/** What the doctor gathers of content, from the view alone. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { gatherContent } from '../../../../src/cli/doctor/gather-content.ts';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { ObservedConfig } from '../../../../src/core/model/projections.ts';
import { POLICY_ANNOTATION } from '../../../../src/core/policy/rollout-policy.ts';
import { takenOver } from '../../../support/doctor-facts.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { MemoryViewStore } from '../../../support/memory-view-store.ts';
import { stampAt } from '../../../support/store-suite.ts';

const ENV: JsonObject = {
  template: {
    metadata: { labels: { app: 'agent' } },
    spec: {
      containers: [
        {
          name: 'main',
          image: 'agent:1',
          envFrom: [
            { configMapRef: { name: 'settings' } },
            { secretRef: { name: 'token', optional: true } },
          ],
        },
      ],
    },
  },
};

async function gathered(policy: string | undefined, config?: ObservedConfig) {
  const view = new MemoryViewStore();
  const { clusterUid } = takenOver;
  const own = uid('ds');
  const stamp = stampAt(1);
  const plain = daemonSet({ spec: ENV });
  const annotations = policy === undefined ? {} : { [POLICY_ANNOTATION]: policy };
  const object = { ...plain, metadata: { ...plain.metadata, annotations } };
  const item = { stamp, object, ...(config === undefined ? {} : { config }) };
  await view.writeDaemonSet({ clusterUid, uid: own }, item);
  await view.writeName(clusterUid, { namespace: 'ops', name: 'agent', uid: own, stamp });
  const fact = await gatherContent({ view, clock: new VirtualClock() }, takenOver);
  assert.ok(fact.kind === 'checked');
  return fact.value;
}

const told = (objects: ObservedConfig['objects']): ObservedConfig => ({ key: 'k1', objects });
const settings = { kind: 'ConfigMap', name: 'settings' } as const;
const token = { kind: 'Secret', name: 'token' } as const;

describe('gathering the content of revisions', () => {
  it('asks only of DaemonSets whose policy has it, and can be read', async () => {
    assert.deepEqual(await gathered(undefined), []);
    assert.deepEqual(await gathered('soak: 5m'), []);
    assert.deepEqual(await gathered('config: {nonsense'), []);
  });

  it('tells a key that is missing from a watcher that has told nothing', async () => {
    const [untold] = await gathered('config: true');
    assert.equal(untold?.state, 'untold');
    const [keyless] = await gathered('config: true', { objects: [] });
    assert.equal(keyless?.state, 'no-key');
    const [known] = await gathered('config: true', told([{ ...settings, hash: 'aa' }]));
    assert.deepEqual(
      { state: known?.state, objects: known?.objects },
      { state: 'told', objects: [] },
    );
  });

  it('names what may not be read, and what is not there unless pods do without', async () => {
    const [fact] = await gathered(
      'config: true',
      told([
        { ...settings, problem: 'forbidden' },
        { ...token, problem: 'missing' },
      ]),
    );
    assert.deepEqual(fact?.objects, [{ text: 'ConfigMap settings', trouble: 'forbidden' }]);
    const [needed] = await gathered('config: true', told([{ ...settings, problem: 'missing' }]));
    assert.deepEqual(needed?.objects, [{ text: 'ConfigMap settings', trouble: 'missing' }]);
  });
});
