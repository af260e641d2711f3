/** A template evaluated with its parameters: what is known becomes a value, what only the account knows stays an expression. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Expression, TextParts, evaluateTemplate } from '../../../src/template/evaluate.ts';

const SOURCE = `
Parameters:
  Name: {Type: String}
  Size: {Type: String, Default: small}
Conditions:
  IsLarge: {'Fn::Equals': [{Ref: Size}, large]}
  IsNamed: {'Fn::Not': [{'Fn::Equals': [{Ref: Name}, '']}]}
  Both: {'Fn::And': [{Condition: IsLarge}, {Condition: IsNamed}]}
Resources:
  Box:
    Type: Test::Box
    Properties:
      Name: {Ref: Name}
      Lid: {'Fn::If': [IsLarge, heavy, {Ref: 'AWS::NoValue'}]}
      Id: {'Fn::GetAtt': [Box, Arn]}
      Path: {'Fn::Sub': '/\${Name}/\${AWS::Region}'}
      Policy: {'Fn::Sub': '{"for \${Name}": ["\${Size}"]}'}
  Crane: {Type: Test::Crane, Condition: Both, Properties: {}}
Outputs:
  Lid: {Condition: IsLarge, Value: heavy}
`;

function propertiesOf(parameters: Readonly<Record<string, string>>): unknown {
  return evaluateTemplate(SOURCE, parameters).resources[0]?.properties;
}

describe('a template with its parameters', () => {
  it('has values, expressions where only the account knows, and no member without a value', () => {
    assert.deepEqual(propertiesOf({ Name: 'box' }), {
      Name: 'box',
      Id: new Expression('Box', 'Arn'),
      Path: new TextParts(['/box/', new Expression('AWS', 'Region')]),
      Policy: { 'for box': ['small'] },
    });
  });

  it('has the resources and outputs whose conditions hold', () => {
    const small = evaluateTemplate(SOURCE, { Name: 'box' });
    const large = evaluateTemplate(SOURCE, { Name: 'box', Size: 'large' });
    const nameless = evaluateTemplate(SOURCE, { Name: '', Size: 'large' });
    assert.deepEqual(
      [small, large, nameless].map(({ resources }) => resources.map(({ id }) => id)),
      [['Box'], ['Box', 'Crane'], ['Box']],
    );
    assert.deepEqual([small.outputs, large.outputs], [{}, { Lid: 'heavy' }]);
  });

  for (const [what, broken, says] of [
    ['a parameter without a value', SOURCE, /needs a value for Name/],
    [
      'a reference to nothing',
      SOURCE.replace('{Ref: Name}\n', '{Ref: Nobody}\n'),
      /refers to Nobody/,
    ],
    ['a form that is not known', SOURCE.replace('Fn::GetAtt', 'Fn::Split'), /uses Fn::Split/],
    [
      'a condition that nobody declares',
      SOURCE.replace('Condition: Both', 'Condition: No'),
      /declares the condition No/,
    ],
    ['a condition of an unknown form', SOURCE.replace('Fn::And', 'Fn::Or'), /not known.*Fn::Or/],
  ] as const) {
    it(`throws for ${what}`, () => {
      const parameters = { Size: 'large', ...(broken === SOURCE ? {} : { Name: 'box' }) };
      assert.throws(() => evaluateTemplate(broken, parameters), says);
    });
  }
});
