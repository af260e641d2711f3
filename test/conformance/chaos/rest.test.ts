/**
 * The count of what is looked at in the quiet can say no (L5): a chain of timers, requests without cause, timers left.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { userNameOf } from '../control-plane/identities.ts';
import { findUnrest } from './rest.ts';

const SINCE_MS = Date.parse('2026-11-22T12:00:00Z');
const SECONDS = 30;
const KEY = 'chaos/default/agent';

function run(second: number, reason = 'due'): string {
  const time = new Date(SINCE_MS + second * 1000).toISOString();
  return JSON.stringify({ time, message: 'reconcile', key: KEY, reason, outcome: 'skipped' });
}

function look(second: number, uri: string, name: string): string {
  const stamp = new Date(SINCE_MS + second * 1000).toISOString();
  return JSON.stringify({
    verb: 'get',
    requestURI: uri,
    user: { username: userNameOf('functions') },
    objectRef: { resource: 'daemonsets', namespace: 'default', name },
    requestReceivedTimestamp: stamp,
    stageTimestamp: stamp,
  });
}

const everySecond = (make: (second: number) => string): readonly string[] =>
  Array.from({ length: SECONDS }, (_, second) => make(second));

describe('the count of looks in the quiet (L5)', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rollcall-rest-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  async function unrest(
    logs: { readonly engine?: readonly string[]; readonly audit?: readonly string[] },
    timers = 0,
  ): Promise<readonly string[]> {
    const engineLogPath = join(directory, 'engine.log');
    const auditLogPath = join(directory, 'audit.log');
    await writeFile(engineLogPath, (logs.engine ?? []).join('\n'));
    await writeFile(auditLogPath, (logs.audit ?? []).join('\n'));
    return findUnrest({ sinceMs: SINCE_MS, engineLogPath, auditLogPath, timers });
  }

  it('lets a late timer pass, whatever was before, snapshots and a line that is half written', async () => {
    const before = everySecond((second) => run(-1 - second));
    const snapshots = [0, 1, 2].map((second) => run(second, 'snapshot'));
    const engine = [...before, ...snapshots, run(3), 'Warning: a word', run(4).slice(0, 40)];
    assert.deepEqual(await unrest({ engine }, 12), []);
  });

  it('names a key whose timers follow each other every second', async () => {
    assert.deepEqual(await unrest({ engine: everySecond((second) => run(second)) }), [
      `30 runs of ${KEY}`,
    ]);
  });

  it('names a key that snapshots make look every second', async () => {
    const engine = everySecond((second) => run(second, 'snapshot'));
    assert.deepEqual(await unrest({ engine }), [`30 snapshots made ${KEY} look`]);
  });

  it('names a DaemonSet that is read again and again, by name or by a list of one', async () => {
    const byName = (second: number): string => look(second, '/daemonsets/agent', 'agent');
    const byList = (second: number): string =>
      look(second, '/daemonsets?fieldSelector=metadata.name%3Dmesh&limit=1', '');
    assert.deepEqual(await unrest({ audit: [...everySecond(byName), ...everySecond(byList)] }), [
      '30 requests for default/agent',
      '30 requests for default/mesh',
    ]);
  });

  it('names timers that are left, beyond a dozen for each key', async () => {
    assert.deepEqual(await unrest({ engine: [run(-5)] }, 13), ['13 timers are left']);
  });
});
