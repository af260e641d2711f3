/** `rollcall dead-letter list | redrive | prune`, as a person uses them (S6, rows 83 and 90). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandWorld } from '../../../support/command-world.ts';
import { lostHintOf } from '../../../support/dead-letter-suite.ts';
import { metaOf, registrationOf } from '../../../support/store-suite.ts';

const HOUR_MS = 3_600_000;

async function worldWithLetters(): Promise<CommandWorld> {
  const world = new CommandWorld();
  const { registry, view, deadLetters } = world.stores();
  const nowMs = world.clock.nowMs();
  registry.seed(registrationOf('c1'));
  await view.writeMeta({ ...metaOf('uid-of-c1'), isComplete: true, announcedAtMs: 1 });
  const event = { queue: 'events', code: 'lost-event', body: 'hunter2' } as const;
  await deadLetters.recordDeadLetter({ ...lostHintOf('c1', nowMs - 2 * HOUR_MS), ...event });
  await deadLetters.recordDeadLetter({
    ...lostHintOf('', nowMs - HOUR_MS),
    queue: 'ingest',
    code: 'wrong-sender',
    claim: { cluster: 'c1', senderRoleId: 'AROA9' },
  });
  return world;
}

describe('rollcall dead-letter', () => {
  it('lists in the order of time, and tells a claim from a cluster (S6)', async () => {
    const world = await worldWithLetters();
    const { stdout } = (await world.run(['dead-letter', 'list'])).expectExit(0);
    const [, first = '', second = ''] = stdout.split('\n');
    assert.match(first, /c1 +events +lost-event/);
    assert.match(second, /unverified\/AROA9 \(claims c1\) +ingest +wrong-sender/);
    assert.doesNotMatch(stdout, /hunter2/, 'a body is somebody else’s text');
    const own = await world.run(['dead-letter', 'list', '--cluster', 'c1', '--json']);
    const { letters } = own.document() as { letters: { id: string; isSenderVerified: boolean }[] };
    assert.deepEqual(
      letters.map(({ isSenderVerified }) => isSenderVerified),
      [true],
    );
    const late = await world.run(['dead-letter', 'list', '--since', '90m', '--json']);
    assert.equal((late.document()['letters'] as unknown[]).length, 1);
    const unverified = await world.run(['dead-letter', 'list', '--unverified']);
    assert.match(unverified.stdout, /wrong-sender/);
    assert.doesNotMatch(unverified.stdout, /lost-event/);
    (await world.run(['dead-letter', 'list', '--unverified', '--cluster', 'c1'])).expectExit(2);
  });

  it('redrives by its id, says what came of it, and shows it in the list', async () => {
    const world = await worldWithLetters();
    const listed = await world.run(['dead-letter', 'list', '--cluster', 'c1', '--json']);
    const [letter] = listed.document()['letters'] as { id: string }[];
    const run = (await world.run(['dead-letter', 'redrive', letter?.id ?? ''])).expectExit(0);
    assert.match(run.stdout, /1 × snapshot-needed/);
    assert.equal((await world.stores().view.readMeta('uid-of-c1' as never))?.isComplete, false);
    assert.match((await world.run(['dead-letter', 'list'])).stdout, /lost-event +snapshot-needed/);
    const again = await world.run(['dead-letter', 'redrive', '--cluster', 'c1']);
    assert.match(again.expectExit(0).stdout, /No dead letters to redrive/);
    const forced = await world.run(['dead-letter', 'redrive', '--cluster', 'c1', '--again']);
    assert.match(forced.expectExit(0).stdout, /snapshot-awaited/);
  });

  it('S6: never redrives for an unverified sender, and leaves with 1', async () => {
    const world = await worldWithLetters();
    const listed = await world.run(['dead-letter', 'list', '--unverified', '--json']);
    const [letter] = listed.document()['letters'] as { id: string }[];
    const run = await world.run(['dead-letter', 'redrive', letter?.id ?? '', '--delete']);
    assert.match(run.expectExit(1).stdout, /unverified-sender: never/);
    assert.equal((await world.run(['dead-letter', 'list', '--unverified'])).exitCode, 0);
    const all = await world.run(['dead-letter', 'redrive', '--all', '--json']);
    const { redriven } = all.document() as { redriven: { outcome: string }[] };
    assert.deepEqual(
      redriven.map(({ outcome }) => outcome),
      ['snapshot-needed'],
    );
  });

  it('wants to be told which, and says what an unknown id is', async () => {
    const world = await worldWithLetters();
    assert.match(
      (await world.run(['dead-letter', 'redrive'])).expectExit(2).stderr,
      /--cluster, --code or --queue, or --all/,
    );
    (await world.run(['dead-letter', 'redrive', 'nonsense'])).expectExit(1);
    const events = await world.run(['dead-letter', 'redrive', '--waiting', 'events']);
    assert.match(events.expectExit(2).stderr, /another sender/);
  });

  it('leaves with 1 where Ctrl-C ended a redrive, and says how many are left', async () => {
    const world = await worldWithLetters();
    const { deadLetters } = world.stores();
    await deadLetters.recordDeadLetter({
      ...lostHintOf('c1', world.clock.nowMs() - HOUR_MS),
      queue: 'events',
      code: 'lost-event',
      messageId: 'second',
    });
    const note = deadLetters.noteRedrive.bind(deadLetters);
    deadLetters.noteRedrive = (...parameters) => {
      world.controller.abort();
      return note(...parameters);
    };
    const run = await world.run(['dead-letter', 'redrive', '--cluster', 'c1']);
    assert.match(run.expectExit(1).stdout, /Interrupted: 1 were not looked at/);
  });

  it('ends a prune at Ctrl-C, after those that it has begun', async () => {
    const world = await worldWithLetters();
    const { deadLetters } = world.stores();
    for (let index = 0; index < 40; index += 1) {
      const letter = lostHintOf('c1', world.clock.nowMs() - 3 * HOUR_MS);
      await deadLetters.recordDeadLetter({ ...letter, messageId: `m${index}` });
    }
    const remove = deadLetters.remove.bind(deadLetters);
    deadLetters.remove = (place) => {
      world.controller.abort();
      return remove(place);
    };
    const run = await world.run(['dead-letter', 'prune', '--older-than', '1h', '--json']);
    assert.equal(run.document()['removed'], 16);
  });

  it('prunes what is old, and keeps the rest', async () => {
    const world = await worldWithLetters();
    const run = await world.run(['dead-letter', 'prune', '--older-than', '90m', '--json']);
    assert.deepEqual([run.document()['removed'], run.document()['kept']], [1, 1]);
    assert.doesNotMatch((await world.run(['dead-letter', 'list'])).stdout, /lost-event/);
    (await world.run(['dead-letter', 'prune'])).expectExit(2);
    (await world.run(['dead-letter', 'prune', '--older-than', 'soon'])).expectExit(2);
  });
});
