/** Two registrations with one EKS name: whose tokens open each other (issue 40, item 10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eksNamesakes, namesakeWarning } from '../../../../src/app/clusters/eks-namesakes.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';

const eks = (id: string, clusterName: string, region = 'eu-west-1') =>
  ({ id: clusterId(id), authentication: { kind: 'eks', clusterName, region } }) as const;
const other = { id: clusterId('bare'), authentication: { kind: 'none' } } as const;

describe('registrations with one EKS name', () => {
  it('are told, whatever their regions are, and nobody else is', () => {
    const west = eks('west', 'prod');
    const all = [west, eks('east', 'prod', 'us-east-1'), eks('test', 'test'), other];
    assert.deepEqual(eksNamesakes(west, all), ['east']);
    assert.match(namesakeWarning(west, eksNamesakes(west, all)) ?? '', /east as prod too/);
  });

  it('are none of a cluster that EKS does not name, or that has its name alone', () => {
    assert.deepEqual(eksNamesakes(other, [eks('west', 'prod')]), []);
    const test = eks('test', 'test');
    assert.equal(namesakeWarning(test, eksNamesakes(test, [test, eks('west', 'prod')])), undefined);
  });
});
