/** Both logs: their lines, and the canaries that must not be in them (S11). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Logger } from '@aws-lambda-powertools/logger';
import {
  createConsoleLog,
  createPowertoolsLog,
  createRedactor,
} from '../../../../src/adapters/system/logs.ts';
import type { Log } from '@rollcall/base/ports/log.ts';
import { makeTestCertificate } from '../../../support/test-certificate.ts';

const jwt = [
  'eyJhbGciOiJSUzI1NiJ9',
  Buffer.from('{"sub":"system:serviceaccount:canary"}').toString('base64url'),
  'c2lnbmF0dXJlLWNhbmFyeQ',
].join('.');
const { keyPem } = makeTestCertificate();
const LITERAL = 'opaque-canary-of-a-registration';

/** Secrets in every form in which they may get into a message. */
const canaries: Readonly<Record<string, { readonly text: string; readonly secret: string }>> = {
  'a PEM block': { text: `bad key ${keyPem}`, secret: keyPem.split('\n')[1] ?? '' },
  'a PEM block cut short': { text: keyPem.slice(0, 90), secret: keyPem.slice(30, 80) },
  'a service account token': { text: `token ${jwt} refused`, secret: jwt.slice(20) },
  'an EKS token': { text: 'got k8s-aws-v1.Y2FuYXJ5LWNhbmFyeQ', secret: 'Y2FuYXJ5LWNhbmFyeQ' },
  'a bearer header': { text: 'Authorization: Bearer abc.canary-123', secret: 'abc.canary-123' },
  'a presigned URL': {
    text: 'https://sts/?X-Amz-Credential=AKIA&X-Amz-Signature=canary0123456789',
    secret: 'canary0123456789',
  },
  'a bootstrap token': { text: 'join abcdef.0123456789abcdef', secret: '0123456789abcdef' },
  'a password in text': { text: 'login failed: password=canary-canary', secret: 'canary-canary' },
  'JSON with a token': { text: '{"token":"canary-canary"}', secret: 'canary-canary' },
  'a literal it was told of': { text: `echo ${LITERAL}`, secret: LITERAL },
};

interface Sink {
  readonly log: Log;
  readonly lines: string[];
}

function consoleSink(): Sink {
  const lines: string[] = [];
  const redactor = createRedactor([LITERAL]);
  const log = createConsoleLog({
    redactor,
    level: 'debug',
    nowMs: () => 0,
    write: (line) => lines.push(line),
  });
  return { log, lines };
}

function powertoolsSink(): Sink {
  const lines: string[] = [];
  const logger = new Logger({ serviceName: 'test', logLevel: 'DEBUG' });
  const write = (line: string): void => {
    lines.push(line);
  };
  // Powertools writes to a console of its own; nothing else lets a test see its lines.
  Object.assign(logger, { console: { debug: write, info: write, warn: write, error: write } });
  return { log: createPowertoolsLog({ logger, redactor: createRedactor([LITERAL]) }), lines };
}

for (const [name, open] of Object.entries({ console: consoleSink, powertools: powertoolsSink })) {
  describe(`${name} log`, () => {
    for (const [title, { text, secret }] of Object.entries(canaries)) {
      it(`lets ${title} into no part of a line (S11, faults 68)`, () => {
        const { log, lines } = open();
        const cause = new Error(text, { cause: new Error(text) });
        log.debug(text);
        log.info('field', { detail: text });
        log.with({ about: text }).warn('inherited', {}, cause);
        log.error('cause', { server: 'https://h' }, cause);
        log.error('thrown text', {}, text);
        assert.equal(lines.length, 5);
        for (const line of lines) assert.ok(!line.includes(secret), line);
      });
    }

    it('shows no field whose name says that it is secret', () => {
      const { log, lines } = open();
      log.info('x', { bearerToken: 'plain', clientSecret: 'plain', key: 'west/agents/collector' });
      assert.ok(!String(lines[0]).includes('plain'));
      assert.match(String(lines[0]), /west\/agents\/collector/);
    });

    it('writes one line each, whatever stands in a field (faults 67)', () => {
      const { log, lines } = open();
      log.info('a\nb', { name: 'c\n{"level":"error"}', none: undefined, count: 3, flag: false });
      assert.equal(lines.length, 1);
      assert.ok(!String(lines[0]).includes('\n'));
      const line = JSON.parse(String(lines[0])) as Record<string, unknown>;
      assert.equal(line['message'], 'a\nb');
      assert.equal(line['count'], 3);
      assert.equal(line['flag'], false);
      assert.ok(!('none' in line));
    });

    it('carries the fields of `with`, and lends them to no other logger', () => {
      const { log, lines } = open();
      log.with({ cluster: 'west' }).with({ name: 'collector' }).info('one');
      log.info('two');
      assert.match(String(lines[0]), /"cluster":"west"/);
      assert.match(String(lines[0]), /"name":"collector"/);
      assert.doesNotMatch(String(lines[1]), /west|collector/);
    });

    it('says what failed: name, message, stack, and the causes behind', () => {
      const { log, lines } = open();
      const cause = new TypeError('outer', { cause: new RangeError('inner') });
      log.error('failed', {}, cause);
      const line = JSON.parse(String(lines[0])) as Record<string, unknown>;
      assert.equal(line['errorName'], 'TypeError');
      assert.equal(line['errorMessage'], 'outer');
      assert.match(String(line['errorStack']), /log\.test\.ts/);
      assert.equal(line['errorCauses'], 'RangeError: inner');
    });

    it('bounds long text', () => {
      const { log, lines } = open();
      log.info('x'.repeat(100_000));
      assert.ok(String(lines[0]).length < 3000);
    });

    it('is not kept busy by text that is made to be searched for long (faults 67)', () => {
      const { log, lines } = open();
      const began = process.cpuUsage();
      for (const part of ['eyJaaaaaa-', '-----BEGIN A', 'bearer ', 'token', 'abcdef.']) {
        log.info(part.repeat(100_000));
      }
      // Quadratic searching would take many minutes, of processor time, too.
      assert.ok(process.cpuUsage(began).user < 20e6);
      assert.equal(lines.length, 5);
    });

    it('shows no half of a secret where long text is cut (S11)', () => {
      const { log, lines } = open();
      const jwt = `eyJhbGciOiJSUzI1NiJ9.${'p'.repeat(600)}.s`;
      for (let padding = 15_700; padding < 16_500; padding += 16) {
        log.info(`${'bearer 12345678 '.repeat(padding / 16)}${jwt}`);
      }
      for (const line of lines) assert.doesNotMatch(line, /eyJ|pppp/);
    });
  });
}

describe('console log', () => {
  it('leaves out what is below its level', () => {
    const lines: string[] = [];
    const log = createConsoleLog({ level: 'warn', write: (line) => lines.push(line) });
    log.debug('d');
    log.info('i');
    log.warn('w');
    log.error('e');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { level: string }).level),
      ['warn', 'error'],
    );
  });
});
