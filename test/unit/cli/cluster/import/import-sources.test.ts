/** Ids for clusters that come with names of their own. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  collisionsOf,
  eksOfName,
  globPattern,
  idForName,
} from '../../../../../src/cli/cluster/import/import-sources.ts';

describe('ids for names', () => {
  it('are what a person would choose', () => {
    const cases = {
      'arn:aws:eks:eu-west-1:111122223333:cluster/prod_1': 'prod_1',
      'gke_project_europe-west1_prod': 'gke_project_europe-west1_prod',
      'admin@prod.example.com': 'admin-prod.example.com',
      'default/api-prod-example-com:6443/admin': 'api-prod-example-com',
      'https://10.1.2.3:6443/': '10.1.2.3-6443',
      '--weird--': 'weird',
      '!!!': '',
    };
    for (const [name, id] of Object.entries(cases)) assert.equal(idForName(name), id);
  });

  it('are valid or empty, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (name) => {
        assert.match(idForName(name), /^(?:|[A-Za-z0-9][A-Za-z0-9._-]{0,99})$/);
      }),
    );
  });

  it('collide visibly', () => {
    const names = ['arn:aws:eks:eu-west-1:111122223333:cluster/p', 'a', 'p'];
    assert.deepEqual([...collisionsOf(names.map(idForName))], ['p']);
  });

  it('know EKS by its ARN', () => {
    const arn = 'arn:aws-cn:eks:cn-north-1:111122223333:cluster/p';
    assert.deepEqual(eksOfName(arn), { eks: 'p', eksRegion: 'cn-north-1' });
    assert.equal(eksOfName('p'), undefined);
  });
});

describe('a glob of names', () => {
  it('means * and ?, and nothing else', () => {
    assert.ok(globPattern('prod-*').test('prod-eu-1'));
    assert.ok(!globPattern('prod-*').test('my-prod-eu-1'));
    assert.ok(globPattern('a?c').test('abc'));
    assert.ok(!globPattern('a.c').test('abc'));
    assert.ok(globPattern('(x)[1]').test('(x)[1]'));
  });
});
