/** JSON Patch with the habits of the real server. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '@rollcall/base/json.ts';
import { applyJsonPatch } from '@rollcall/base/patch/json-patch.ts';

const DOCUMENT = { a: { b: '1', 'c/d': '2' }, list: ['x', 'y'] };

function patched(patch: Json): Json {
  const outcome = applyJsonPatch(DOCUMENT, patch);
  return outcome.kind === 'patched' ? outcome.value : outcome.kind;
}

describe('applyJsonPatch', () => {
  const CASES: readonly (readonly [what: string, patch: Json, expected: Json])[] = [
    [
      'adds a member',
      [{ op: 'add', path: '/a/n', value: 1 }],
      { ...DOCUMENT, a: { ...DOCUMENT.a, n: 1 } },
    ],
    [
      'appends to a list',
      [{ op: 'add', path: '/list/-', value: 'z' }],
      { ...DOCUMENT, list: ['x', 'y', 'z'] },
    ],
    [
      'inserts into a list',
      [{ op: 'add', path: '/list/0', value: 'z' }],
      { ...DOCUMENT, list: ['z', 'x', 'y'] },
    ],
    ['unescapes pointers', [{ op: 'remove', path: '/a/c~1d' }], { ...DOCUMENT, a: { b: '1' } }],
    [
      'moves',
      [{ op: 'move', from: '/a/b', path: '/b' }],
      { a: { 'c/d': '2' }, list: ['x', 'y'], b: '1' },
    ],
    [
      'copies',
      [{ op: 'copy', from: '/a/b', path: '/list/1' }],
      { ...DOCUMENT, list: ['x', '1', 'y'] },
    ],
    [
      'adds what a replace does not find',
      [{ op: 'replace', path: '/a/n', value: 1 }],
      { ...DOCUMENT, a: { ...DOCUMENT.a, n: 1 } },
    ],
    ['adds null where no value is given', [{ op: 'add', path: '/n' }], { ...DOCUMENT, n: null }],
    ['replaces the whole document', [{ op: 'replace', path: '', value: { z: 1 } }], { z: 1 }],
    [
      'passes over what is before the first slash',
      [{ op: 'add', path: 'a/n', value: 1 }],
      { ...DOCUMENT, n: 1 },
    ],
    ['holds a test of nothing for null', [{ op: 'test', path: '/a/n', value: null }], DOCUMENT],
    [
      'is all or nothing',
      [
        { op: 'add', path: '/n', value: 1 },
        { op: 'remove', path: '/nope' },
      ],
      'inapplicable',
    ],
    ['fails a test', [{ op: 'test', path: '/a/b', value: '2' }], 'inapplicable'],
    ['finds no place in a missing parent', [{ op: 'add', path: '/x/y', value: 1 }], 'inapplicable'],
    ['finds no place behind a list', [{ op: 'add', path: '/list/3', value: 1 }], 'inapplicable'],
    ['finds no index in a word', [{ op: 'add', path: '/list/x', value: 1 }], 'inapplicable'],
    ['cannot copy what is missing', [{ op: 'copy', from: '/nope', path: '/n' }], 'inapplicable'],
    ['cannot move from nowhere', [{ op: 'move', path: '/n' }], 'inapplicable'],
    ['knows no other operation', [{ op: 'foo', path: '/n' }], 'inapplicable'],
    ['takes null for an operation that is not known', [null], 'inapplicable'],
    ['refuses what is no list', {}, 'malformed'],
    ['refuses an operation that is no object', [1], 'malformed'],
    ['refuses a path that is no text', [{ op: 'add', path: 5, value: 1 }], 'malformed'],
  ];
  for (const [what, patch, expected] of CASES) {
    it(what, () => {
      assert.deepEqual(patched(patch), expected);
      assert.deepEqual(DOCUMENT, { a: { b: '1', 'c/d': '2' }, list: ['x', 'y'] }, 'unchanged');
    });
  }

  it('warns of members that operations do not have', () => {
    const outcome = applyJsonPatch(DOCUMENT, [{ op: 'add', path: '/n', value: 1, zz: 1 }]);
    assert.deepEqual(outcome.kind === 'patched' ? outcome.warnings : [], [
      'json patch unknown field "[0].zz"',
    ]);
  });
});
