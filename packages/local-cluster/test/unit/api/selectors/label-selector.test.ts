/** Label selectors: what they select, and what is none. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseLabelSelector } from '../../../../src/api/selectors/label-selector.ts';

const LABELS = { app: 'web', tier: 'back', count: '5', empty: '' };

function matches(text: string): boolean | string {
  const outcome = parseLabelSelector(text);
  return outcome.kind === 'selector' ? outcome.matches(LABELS) : 'malformed';
}

describe('parseLabelSelector', () => {
  const SELECTED = [
    '',
    ' ',
    'app',
    'app=web',
    'app==web',
    ' app = web , tier = back ',
    'app!=cache',
    'missing!=x',
    '!missing',
    'app in (web,cache)',
    'app in ( web )',
    'app notin (cache)',
    'missing notin (cache)',
    'empty=',
    'empty in (,x)',
    'app=web,!missing,tier notin (front)',
  ];
  for (const text of SELECTED) {
    it(`selects by '${text}'`, () => {
      assert.equal(matches(text), true);
    });
  }

  const NOT_SELECTED = [
    'missing',
    'missing=',
    'app=cache',
    'app!=web',
    '!app',
    'app notin (web)',
    'app in (cache)',
    'missing in (x)',
    'app=web,tier=front',
  ];
  for (const text of NOT_SELECTED) {
    it(`does not select by '${text}'`, () => {
      assert.equal(matches(text), false);
    });
  }

  const MALFORMED = [
    'a b',
    'a in',
    'a in (b',
    'a in b',
    ',',
    'a,',
    '(',
    '!a=b',
    'a===b',
    'a!',
    'a>b',
    'a>1',
    '-a',
    'a=-',
    'a exists',
    'x/y/z=1',
    'a=b c',
  ];
  for (const text of MALFORMED) {
    it(`refuses '${text}'`, () => {
      assert.equal(matches(text), 'malformed');
    });
  }
});
