/** Texts that the API server keeps: made once while they are recent, and never more than there is room for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import { RecentTexts } from '../../../src/server/json-text.ts';

/** Asks for texts of ten characters; the objects of which one was made, in order. */
function ask(texts: RecentTexts, objects: readonly JsonObject[]): readonly JsonObject[] {
  const made: JsonObject[] = [];
  for (const object of objects) {
    texts.get(object, () => {
      made.push(object);
      return 'ten letter';
    });
  }
  return made;
}

const objects = (count: number): readonly JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({ index }));

test('a text is made once while there is room', () => {
  const texts = new RecentTexts(100);
  const few = objects(5);
  assert.deepEqual(ask(texts, few), few);
  assert.deepEqual(ask(texts, few), []);
});

test('what was not asked for lately is made anew, what is asked for again and again is not', () => {
  const texts = new RecentTexts(100);
  const [often = {}, once = {}, ...others] = objects(30);
  ask(texts, [often, once]);
  for (const other of others) {
    ask(texts, [other]);
    assert.deepEqual(ask(texts, [often]), []);
  }
  assert.deepEqual(ask(texts, [once]), [once]);
});

test('a text that is longer than there is room is told, and not kept', () => {
  const texts = new RecentTexts(10);
  const [long = {}] = objects(1);
  assert.deepEqual(ask(texts, [long, long]), [long, long]);
});
