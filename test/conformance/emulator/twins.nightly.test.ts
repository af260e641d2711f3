/** Two real API servers do not differ: what differed here would be the comparison's fault, not the local server's. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { compareServers } from './differential.ts';
import { openRealServer, type RunningServer } from './open-servers.ts';

const SEED = 20261122;
/** Enough to meet every verb and resource several times. */
const STEPS_COUNT = 1500;

const skip = skipWithoutTools([TOOLS.go]);

it('two real servers do not differ', { skip, timeout: 1_700_000 }, async (context) => {
  const running: RunningServer[] = [];
  try {
    for (const name of ['real', 'twin']) running.push(await openRealServer(name));
    const [left, right] = running;
    assert.ok(left !== undefined && right !== undefined);
    const report = await compareServers({
      servers: { left: left.server, right: right.server },
      seed: SEED,
      prefix: 'twin',
      stepsCount: STEPS_COUNT,
      allowed: [],
    });
    context.diagnostic(`${report.stepsPlayed} requests`);
    assert.equal(report.unlisted.join('\n'), '');
  } finally {
    for (const server of running) await server.stop();
  }
});
