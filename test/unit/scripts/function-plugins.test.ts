/** What is left out of the functions' bundles, and that nothing else is (ADR 0001). */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import {
  findUnwanted,
  functionPlugins,
  shortenErrors,
} from '../../../scripts/build/function-plugins.ts';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { EVERY_FIELD, REFUSED_POLICIES } from '../adapters/policy/policy-samples.ts';

const run = promisify(execFile);

interface Bundled {
  readonly text: string;
  readonly inputs: readonly string[];
}

/** Bundles as scripts/build/build-functions.ts does, with its plugins or without. */
async function bundle(contents: string, options: { readonly isPlain: boolean }): Promise<Bundled> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: repositoryRoot, sourcefile: 'entry.js' },
    write: false,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    metafile: true,
    logLevel: 'silent',
    plugins: options.isPlain ? [] : [...functionPlugins],
  });
  return {
    text: outputFiles[0]?.text ?? '',
    inputs: Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs)),
  };
}

describe('scripts/build/function-plugins.ts', () => {
  let directory = '';

  beforeEach(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-plugins-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  /** What the bundle prints. */
  async function outputOf(contents: string, options = { isPlain: false }): Promise<string> {
    const file = path.join(directory, options.isPlain ? 'plain.mjs' : 'lean.mjs'); // both at once
    writeFileSync(file, (await bundle(contents, options)).text);
    const configFile = path.join(directory, 'config');
    writeFileSync(configFile, '[default]\nregion = eu-west-1\n');
    const env = { ...process.env, AWS_CONFIG_FILE: configFile };
    const { stdout } = await run(process.execPath, [file], { env });
    return stdout.trim();
  }

  for (const client of ['dynamodb', 'kms', 'sqs']) {
    it(`errors of the client of ${client} are what they were, in fewer bytes`, async () => {
      const contents = `
        import * as errors from './node_modules/@aws-sdk/client-${client}/dist-es/models/errors.js';
        const all = Object.entries(errors).map(([key, Class]) => {
          const error = new Class({ message: 'told', $metadata: { requestId: 'r' } });
          const { name, $fault, message, $metadata } = error;
          const is = [error instanceof Class, error instanceof Error, Object.getPrototypeOf(Class).name !== ''];
          return { key, shapeId: Class.shapeId, name, $fault, message, $metadata, is };
        });
        console.log(JSON.stringify(all));`;
      const [lean, plain] = await Promise.all([
        outputOf(contents),
        outputOf(contents, { isPlain: true }),
      ]);
      assert.deepEqual(JSON.parse(lean), JSON.parse(plain));
      const source = await readFile(
        path.join(
          repositoryRoot,
          `node_modules/@aws-sdk/client-${client}/dist-es/models/errors.js`,
        ),
        'utf8',
      );
      assert.ok(
        shortenErrors(source).length < source.length * 0.6,
        'the generator writes otherwise',
      );
    });
  }

  it('of package.json files only name and version are taken along', async () => {
    const { text } = await bundle(
      `import it from './package.json' with { type: 'json' }; console.log(it.version);`,
      { isPlain: false },
    );
    assert.ok(!text.includes('devDependencies'));
    assert.match(text, /version: "\d+\.\d+\.\d+/);
  });

  it('loads of Node what a bundle names, and not what a builtin would load for its other exports', async () => {
    const contents = `import fs, { existsSync } from 'node:fs';
      import * as path from 'path';
      console.log([existsSync('/') && fs.existsSync(path.join('/', '.')), process.moduleLoadList.join()].join());`;
    const loaded = await outputOf(contents);
    assert.match(loaded, /^true,/);
    assert.doesNotMatch(loaded, /internal\/fs\/streams/);
    assert.match(await outputOf(contents, { isPlain: true }), /internal\/fs\/streams/);
  });

  it('imports nothing by statement, and leaves a dynamic import to Node', async () => {
    const { text } = await bundle(
      "import { request } from 'node:https'; export { request }; export const late = () => import('node:http');",
      { isPlain: false },
    );
    assert.doesNotMatch(text, /^import\b/m);
    assert.match(text, /import\("node:http"\)/);
  });

  it('refuses an export that the builtin does not have', async () => {
    const contents = "import { noSuchThing } from 'node:os'; console.log(noSuchThing);";
    await assert.rejects(bundle(contents, { isPlain: false }), /No matching export/);
  });

  it('takes the configuration of the SDK from the environment alone', async () => {
    const contents = `import { loadSharedConfigFiles } from '@smithy/core/config';
      console.log(JSON.stringify(await loadSharedConfigFiles()));`;
    assert.equal(await outputOf(contents), '{"configFile":{},"credentialsFile":{}}');
    assert.match(await outputOf(contents, { isPlain: true }), /eu-west-1/);
  });

  it('still knows the length of text and bytes', async () => {
    const contents = `import { calculateBodyLength as length } from '@smithy/core/serde';
      console.log(length('äb'), length(new Uint8Array(5)), length(undefined));`;
    assert.equal(await outputOf(contents), '3 5 0');
  });

  it('finds in a client what should have been left out, and nothing in one that was built as functions are', async () => {
    const contents =
      "import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'; console.log(DynamoDBClient, ListTablesCommand);";
    const { inputs } = await bundle(contents, { isPlain: false });
    assert.equal(findUnwanted(inputs), undefined);
    const plain = await bundle(contents, { isPlain: true });
    assert.match(
      findUnwanted(plain.inputs) ?? '',
      /credential-provider|event-streams|mnemonist|InstanceMetadata|Sha256Js/,
    );
  });

  it('reads policies, good and bad, as the sources do, with a parser that can write nothing', async () => {
    const texts = [
      EVERY_FIELD,
      ...REFUSED_POLICIES.map(([, text]) => text),
      '[',
      'a: *b',
      'soak: !!binary aGk=',
      'after: !!set {a}',
      '? !!omap [a: 1]',
      'a: 1\n---',
    ];
    const contents = `import { createPolicyReader } from './src/adapters/policy/policy-reader.ts';
      const reader = createPolicyReader();
      console.log(JSON.stringify(${JSON.stringify(texts)}.map((text) => reader.read(text))));`;
    const reader = createPolicyReader();
    assert.deepEqual(
      JSON.parse(await outputOf(contents)),
      texts.map((text) => reader.read(text)),
    );
    assert.equal(findUnwanted((await bundle(contents, { isPlain: false })).inputs), undefined);
    assert.match(findUnwanted((await bundle(contents, { isPlain: true })).inputs) ?? '', /yaml/);
  });
});
