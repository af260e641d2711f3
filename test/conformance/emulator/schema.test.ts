/**
 * The committed table of types is what the Go types of the release say.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { committedSchema, generateSchema } from './generate-schema.ts';

test(
  'types.json is what the Go types say (else: generate-schema.ts --write)',
  { skip: skipWithoutTools([TOOLS.go]) },
  async () => {
    assert.equal(committedSchema(), await generateSchema());
  },
);
