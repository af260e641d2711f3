// Everything that comes through a queue: hostile inputs for each parser (row 67).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { zstdCompressSync } from 'node:zlib';
import { readTokenClaims } from '../../../src/adapters/kubernetes/credentials/token-claims.ts';
import {
  encodeCredentialMessage,
  parseCredentialMessage,
} from '../../../src/adapters/sqs/schema/credential-message-schema.ts';
import {
  encodeHint,
  encodeTimer,
  parseHint,
  parseTimer,
} from '../../../src/adapters/sqs/schema/hint-codec.ts';
import { identifySender } from '../../../src/adapters/sqs/queue-ids.ts';
import {
  encodeWatcherMessage,
  parseWatcherMessage,
} from '../../../src/adapters/sqs/schema/watcher-message-codec.ts';
import { decodeBody, encodeBody } from '../../../src/adapters/dynamodb/item-codec.ts';
import { subjectOf } from '../../../src/ports/stores/credential-store.ts';
import type { Random } from '@rollcall/base/ports/random.ts';
import { assertOneLine, fuzz } from '../../support/fuzz/fuzz.ts';
import { bendJson, bendJsonText, bendText, garbage } from '../../support/fuzz/hostile-input.ts';
import { samples } from '../../unit/adapters/sqs/watcher-message-samples.ts';

const ITEM = { pk: 'NODES#y', sk: 'SLICE' };

const HINT = {
  schema: 1,
  key: { cluster: 'west-1', namespace: 'agents', name: 'collector' },
  clusterUid: '11111111-2222-3333-4444-555555555555',
  reason: 'changed',
};
const TIMER = { schema: 1, hint: HINT, timerId: 'abc123', dueAtMs: 1_767_225_600_000, hops: 2 };
const CREDENTIAL = {
  schema: 1,
  cluster: 'west-1',
  clusterUid: '11111111-2222-3333-4444-555555555555',
  purpose: 'act',
  ciphertext: 'AQICAHh4vQ==',
  issuedAtMs: 1_767_225_600_000,
  expiresAtMs: 1_767_240_000_000,
};
const CLAIMS = { sub: subjectOf('act'), iat: 1_767_225_600, exp: 1_767_240_000 };
const MESSAGES = Object.values(samples);

/** A message whose body was bent and packed again, so that the inner schema sees it. */
function bentMessage(random: Random): string {
  const sample = MESSAGES[Math.floor(random.next() * MESSAGES.length)];
  assert.ok(sample !== undefined);
  const { body, ...header } = sample;
  const text =
    random.next() < 0.9 ? JSON.stringify(bendJson(body, random)) : bendText('{}', random);
  const compressed = zstdCompressSync(text).toString('base64');
  const payload = random.next() < 0.7 ? `j${text}` : `z${bendSometimes(compressed, random)}`;
  const envelope = { ...header, payload };
  if (random.next() < 0.5) return JSON.stringify(envelope);
  return bendJsonText(envelope, random);
}

function bendSometimes(text: string, random: Random): string {
  return random.next() < 0.5 ? bendText(text, random) : text;
}

test('row 67: no watcher message crashes its parser; what is accepted stays what it is', async () => {
  let accepted = 0;
  const count = await fuzz({
    name: 'parseWatcherMessage',
    feed: (random) => {
      const parsed = parseWatcherMessage(bentMessage(random));
      if (parsed.kind === 'refused') {
        assertOneLine(JSON.stringify(parsed.field));
        assertOneLine(JSON.stringify(parsed.header));
        return;
      }
      accepted += 1;
      const { body, ...header } = parsed.message;
      assertOneLine(JSON.stringify(header));
      assert.deepEqual(parseWatcherMessage(encodeWatcherMessage(parsed.message)), parsed);
      if (body.kind === 'changes') for (const delta of body.deltas) assertOneLine(delta.name);
    },
  });
  // Some bends are harmless; a parser that refused everything would prove nothing.
  if (count > 1) assert.ok(accepted > count / 100, `only ${accepted} of ${count} were accepted`);
});

test('row 67: no message of a renewer and no token crashes its parser', async () => {
  let accepted = 0;
  const count = await fuzz({
    name: 'parseCredentialMessage, readTokenClaims',
    feed: (random) => {
      const parsed = parseCredentialMessage(bendJsonText(CREDENTIAL, random));
      if (parsed.kind === 'refused') assertOneLine(parsed.field);
      else {
        accepted += 1;
        assertOneLine(JSON.stringify({ ...parsed.message, ciphertext: '' }));
        const again = parseCredentialMessage(encodeCredentialMessage(parsed.message));
        assert.deepEqual(again, parsed);
      }
      const payload = Buffer.from(bendJsonText(CLAIMS, random)).toString('base64url');
      const claims = readTokenClaims(bendSometimes(`eyJh.${payload}.c2ln`, random));
      if (claims !== undefined) new Date(claims.expiresAtMs).toISOString();
    },
  });
  if (count > 1) assert.ok(accepted > count / 100, `only ${accepted} of ${count} were accepted`);
});

test('row 67: no hint and no timer crashes its parser', async () => {
  let accepted = 0;
  const count = await fuzz({
    name: 'parseHint, parseTimer',
    feed: (random) => {
      const hint = parseHint(bendJsonText(HINT, random));
      if (hint.kind === 'refused') assertOneLine(hint.field);
      else {
        accepted += 1;
        assertOneLine(encodeHint(hint.hint), 8192);
      }
      const timer = parseTimer(bendJsonText(TIMER, random));
      if (timer.kind === 'refused') assertOneLine(timer.field);
      else assertOneLine(encodeTimer(timer.timer), 8192);
    },
  });
  if (count > 1) assert.ok(accepted > count / 500, `only ${accepted} of ${count} were accepted`);
});

test('row 67: a sender is an identity of letters and digits, or nobody', async () => {
  await fuzz({
    name: 'identifySender',
    feed: (random) => {
      const sender = bendSometimes(bendText('AROAEXAMPLEROLEID:session-name', random), random);
      const identity = identifySender(sender);
      if (identity !== undefined) assert.match(identity, /^[A-Za-z0-9]{1,128}$/);
    },
  });
});

test('row 67: a stored body is decoded or refused by its typed error', async () => {
  await fuzz({
    name: 'decodeBody',
    feed: (random) => {
      const value = { text: 'x'.repeat(random.next() < 0.5 ? 10 : 2000), list: [1, 2, 3] };
      const body = Buffer.from(encodeBody(ITEM, value));
      const at = Math.floor(random.next() * body.length);
      body[at] = (body[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
      const input = random.next() < 0.9 ? body : garbage(random);
      try {
        decodeBody(ITEM, input);
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, 'item-unreadable');
      }
    },
  });
});
