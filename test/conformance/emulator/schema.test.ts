/**
 * The committed tables of types and of kinds are what the release says.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { GENERATED_TABLES } from './generate-schema.ts';

for (const { name, file, generate } of GENERATED_TABLES) {
  test(
    `${name} is what the release says (else: generate-schema.ts --write)`,
    { skip: skipWithoutTools([TOOLS.go]) },
    async () => {
      assert.equal(readFileSync(file, 'utf8'), await generate());
    },
  );
}
