// What Events say of content: names, never a hash of one and never content (ADR 0061).
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tellConfig } from '../../../../src/core/config/config-events.ts';
import type { ConfigLook } from '../../../../src/core/config/look-at-config.ts';
import { pod, view } from '../../../support/core-fixtures.ts';

const SETTINGS = { kind: 'ConfigMap', name: 'settings' } as const;
const TOKEN = { kind: 'Secret', name: 'token' } as const;

function look(changes: Partial<ConfigLook> = {}): ConfigLook {
  return {
    rollout: undefined,
    config: undefined,
    revision: 'new+abc',
    changed: [],
    problems: [],
    state: 'known',
    leftOutCount: 0,
    ...changes,
  };
}

describe('tellConfig', () => {
  it('tells nothing while nothing changed and nothing is wrong', () => {
    assert.deepEqual(tellConfig(look(), view()), []);
    assert.deepEqual(tellConfig(look({ state: 'unknown' }), view()), []);
    assert.deepEqual(tellConfig(look({ state: 'off' }), view()), []);
  });

  it('tells that changed content is staged', () => {
    assert.deepEqual(tellConfig(look({ changed: [SETTINGS, TOKEN] }), view()), [
      {
        type: 'Normal',
        reason: 'ConfigChanged',
        message:
          'The content of ConfigMap settings, Secret token changed: pods get it step by step, as revision new+abc',
      },
    ]);
  });

  it('tells where it is not how many pods began with what was before', () => {
    const pods = [pod('a'), pod('b')];
    assert.deepEqual(tellConfig(look({ changed: [SETTINGS], revision: 'new' }), view({ pods })), [
      {
        type: 'Normal',
        reason: 'ConfigChanged',
        message:
          'The content of ConfigMap settings changed since 2 pods began; nothing restarts them, and those that are made from now on have it',
      },
    ]);
  });

  it('tells what is wrong in one standing warning', () => {
    const problems = [
      { ...SETTINGS, problem: 'missing' },
      { ...TOKEN, problem: 'forbidden' },
      { kind: 'Secret', name: 'late', problem: 'unread' },
    ] as const;
    const [event, ...others] = tellConfig(
      look({ state: 'no-key', problems, leftOutCount: 3 }),
      view(),
    );
    assert.deepEqual(others, []);
    assert.deepEqual(event, {
      type: 'Warning',
      reason: 'ConfigUnknown',
      isStanding: true,
      message:
        'The policy has content in the revision (config), but the cluster has no Secret rollcall-config-key that can be read; ' +
        'ConfigMap settings is missing, Secret token may not be read by the watcher, Secret late could not be read for a while; ' +
        'the content known last counts; 3 objects are beyond the bound of 32',
    });
  });

  it('tells each trouble without the others', () => {
    const but = 'The policy has content in the revision (config), but ';
    const messages = (changes: Partial<ConfigLook>): readonly string[] =>
      tellConfig(look(changes), view()).map(({ message }) => message);
    assert.deepEqual(messages({ state: 'no-key' }), [
      `${but}the cluster has no Secret rollcall-config-key that can be read`,
    ]);
    assert.deepEqual(messages({ problems: [{ ...TOKEN, problem: 'missing' }] }), [
      `${but}Secret token is missing; the content known last counts`,
    ]);
    assert.deepEqual(messages({ leftOutCount: 1 }), [`${but}1 object is beyond the bound of 32`]);
  });

  it('names eight problems, and counts the others', () => {
    const problems = Array.from({ length: 10 }, (_, index) => ({
      kind: 'ConfigMap' as const,
      name: `m${String(index)}`,
      problem: 'missing' as const,
    }));
    const [event] = tellConfig(look({ problems }), view());
    assert.match(event?.message ?? '', /ConfigMap m7 is missing and 2 more; the content/);
    const [eight] = tellConfig(look({ problems: problems.slice(0, 8) }), view());
    assert.match(eight?.message ?? '', /ConfigMap m7 is missing; the content/);
  });

  it('tells a change before what is wrong', () => {
    const told = tellConfig(look({ changed: [SETTINGS], leftOutCount: 2 }), view());
    assert.deepEqual(
      told.map(({ reason }) => reason),
      ['ConfigChanged', 'ConfigUnknown'],
    );
  });
});
