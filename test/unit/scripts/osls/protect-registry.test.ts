/** The end of a deployment: the registry is protected from deletion, once there is a success to protect (F2). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { repositoryRoot } from '../../../../scripts/lib/run-tool.ts';
import RollcallPlugin from '../../../../scripts/osls/plugin.mjs';
import { protectRegistry, registryNameOf } from '../../../../scripts/osls/protect-registry.mjs';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';

const TABLE = registryNameOf('rollcall-ring1');

describe('protectRegistry (F2)', () => {
  it('protects a table that is not, and only looks at one that is', async () => {
    const protectedTables: string[] = [];
    const tables = {
      isProtected: (name: string) => Promise.resolve(protectedTables.includes(name)),
      protect: (name: string) => {
        protectedTables.push(name);
        return Promise.resolve();
      },
    };
    assert.equal(await protectRegistry(tables, TABLE), 'protected');
    assert.equal(await protectRegistry(tables, TABLE), 'was-protected');
    assert.deepEqual(protectedTables, ['rollcall-ring1-registry']);
  });

  it('says that the deployment has succeeded, and what to do by hand, when it may not', async () => {
    const refusal = new Error('not authorized to perform: dynamodb:UpdateTable');
    const tables = {
      isProtected: () => Promise.resolve(false),
      protect: () => Promise.reject(refusal),
    };
    await assert.rejects(protectRegistry(tables, TABLE), (error: Error) => {
      assert.match(
        error.message,
        /The stack is deployed, but its registry rollcall-ring1-registry/,
      );
      assert.match(error.message, /dynamodb:UpdateTable/);
      assert.match(error.message, /aws dynamodb update-table --table-name rollcall-ring1-registry/);
      assert.equal(error.cause, refusal);
      return true;
    });
  });
});

describe('the plugin of osls', () => {
  it('is part of every deployment, and does nothing before one has succeeded', () => {
    const service = readYamlFile(path.join(repositoryRoot, 'serverless.yml'));
    const { plugins } = service as unknown as { plugins: readonly string[] };
    assert.deepEqual(plugins, ['./scripts/osls/plugin.mjs']);
    const refuse = (): never => assert.fail('asked for a provider while nothing was deployed');
    const plugin = new RollcallPlugin(
      { getProvider: refuse, service: {} },
      {},
      { log: { notice: refuse } },
    );
    assert.deepEqual(Object.keys(plugin.hooks), [
      'before:package:cleanup',
      'after:deploy:finalize',
    ]);
  });

  it('loads nothing of AWS before that', () => {
    const source = readFileSync(path.join(repositoryRoot, 'scripts/osls/plugin.mjs'), 'utf8');
    const imported = [...source.matchAll(/^import .* from '([^']+)'/gm)].map(([, from]) => from);
    assert.ok(imported.length > 0);
    assert.ok(imported.every((from) => from?.startsWith('./')));
  });
});
