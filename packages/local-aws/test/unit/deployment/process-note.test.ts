/** A note of a process holds for that very process, and for no later one with its id. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  isNotedProcessRunning,
  noteOfThisProcess,
  processIdIn,
} from '@rollcall/local-aws/deployment/process-note.ts';

const MODULE = new URL('../../../src/deployment/process-note.ts', import.meta.url).href;

/** The note of a process that has ended since. */
async function noteOfTheDead(): Promise<string> {
  const script = `import { noteOfThisProcess } from '${MODULE}'; console.log(noteOfThisProcess());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let note = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    note += chunk;
  });
  await once(child, 'close');
  return note;
}

test('a process that runs is running, by its note and by its id alone', () => {
  assert.equal(processIdIn(noteOfThisProcess()), process.pid);
  assert.ok(isNotedProcessRunning(noteOfThisProcess()));
  assert.ok(isNotedProcessRunning(String(process.pid)));
});

test('a process that ended is not, nor is what is no note', async () => {
  const note = await noteOfTheDead();
  assert.ok(processIdIn(note), note);
  assert.ok(!isNotedProcessRunning(note));
  for (const text of ['', '0', '-1', 'npm start']) assert.ok(!isNotedProcessRunning(text), text);
});

test('another process with the same id is not the one of the note', () => {
  const fields = noteOfThisProcess().split(' ');
  const start = fields.pop() ?? '';
  assert.ok(!isNotedProcessRunning([...fields, `${start}0`].join(' ')), 'it began another time');
  const [id, , ...rest] = noteOfThisProcess().split(' ');
  assert.ok(!isNotedProcessRunning([id, 'boot-before', ...rest].join(' ')), 'in another boot');
});

test('a process of another container counts as running: it cannot be seen from here', () => {
  const [, boot, , start] = noteOfThisProcess().split(' ');
  assert.ok(isNotedProcessRunning(['999999999', boot, 'pid:[1]', start].join(' ')));
});
