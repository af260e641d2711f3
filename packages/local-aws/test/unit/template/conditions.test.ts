/** Conditions of a template, as the local engine decides them: what CloudFormation would make, or an error. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide, decideResources, holds } from '../../../src/template/conditions.ts';

const conditions = {
  Empty: { 'Fn::Equals': ['', ''] },
  Given: { 'Fn::Not': [{ 'Fn::Equals': ['o-1', ''] }] },
  AlsoEmpty: { Condition: 'Empty' },
};
const noValue = { Ref: 'AWS::NoValue' };

describe('conditions of a template', () => {
  it('hold by comparison, negation and name', () => {
    const held = Object.keys(conditions).map((name) => holds(name, conditions));
    assert.deepEqual(held, [true, true, true]);
    assert.equal(
      holds('Not', { ...conditions, Not: { 'Fn::Not': [{ Condition: 'Given' }] } }),
      false,
    );
  });

  it('choose a branch, and never look into the other one', () => {
    const unknown = { 'Fn::If': ['Nobody', 1, 2] };
    assert.equal(decide({ 'Fn::If': ['Given', 1, unknown] }, conditions), 1);
    assert.deepEqual(decide([{ 'Fn::If': ['Given', noValue, 1] }, 2], conditions), [2]);
    assert.deepEqual(decide({ a: { 'Fn::If': ['Empty', noValue, 1] }, b: [noValue] }, conditions), {
      b: [],
    });
  });

  it('leave a resource out whose condition does not hold', () => {
    const resources = {
      There: { Type: 'T', Condition: 'Given' },
      Away: { Type: 'T', Condition: 'Reverse' },
      Always: { Type: 'T', Properties: { Policy: { 'Fn::If': ['Given', 'yes', 'no'] } } },
    };
    const reversed = { ...conditions, Reverse: { 'Fn::Not': [{ Condition: 'Given' }] } };
    assert.deepEqual(decideResources(resources, reversed), {
      There: { Type: 'T', Condition: 'Given' },
      Always: { Type: 'T', Properties: { Policy: 'yes' } },
    });
  });

  it('are errors where they are not known', () => {
    const refused = [
      { 'Fn::Or': [] },
      { 'Fn::Equals': ['a'] },
      { 'Fn::Equals': [{ Ref: 'X' }, ''] },
      { 'Fn::Not': [] },
      'text',
      null,
    ];
    for (const expression of refused) {
      assert.throws(() => holds('C', { C: expression }), /not known/, JSON.stringify(expression));
    }
    assert.throws(() => holds('Nobody', conditions), /Nobody/);
    assert.throws(() => decide({ 'Fn::If': ['Given', 1] }, conditions), /Fn::If/);
  });
});
