/** The launcher's question "is what the lockfile names installed?", on small made-up trees. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { reasonToInstall } from '../../../scripts/lib/install.mjs';

describe('reasonToInstall', () => {
  let root = '';

  const write = (name: string, content: unknown): void => {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(content));
  };
  const writeLocks = (wanted: object, installed: object): void => {
    write('package-lock.json', { packages: { '': {}, ...wanted } });
    write('node_modules/.package-lock.json', { packages: installed });
  };

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'rollcall-install-'));
    write('node_modules/node/bin/node', '');
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  it('installs when there is nothing, or when an install was cut short', () => {
    write('package-lock.json', { packages: {} });
    assert.equal(reasonToInstall(root), 'nothing is installed');
  });

  it('installs when the Node binary is missing, as after an install without scripts', () => {
    writeLocks({}, {});
    rmSync(path.join(root, 'node_modules/node'), { recursive: true });
    assert.equal(reasonToInstall(root), 'the Node binary is missing');
  });

  it('leaves an installation alone that equals the lockfile, whatever the times of the files', () => {
    const packages = { 'node_modules/a': { version: '1.0.0' } };
    writeLocks(packages, packages);
    assert.equal(reasonToInstall(root), undefined);
  });

  it('installs when a version differs or a package is missing', () => {
    const wanted = { 'node_modules/a': { version: '2.0.0' } };
    writeLocks(wanted, { 'node_modules/a': { version: '1.0.0' } });
    assert.equal(reasonToInstall(root), 'node_modules/a is not 2.0.0');
    writeLocks(wanted, {});
    assert.equal(reasonToInstall(root), 'node_modules/a is not 2.0.0');
  });

  it('does not miss optional packages of other platforms', () => {
    writeLocks({ 'node_modules/for-other-platform': { version: '1.0.0', optional: true } }, {});
    assert.equal(reasonToInstall(root), undefined);
  });
});
