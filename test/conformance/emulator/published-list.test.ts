/**
 * docs/emulator.md says what is compared: its lists are those of the code, and the list of allowed differences is one.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { repositoryPath } from '../scenarios/repository.ts';
import { readAllowed } from './allowed.ts';
import { faultsOfList } from './differential.ts';
import { COLLECTIONS, VERBS } from './surface.ts';

const text = readFileSync(repositoryPath('docs/emulator.md'), 'utf8');

describe('docs/emulator.md', () => {
  it('names every compared resource', () => {
    assert.deepEqual(itemsAfter('Resources: '), COLLECTIONS.map((one) => one.plural).sort());
  });

  it('names every compared verb', () => {
    assert.deepEqual(itemsAfter('Verbs: '), Object.keys(VERBS).sort());
  });

  it('allows few differences, each with a reason, none of a status code', () => {
    assert.deepEqual(faultsOfList(readAllowed()), []);
  });
});

/** The `code` words of the paragraph that begins so. */
function itemsAfter(start: string): string[] {
  const paragraph = text.split('\n\n').find((one) => one.startsWith(start)) ?? '';
  return [...paragraph.matchAll(/`([^`]+)`/g)].map(([, item]) => item ?? '').sort();
}
