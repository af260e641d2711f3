/**
 * The template of this release over that of the one before: CloudFormation makes nothing anew, removes nothing, and refuses
 * nothing (14 A.8). Both are packaged by osls from their own sources; the former come out of git history, and without it
 * this is skipped. What the comparison knows of types: scripts/release-diff.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareTemplates } from '../../scripts/release-diff/compare-templates.ts';
import { missingReleaseBefore } from '../support/release-before.ts';
import { packageTemplateBefore, packageTemplate } from '../support/template/package-template.ts';

/** What holds something that nobody makes again: messages, items, what was uploaded, what is sealed. */
const HOLDERS = ['AWS::SQS::Queue', 'AWS::DynamoDB::Table', 'AWS::S3::Bucket', 'AWS::KMS::Key'];

describe('a deployment over the release before', { skip: missingReleaseBefore() ?? false }, () => {
  for (const stage of ['local', 'prod']) {
    it(`makes nothing anew and removes nothing, at stage ${stage}`, async () => {
      const [before, next] = await Promise.all([
        packageTemplateBefore(stage),
        packageTemplate(stage),
      ]);
      assert.deepEqual(compareTemplates(before, next), []);
      const holders = Object.entries(before.Resources).filter(([, { Type }]) =>
        HOLDERS.includes(Type),
      );
      assert.deepEqual(
        [...new Set(holders.map(([, { Type }]) => Type))].sort(),
        [...HOLDERS].sort(),
      );
      for (const [id, { Type }] of holders) assert.equal(next.Resources[id]?.Type, Type, id);
    });
  }
});
