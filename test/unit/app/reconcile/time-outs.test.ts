/** The numbers that safety counts on (protocol 4, 5) are those that the deployed function keeps (A.6). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { defaultReconcileOptions } from '../../../../src/app/reconcile/process/dependencies.ts';
import { REQUEST_TIMEOUT_MS, RUN_MAX_MS } from '../../../../src/core/pod/request-life.ts';

describe('the numbers that safety counts on', () => {
  it('are those that are kept: one time-out, and the time-out of the function', () => {
    assert.equal(defaultReconcileOptions.requestTimeoutMs, REQUEST_TIMEOUT_MS);
    const service = readFileSync(new URL('../../../../serverless.yml', import.meta.url), 'utf8');
    const timeout = /^ {2}reconcile:\n(?: {4}.*\n|\n)*? {4}timeout: (\d+)$/m.exec(service)?.[1];
    assert.equal(Number(timeout) * 1000, RUN_MAX_MS);
  });
});
