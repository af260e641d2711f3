/** A release, without its end: `.ci/release` makes all that is published, and every form of it names one image. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import packageJson from '../../package.json' with { type: 'json' };
import { repositoryRoot, runTool } from '../../scripts/lib/run-tool.ts';
import type { ToolResult } from '../../scripts/lib/run-tool.ts';
import { ensureHelm, LEAST_VALUES, openHelm } from '../conformance/chart/helm.ts';
import type { Helm } from '../conformance/chart/helm.ts';
import { skipWithoutTools, TOOLS } from '../support/require-tool.ts';

const { version } = packageJson;
const IMAGE = `registry.example.com/rollcall-watcher:v${version}`;

describe('.ci/release', { skip: skipWithoutTools([TOOLS.go, TOOLS.apt]) }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-release-'));
  const folder = path.join(directory, 'release');
  let helm: Helm;

  const make = async (tag: string): Promise<ToolResult> =>
    runTool({
      program: path.join(repositoryRoot, '.ci/release'),
      parameters: [folder, tag],
      directory,
      environment: { ...process.env, HELM: await ensureHelm(), ROLLCALL_RELEASE_IMAGE: IMAGE },
    });
  const unpacked = async (file: string, member: string): Promise<string> => {
    const parameters = ['-xzOf', path.join(folder, file), member];
    return (await runTool({ program: 'tar', parameters, directory })).stdout;
  };

  before(async () => {
    helm = await openHelm();
    const { exitCode, stdout, stderr } = await make(`v${version}`);
    assert.equal(exitCode, 0, `${stdout}${stderr}`);
  });
  after(() => {
    helm.remove();
    rmSync(directory, { recursive: true });
  });

  it('makes the image, the packages, the chart and their sums', () => {
    const found = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)));
    const files = [
      `chart/rollcall-${version}.tgz`,
      `packages/rollcall-${version}.tgz`,
      `packages/rollcall-local-aws-${version}.tgz`,
      `packages/rollcall-local-cluster-${version}.tgz`,
    ];
    const isOfImage = (file: string): boolean => file.startsWith('image');
    assert.deepEqual(found.filter((file) => !isOfImage(file)).toSorted(), ['SHA256SUMS', ...files]);
    const image = ['image/index.json', 'image.amd64.cdx.json', 'image.provenance.json'];
    for (const file of image) assert.ok(found.includes(file), file);
    const sums = readFileSync(path.join(folder, 'SHA256SUMS'), 'utf8');
    for (const file of found.filter((one) => one !== 'SHA256SUMS')) {
      assert.ok(sums.includes(`  ${file}\n`), file);
    }
  });

  it('names the image that it built in the command’s files and in the chart, by its digest', async () => {
    const index = readFileSync(path.join(folder, 'image/index.json'), 'utf8');
    const { manifests } = JSON.parse(index) as {
      readonly manifests: readonly [{ digest: string }];
    };
    const released = `${IMAGE}@${manifests[0].digest}`;
    const deployment = 'package/infra/watcher/deployment.yaml';
    const shipped = await unpacked(`packages/rollcall-${version}.tgz`, deployment);
    assert.ok(shipped.includes(` image: ${released}\n`));
    const { image, ...values } = LEAST_VALUES;
    const chart = path.join(folder, `chart/rollcall-${version}.tgz`);
    const text = await helm.succeed(['template', 'rollcall', chart], values);
    assert.notEqual(image, released);
    assert.ok(text.includes(` image: ${released}\n`));
  });

  it('refuses a tag of another version', async () => {
    const { exitCode, stderr } = await make('v9.9.9');
    assert.equal(exitCode, 1);
    assert.match(stderr, /the tag is v9\.9\.9/);
  });
});
