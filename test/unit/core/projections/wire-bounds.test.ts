/** What a message's reader takes, so that one object cannot cost a cluster its view (protocol 22, L4). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { Taint } from '@rollcall/base/objects.ts';
import * as fields from '../../../../src/core/projections/raw-fields.ts';
import { raiseFault } from '../../../../src/watcher/project/project-object.ts';
import {
  isNamespace,
  isObjectName,
  isDaemonSet,
  isLabels,
  areTaints,
  isToken,
} from '../../../../src/core/projections/wire-bounds.ts';

type Read<T> = (raw: JsonObject, field: string) => T;

function faulting<T>(
  read: (raw: JsonObject, field: string, onFault: fields.OnFault) => T,
): Read<T> {
  return (raw, field) => read(raw, field, raiseFault);
}

const readInteger = faulting(fields.readInteger);
const readObject = faulting(fields.readObject);
const readObjects = faulting(fields.readObjects);
const readText = faulting(fields.readText);
const readTexts = faulting(fields.readTexts);
const readTimeMs = faulting(fields.readTimeMs);
const requireText = faulting(fields.requireText);

function labelsOf(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
}

describe('names that a message takes', () => {
  it('are as long as Kubernetes allows, and no longer', () => {
    assert.deepEqual(
      [253, 254].map((length) => isObjectName('a'.repeat(length))),
      [true, false],
    );
    assert.deepEqual(
      [63, 64].map((length) => isNamespace('a'.repeat(length))),
      [true, false],
    );
    assert.deepEqual(
      [128, 129].map((length) => isToken('A'.repeat(length))),
      [true, false],
    );
  });

  it('hold nothing else before, between or after', () => {
    for (const isName of [isObjectName, isNamespace, isToken]) {
      assert.deepEqual(
        ['a-1', '', ' a', 'a b', 'a\n', 'a/b'].map((text) => isName(text)),
        [true, false, false, false, false, false],
      );
    }
    assert.deepEqual(
      [isObjectName('a.b'), isNamespace('a.b'), isObjectName('-a')],
      [true, false, false],
    );
  });
});

describe('labels that a message takes', () => {
  it('are a thousand, of keys and values as long as Kubernetes allows', () => {
    assert.equal(isLabels(labelsOf(1000)), true);
    assert.equal(isLabels(labelsOf(1001)), false);
    assert.equal(isLabels({ ['k'.repeat(317)]: 'v'.repeat(63) }), true);
    assert.equal(isLabels({ ['k'.repeat(318)]: '' }), false);
    assert.equal(isLabels({ k: 'v'.repeat(64) }), false);
  });

  it('have no key that is none, and no text that is not printed', () => {
    const polluting = JSON.parse('{"__proto__": "v"}') as Record<string, string>;
    for (const labels of [
      { '': 'v' },
      { 'a b': 'v' },
      { a: 'v v' },
      { a: ' v' },
      { a: 'é' },
      polluting,
    ]) {
      assert.equal(isLabels(labels), false, JSON.stringify(labels));
    }
    assert.equal(isLabels({ 'a.b/c': '' }), true);
  });
});

describe('taints that a message takes', () => {
  const taint: Taint = { key: 'k', value: 'v', effect: 'NoExecute' };
  const withOne = (change: object): boolean => areTaints([taint, { ...taint, ...change }]);

  it('are a thousand', () => {
    assert.equal(areTaints(Array.from({ length: 1000 }, () => taint)), true);
    assert.equal(areTaints(Array.from({ length: 1001 }, () => taint)), false);
  });

  it('have keys, values and effects of printed text within bounds, each of them', () => {
    for (const good of [
      { key: '' },
      { value: '' },
      { key: 'k'.repeat(317) },
      { effect: 'A'.repeat(63) },
    ]) {
      assert.equal(withOne(good), true, JSON.stringify(good));
    }
    for (const bad of [
      { key: 'k'.repeat(318) },
      { key: ' k' },
      { key: 'k ' },
      { value: 'v'.repeat(64) },
      { value: ' v' },
      { effect: '' },
      { effect: 'No Execute' },
      { effect: '1NoExecute' },
      { effect: 'NoExecute1' },
      { effect: 'A'.repeat(64) },
    ]) {
      assert.equal(withOne(bad), false, JSON.stringify(bad));
    }
  });
});

describe('a DaemonSet that a message takes', () => {
  const nested = (depth: number): object =>
    Array.from({ length: depth }).reduce<object>((inner) => ({ inner }), {});
  const withTemplate = (template: unknown): boolean => isDaemonSet({ spec: { template } });

  it('has a template that is an object', () => {
    assert.equal(withTemplate({}), true);
    for (const template of [undefined, null, 'x', []]) assert.equal(withTemplate(template), false);
    assert.equal(isDaemonSet({}), false);
  });

  it('is nested 59 deep at most', () => {
    assert.equal(withTemplate(nested(57)), true);
    assert.equal(withTemplate(nested(58)), false);
  });

  it('has no key that is none, however deep', () => {
    assert.equal(withTemplate(JSON.parse('{"a": [{"__proto__": {}}]}')), false);
  });
});

describe('a field that is not as documented', () => {
  it('is named, and what is wrong with it', () => {
    const raw = { text: 'x', list: [{}], number: 7, fraction: 0.5, empty: '', mixed: { a: 1 } };
    const complaints: readonly [() => unknown, string][] = [
      [() => readObject(raw, 'text'), 'text is not an object'],
      [() => readObjects(raw, 'text'), 'text is not a list of objects'],
      [() => readObjects({ list: [{}, 1] }, 'list'), 'list is not a list of objects'],
      [() => readText(raw, 'number'), 'number is not text'],
      [() => requireText(raw, 'empty'), 'empty is missing'],
      [() => requireText(raw, 'absent'), 'absent is missing'],
      [() => readInteger(raw, 'fraction'), 'fraction is not a whole number'],
      [() => readTexts(raw, 'mixed'), 'mixed is not all text'],
      [() => readTimeMs(raw, 'text'), 'text is not a time'],
    ];
    for (const [read, message] of complaints) {
      assert.throws(read, { name: 'UnexpectedFieldError', message });
    }
  });

  it('is another thing than one that is absent, or null', () => {
    for (const raw of [{}, { field: null }]) {
      assert.deepEqual(
        [readObject, readObjects, readTexts].map((read) => read(raw, 'field')),
        [{}, [], {}],
      );
      for (const read of [readText, readInteger, readTimeMs]) {
        assert.equal(read(raw, 'field'), undefined);
      }
    }
  });
});
