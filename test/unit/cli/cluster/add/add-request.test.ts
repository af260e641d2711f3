/** Requests to add a cluster: one closed schema, contradictions told before anything is done. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  requestFields,
  parseAddRequest,
  requireRoleSource,
} from '../../../../../src/cli/cluster/add/add-request.ts';
import { CommandError, EXIT } from '../../../../../src/cli/process/exit-codes.ts';

const GIVEN = { senderRoleId: 'AROA1', watcherRoleArn: 'arn:aws:iam::111122223333:role/w' };

function refusal(candidate: unknown, expected: RegExp): void {
  assert.throws(
    () => parseAddRequest(candidate),
    (error) =>
      error instanceof CommandError &&
      error.exitCode === EXIT.usage &&
      expected.test(`${error.message} ${error.remedy}`),
  );
}

describe('a request to add a cluster', () => {
  it('asks for observe with web identity, and for irsa on EKS, unless it says otherwise', () => {
    const plain = parseAddRequest({ id: 'a' });
    assert.equal(plain.auth, 'none');
    assert.equal(plain.credentials, 'web-identity');
    assert.equal(parseAddRequest({ id: 'a', eks: 'prod' }).credentials, 'irsa');
  });

  it('asks for observe unless it says copilot, which needs a way in; takeover has its probe', () => {
    assert.equal(parseAddRequest({ id: 'a' }).mode, 'observe');
    const request = { id: 'a', eks: 'prod', auth: 'eks', mode: 'copilot' };
    assert.equal(parseAddRequest(request).mode, 'copilot');
    refusal({ id: 'a', mode: 'copilot' }, /--mode copilot needs a way in/);
    refusal({ ...request, mode: 'takeover' }, /--mode/);
  });

  it('has no field for a credential, and repeats no value that it refuses (S11, S12)', () => {
    for (const field of ['token', 'authentication', 'keyPem', 'command', 'proxy']) {
      refusal({ id: 'a', [field]: 'sesame' }, /not known/);
    }
    for (const candidate of [
      { id: 'a b sesame' },
      { id: 'a', labels: { 'se same': '1' } },
      { id: 'a', privateRanges: ['8.8.8.0/24'] },
      { id: 'a', eks: 'x', eksRegion: 'sesame.example' },
      { id: 'a', auth: 'sesame' },
    ]) {
      assert.throws(
        () => parseAddRequest(candidate),
        (error) => error instanceof CommandError && !error.message.includes('sesame'),
      );
    }
  });

  it('names the option that cannot be used', () => {
    refusal({ id: 'a', privateRanges: ['8.8.8.0/24'] }, /--private-range: is no private range/);
    refusal({ id: 'a', senderRoleId: 'a/b' }, /--sender-role-id: is no unique id/);
  });

  it('names all that cannot be used at once, with what is missing', () => {
    const needs = { roles: true, image: true };
    const messages = (candidate: object): readonly string[] => {
      try {
        parseAddRequest({ id: 'a', ...candidate }, needs);
      } catch (error) {
        assert.ok(error instanceof CommandError);
        return error.problems.map(({ message }) => message);
      }
      return [];
    };
    const missing = [
      'The watcher needs a role in the account where the cluster is.',
      'Nothing can be applied without the image of the watcher.',
    ];
    assert.deepEqual(messages({ image: 'i', sameAccount: true }), []);
    assert.deepEqual(messages({}), missing);
    assert.deepEqual(messages({ auth: 'bearer', privateRanges: ['8.8.8.0/24'], token: 'x' }), [
      '--auth: must be one of none, eks, bound-token.',
      '--private-range: is no private range in CIDR notation.',
      'The request has a field that is not known.',
      ...missing,
    ]);
    assert.deepEqual(messages({ auth: 'eks', credentials: 'static', sameAccount: true }), [
      '--auth eks needs --eks.',
      '--credentials static makes no role.',
      'Nothing can be applied without the image of the watcher.',
    ]);
  });

  it('tells what contradicts itself', () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ auth: 'eks' }, /--auth eks needs --eks/],
      [{ credentials: 'pod-identity' }, /is for EKS/],
      [{ eksRegion: 'eu-west-1' }, /--eks-region needs --eks/],
      [{ server: 'https://a.example' }, /--cluster-uid/],
      [{ clusterUid: 'u' }, /needs either --server or --eks/],
      [{ clusterUid: 'u', server: 'https://a.example', kubeconfig: 'f' }, /exclude each other/],
      [{ clusterProfile: 'p', sameAccount: true }, /exclude each other/],
      [{ credentials: 'static' }, /--sender-role-id/],
      [{ senderRoleId: 'AROA1' }, /--watcher-role-arn/],
      [{ ...GIVEN, renewerRoleId: 'AROA2' }, /--auth bound-token/],
      [{ ...GIVEN, auth: 'bound-token' }, /needs a role for the token renewer/],
      [
        { ...GIVEN, auth: 'bound-token', renewerRoleId: 'AROA1', renewerRoleArn: 'arn:r' },
        /must not share a role/,
      ],
      [{ auth: 'bound-token', renewerRoleArn: 'arn:r' }, /that of the watcher is not/],
    ];
    for (const [fields, expected] of cases) refusal({ id: 'a', ...fields }, expected);
  });

  it('says where a role could come from when nothing does', () => {
    assert.throws(() => {
      requireRoleSource(parseAddRequest({ id: 'a' }));
    }, /needs a role/);
    for (const fields of [GIVEN, { clusterProfile: 'p' }, { sameAccount: true }]) {
      requireRoleSource(parseAddRequest({ id: 'a', ...fields }));
    }
  });

  it('takes the options of the command line that are its own', () => {
    const options = { label: ['a=b', 'c='], privateRange: ['10.0.0.0/8'], dryRun: true, eks: 'e' };
    assert.deepEqual(requestFields(options, { ROLLCALL_WATCHER_IMAGE: 'i' }), {
      image: 'i',
      eks: 'e',
      labels: { a: 'b', c: '' },
      privateRanges: ['10.0.0.0/8'],
    });
    assert.throws(() => requestFields({ label: ['a'] }, {}), /key=value/);
  });
});
