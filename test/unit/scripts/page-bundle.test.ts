/** The bundle of the page: nothing inline, nothing from elsewhere, and within its budget. */
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { PAGE_GZIPPED_BYTES_MAX, bundlePage } from '../../../scripts/build/page-bundle.ts';

describe('the bundle of the page', () => {
  let files: ReadonlyMap<string, Uint8Array>;
  before(async () => {
    files = await bundlePage();
  });

  const textOf = (name: string): string => {
    const file = files.get(name);
    assert.ok(file, `no ${name}`);
    return new TextDecoder().decode(file);
  };

  it('is four files', () => {
    assert.deepEqual([...files.keys()].sort(), ['icon.svg', 'index.html', 'page.css', 'page.js']);
  });

  it('is within its budget, gzipped', () => {
    const sizes = [...files.values()].map((body) => gzipSync(body).length);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    assert.ok(bytes <= PAGE_GZIPPED_BYTES_MAX, `${String(bytes)} bytes`);
  });

  it('has no inline script and no inline style in its document', () => {
    const html = textOf('index.html');
    assert.doesNotMatch(html, /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=/);
  });

  it('loads nothing from elsewhere', () => {
    const named = /(?:src|href)="(?!\/(?!\/))|url\((?!data:)|@import/;
    for (const name of ['index.html', 'page.css']) assert.doesNotMatch(textOf(name), named);
    const hosts = [...textOf('page.js').matchAll(/https?:\/\/([^/"'`\s]+)/g)].map(([, at]) => at);
    assert.deepEqual(new Set(hosts), new Set(['www.w3.org']), 'names of XML namespaces alone');
  });
});
