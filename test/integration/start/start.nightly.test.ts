/** Each bad rollout that `--inject` plays ends halted on its canary, with the cause. */
import { it } from 'node:test';
import type { INJECTED_FAILURES } from '../../../src/cli/start/injection.ts';
import { assertHaltedOnCanary, start } from './starts.ts';

/** What is injected, and what halts it. */
const INJECTED: Readonly<Record<(typeof INJECTED_FAILURES)[number], RegExp>> = {
  'bad-image': /StartFailure/,
  'crash-loop': /Restarts/,
  'slow-leak': /OOMKilled/,
  flap: /Flapping/,
};

for (const [failure, cause] of Object.entries(INJECTED)) {
  it(`npm start --inject ${failure} is halted on its canary`, async () => {
    assertHaltedOnCanary(await start('--clusters', '1', '--inject', failure), cause);
  });
}
