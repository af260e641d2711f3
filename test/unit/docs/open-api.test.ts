/** docs/reference/openapi.json is an OpenAPI document, and describes each command of the API. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import openApi from '../../../docs/reference/openapi.json' with { type: 'json' };
import { COMMANDS } from '../../../src/cli/commands.ts';
import { apiCommands } from '../../../src/cli/ui/api-commands.ts';

describe('the description of the API', () => {
  it('is an OpenAPI document', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(openApi));
    assert.ok(valid, JSON.stringify(errors));
  });

  it('has a path for each command, with its words, and refers to nothing that there is not', () => {
    const paths: Readonly<Record<string, object>> = openApi.paths;
    for (const { path, method, module } of apiCommands(COMMANDS)) {
      const operations = paths[`/api/v1/${path}`] ?? {};
      const [[verb, operation] = []] = Object.entries(operations) as [
        string,
        { summary: string },
      ][];
      assert.deepEqual([verb, operation?.summary], [method.toLowerCase(), module.summary], path);
    }
    const schemas: ReadonlySet<string> = new Set(Object.keys(openApi.components.schemas));
    const referred = JSON.stringify(openApi).matchAll(/#\/components\/schemas\/(\w+)/g);
    for (const [, name = ''] of referred) assert.ok(schemas.has(name), name);
  });
});
