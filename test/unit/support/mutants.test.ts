/** Where a deliberate error is planted: found whatever the layout, in one declaration or at one path, or refused by its name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mutate } from '../../support/mutants.ts';
import type { Mutant } from '../../support/mutants.ts';

const CODE = `import { hold } from './hold.ts';
/** One. */
export const LIMIT_MS: number = 5_000;
export function first(items: string[]): string[] {
  return items.filter((one) => one !== 'a' && /[/]b/.test(\`\${one}}\`)); // done
}
class Keeper {
  keep(one: string): boolean {
    return hold({
      one,
      last: "a",
    });
  }
  drop(one: string): boolean {
    return hold({ one });
  }
}
`;

const YAML = `queues:
  Delay: &it
    Timeout: 60
    Dead: !GetAtt Letters.Arn
  Events:
    Timeout: 20
rights:
  - Sid: Poll
    Action:
      - read
      - delete
  - Sid: Send
    Action: [send]
`;

const inCode = (name: string, rest: Omit<Mutant, 'at'>): string =>
  mutate(CODE, { at: `a.ts#${name}`, ...rest });
const inYaml = (path: string, rest: Omit<Mutant, 'at'>): string =>
  mutate(YAML, { at: `a.yml#${path}`, ...rest });

describe('a mutant in code', () => {
  it('replaces the value of a constant', () => {
    assert.match(inCode('LIMIT_MS', { to: '1' }), /LIMIT_MS: number = 1;/);
  });

  it('finds code by its tokens: layout, quotes and trailing commas count for nothing', () => {
    const changed = inCode('Keeper.keep', { change: "hold({ one, last: 'a' })", to: 'true' });
    assert.match(changed, /keep\(one: string\): boolean \{\n {4}return true;/);
    assert.match(inCode('first', { change: "one!=='a'&&/[/]b/", to: '/b/' }), /=> \/b\/\.test/);
  });

  it('finds a part of a text, and takes out with its comma what becomes nothing', () => {
    assert.match(inCode('first', { change: '[/]', to: '' }), /\/b\/\.test/);
    assert.match(inCode('Keeper.keep', { change: 'one,', to: '' }), /\{\s+last: "a",/);
    assert.match(inCode('Keeper.keep', { change: 'one, last', to: 'last' }), /\{\s+last: "a",/);
  });

  it('is refused where it stands twice, nowhere, or in a declaration that is gone', () => {
    assert.throws(
      () => inCode('Keeper', { change: 'one: string', to: '' }),
      /#Keeper holds 2 times/,
    );
    assert.throws(() => inCode('first', { change: 'hold', to: '' }), /a\.ts#first holds 0 times/);
    assert.throws(() => inCode('second', { change: 'one', to: '' }), /a\.ts#second declares no/);
  });
});

describe('a mutant in YAML', () => {
  it('replaces the one value that a path leads to, however many steps it leaves out', () => {
    assert.match(inYaml('Events > Timeout', { to: '200' }), /Events:\n {4}Timeout: 200\nrights/);
    assert.match(inYaml('Dead', { to: '!GetAtt Delay.Arn' }), /Dead: !GetAtt Delay\.Arn\n/);
    assert.match(inYaml('Sid=Send > =send', { to: 'send, read' }), /\[send, read\]/);
  });

  it('changes code in it, or takes it out with its line', () => {
    assert.match(
      inYaml('Sid=Poll > Action', { change: '- read - delete', to: '- read' }),
      /- read\n {2}-/,
    );
    assert.equal(inYaml('Sid=Poll > =delete', { to: '' }), YAML.replace('      - delete\n', ''));
  });

  it('is refused where a path leads to two places, or to none', () => {
    assert.throws(() => inYaml('Timeout', { to: '1' }), /a\.yml#Timeout holds 2 times/);
    assert.throws(() => inYaml('Alarm', { to: '1' }), /a\.yml#Alarm holds 0 times/);
  });
});
