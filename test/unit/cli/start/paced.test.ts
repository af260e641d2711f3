/** Work that is begun again and again, one at a time. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Paced } from '../../../../src/cli/start/fleet-play.ts';

it('is begun when it is due, and never beside itself', async () => {
  let begun = 0;
  let end = (): void => undefined;
  const paced = new Paced(1000, () => {
    begun += 1;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  paced.run(0);
  paced.run(5000);
  assert.equal(begun, 1, 'the first is still under way');
  end();
  await paced.idle();
  paced.run(900);
  assert.equal(begun, 1, 'not due yet');
  paced.run(1000);
  assert.equal(begun, 2);
  end();
  await paced.idle();
});

it('tells what it failed with when it would be begun again', async () => {
  const paced = new Paced(1000, () => Promise.reject(new Error('it broke')));
  paced.run(0);
  await paced.idle();
  assert.throws(() => {
    paced.run(0);
  }, /it broke/);
});
