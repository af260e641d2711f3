/** A Node's annotation makes admission refuse pods, and only those that it names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClientOutcome } from '../../../src/client/local-client.ts';
import { prepareNamespace } from '../../support/agent-world.ts';
import { createLocalWorld } from '../../support/world.ts';

const REFUSING = { 'simulate.rollcall.dev/refuse-pods': 'app=agent' };

async function post(
  spec: JsonObject,
  labels: Readonly<Record<string, string>>,
): Promise<ClientOutcome> {
  const world = await createLocalWorld();
  await prepareNamespace(world);
  await world.create('nodes', { metadata: { name: 'closed', annotations: REFUSING } });
  await world.create('nodes', { metadata: { name: 'open' } });
  const containers = [{ name: 'main', image: 'registry.example/app:1' }];
  const metadata = { name: 'p', namespace: 'default', labels };
  return world.admin.create('pods', { metadata, spec: { containers, ...spec } });
}

function pinnedTo(node: string): JsonObject {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  const nodeSelectorTerms = [{ matchFields }];
  return {
    affinity: {
      nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    },
  };
}

describe('a node that refuses pods', () => {
  for (const [how, spec] of [
    ['a daemon pod', pinnedTo('closed')],
    ['a pod that names it', { nodeName: 'closed' }],
  ] as const) {
    it(`refuses ${how} with the label as a webhook would`, async () => {
      const outcome = await post(spec, { app: 'agent' });
      assert.ok(outcome.kind === 'refused');
      assert.equal(outcome.status.code, 403);
      assert.equal(outcome.status.reason, 'Forbidden');
      assert.match(outcome.status.message ?? '', /node closed takes no pods with app=agent/);
    });
  }

  it('takes other pods, and other nodes take the label', async () => {
    assert.equal((await post(pinnedTo('closed'), { app: 'other' })).kind, 'ok');
    assert.equal((await post(pinnedTo('open'), { app: 'agent' })).kind, 'ok');
    assert.equal((await post({}, { app: 'agent' })).kind, 'ok');
  });
});
