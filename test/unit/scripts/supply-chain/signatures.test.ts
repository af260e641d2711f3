// Registry signatures: right ones hold; wrong, missing and foreign ones are found (spec faults row 70).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import {
  NPM_KEYS,
  checkSignatures,
  findSignatureFault,
} from '../../../../scripts/supply-chain/signatures.ts';
import type { Signature, SignedArchive } from '../../../../scripts/supply-chain/signatures.ts';
import { judgeAudit } from '../../../../scripts/supply-chain/vulnerabilities.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const spkiBase64 = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const keys = [{ keyid: 'SHA256:test', spkiBase64 }];
const archive: SignedArchive = { name: '@scope/one', version: '1.0.0', integrity: 'sha512-AAAA' };

function signed({ name, version, integrity }: SignedArchive): Signature {
  const message = Buffer.from(`${name}@${version}:${integrity}`);
  return { keyid: 'SHA256:test', sig: sign('sha256', message, privateKey).toString('base64') };
}

test('row 70: a signature over name, version and the locked hash holds', async () => {
  assert.equal(findSignatureFault(archive, [signed(archive)], keys), undefined);
  const judgement = await checkSignatures({
    archives: [archive],
    read: (each) => Promise.resolve([signed(each)]),
    keys,
  });
  assert.equal(judgement.kind, 'held');
});

test('row 70: a signature of another archive, of another key, or none is found', () => {
  const other = signed({ ...archive, integrity: 'sha512-BBBB' });
  assert.match(findSignatureFault(archive, [other], keys) ?? '', /wrong for this archive/);
  assert.match(findSignatureFault(archive, [signed(archive)], NPM_KEYS) ?? '', /not known/);
  assert.match(findSignatureFault(archive, [], keys) ?? '', /not signed/);
});

test('row 70: one unsigned archive among signed ones is found', async () => {
  const bare = { ...archive, name: 'bare' };
  const judgement = await checkSignatures({
    archives: [archive, bare],
    read: (each) => Promise.resolve(each === bare ? [] : [signed(each)]),
    keys,
  });
  assert.deepEqual(judgement, { kind: 'broken', findings: ['bare@1.0.0: not signed'] });
});

test('a registry that serves no signatures, or no answer, leaves it unknown, never held', async () => {
  for (const answer of [[], undefined]) {
    const read = () => Promise.resolve(answer);
    assert.equal((await checkSignatures({ archives: [archive], read, keys })).kind, 'unknown');
  }
});

test('row 70: an archive without an answer leaves it unknown, and hides no finding beside it', async () => {
  const silent = { ...archive, name: 'silent' };
  const bare = { ...archive, name: 'bare' };
  const read = (each: SignedArchive) =>
    Promise.resolve(each === silent ? undefined : each === bare ? [] : [signed(each)]);
  const judgement = await checkSignatures({ archives: [archive, silent], read, keys });
  assert.deepEqual(judgement, { kind: 'unknown', reason: 'no answer for silent@1.0.0' });
  const worse = await checkSignatures({ archives: [archive, silent, bare], read, keys });
  assert.deepEqual(worse, { kind: 'broken', findings: ['bare@1.0.0: not signed'] });
});

test('row 70: moderate vulnerabilities and above are found; no answer leaves it unknown', () => {
  const report = (severity: string): string =>
    JSON.stringify({ vulnerabilities: { one: { severity, range: '<2' } } });
  assert.equal(judgeAudit(report('low')).kind, 'held');
  assert.deepEqual(judgeAudit(report('moderate')), {
    kind: 'broken',
    findings: ['one <2: moderate'],
  });
  assert.equal(judgeAudit('{"error":{"summary":"no"}}').kind, 'unknown');
  assert.equal(judgeAudit('not JSON').kind, 'unknown');
});
