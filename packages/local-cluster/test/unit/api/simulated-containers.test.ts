/** What would lead into a container is refused with a sentence that says why. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMINISTRATOR, createLocalWorld } from '../../support/world.ts';

for (const subresource of ['log', 'exec', 'attach', 'portforward', 'proxy']) {
  test(`${subresource} of a pod says that containers are simulated`, async () => {
    const { handler } = await createLocalWorld();
    const target = `/api/v1/namespaces/default/pods/p/${subresource}`;
    const answer = handler.handle({ method: 'GET', target, user: ADMINISTRATOR });
    assert.ok(answer.kind === 'object');
    assert.equal(answer.status, 501);
    const { message } = answer.body;
    assert.ok(typeof message === 'string');
    assert.match(message, /simulated/);
  });
}

test('another subresource does not exist', async () => {
  const { handler } = await createLocalWorld();
  const target = '/api/v1/namespaces/default/pods/p/other';
  const answer = handler.handle({ method: 'GET', target, user: ADMINISTRATOR });
  assert.ok(answer.kind === 'object');
  assert.equal(answer.status, 404);
});
