/** Every finding of `cluster doctor`, each from facts in which one thing is wrong. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasFailed, type Finding } from '../../../../src/app/checks/finding.ts';
import { checked, unchecked } from '../../../../src/app/checks/needs.ts';
import { FINDINGS } from '../../../../src/app/checks/finding-codes.ts';
import { clusterUid } from '../../../../src/core/model/identifiers.ts';
import { CommandWorld } from '../../../support/command-world.ts';
import { DOCTOR_NOW_MS, diagnose, healthyFacts, takenOver } from '../../../support/doctor-facts.ts';
import {
  CASES as OTHER_CASES,
  MINUTE_MS,
  boundToken,
  copilot,
  observed,
  refusal,
  withMeta,
  with_,
} from './broken-facts.ts';
import { FLEET_CASES } from './broken-fleets.ts';

const CASES = [...OTHER_CASES, ...FLEET_CASES];

const LINKS = Object.keys(FINDINGS);

const troubles = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ level }) => level !== 'ok');

describe('the doctor', () => {
  for (const registration of [takenOver, observed, boundToken, copilot]) {
    const { mode, authentication } = registration;
    it(`finds nothing wrong in a healthy cluster (${mode}, ${authentication.kind})`, () => {
      const findings = diagnose(healthyFacts(registration));
      assert.deepEqual(troubles(findings), []);
      assert.equal(hasFailed(findings), false);
      const order = findings.map(({ link }) => LINKS.indexOf(link));
      assert.ok(order.every((index) => index >= 0));
      assert.deepEqual(
        order,
        order.toSorted((left, right) => left - right),
        'in their order',
      );
    });
  }

  for (const { code, level, facts, says } of CASES) {
    it(`finds ${code} (${level}), and nothing else but what hangs on it`, () => {
      const findings = diagnose(facts);
      const one = findings.find((finding) => finding.code === code);
      assert.equal(one?.level, level, JSON.stringify(troubles(findings), undefined, 1));
      const others = troubles(findings).filter((finding) => finding !== one);
      for (const other of others) {
        assert.equal(other.level, 'unknown', `${other.code} is no consequence`);
        assert.match(other.seen, /not reached/);
      }
      assert.equal(hasFailed(findings), level === 'failed');
      if (level === 'failed' || level === 'warning') assert.ok(one?.next, 'says what to do next');
      if (says !== undefined) assert.match(`${one?.seen} ${one?.next}`, says);
    });
  }

  it('says of each link why it could not be checked, and fails for none of them', () => {
    const why = 'it could not be asked';
    const facts = healthyFacts();
    const blind = Object.fromEntries(
      Object.keys(facts)
        .filter((key) => key !== 'nowMs' && key !== 'registration')
        .map((key) => [key, unchecked(why)]),
    );
    const findings = diagnose({ ...facts, ...blind });
    assert.equal(hasFailed(findings), false);
    const known = ['registration', 'freeze', 'mode'];
    for (const finding of findings.filter(({ link }) => !known.includes(link))) {
      assert.equal(finding.level, 'unknown', finding.code);
      assert.match(finding.seen, /could not be asked/);
    }
    assert.ok(findings.length > 15);
  });

  it('counts a refusal that the cluster was heard after as over', () => {
    const findings = diagnose(with_({ refusals: refusal('wrong-cluster-uid', 60) }));
    assert.deepEqual(troubles(findings), []);
    const reset = { ...takenOver, clusterUid: clusterUid('uid-2') };
    const afterReset = withMeta(
      { lastSentAtMs: DOCTOR_NOW_MS - 10 * MINUTE_MS },
      with_({ refusals: refusal('wrong-cluster-uid', 2) }, healthyFacts(reset)),
    );
    assert.deepEqual(
      troubles(diagnose(afterReset)),
      [],
      'it is the registered one by now (row 90)',
    );
  });

  it('says why a token that was sent was not taken', () => {
    const refused = { queue: 'credentials', code: 'wrong-sender', senderRoleId: 'AROA9' } as const;
    const facts = with_(
      {
        token: checked({ kind: 'missing' }),
        refusals: checked([{ ...refused, atMs: DOCTOR_NOW_MS - MINUTE_MS, detail: '' }]),
      },
      healthyFacts(boundToken),
    );
    const [one, ...others] = troubles(diagnose(facts));
    assert.deepEqual([one?.code, others.length], ['credential-missing', 0]);
    assert.match(one?.seen ?? '', /one that was sent by AROA9 was refused: wrong-sender/);
  });

  it('says nothing of fleets where none is placed, and in observe', () => {
    const none = with_({ fleets: checked({ placed: [], unreadable: [], late: [] }) });
    const refused = with_({ fleetRights: unchecked('x') }, healthyFacts(observed));
    for (const facts of [none, refused]) {
      assert.deepEqual(
        diagnose(facts).filter(({ link }) => link === 'fleets'),
        [],
      );
    }
  });

  it('waits for the watcher’s own snapshot where nobody can ask for one', () => {
    const incomplete = withMeta({ isComplete: false }, healthyFacts(observed));
    const [one, ...others] = troubles(diagnose(incomplete));
    assert.deepEqual([one?.code, one?.level, others.length], ['view-incomplete', 'warning', 0]);
    assert.match(one?.next ?? '', /six hours/);
  });

  it('names commands and options that exist', async () => {
    const world = new CommandWorld();
    const advice = CASES.flatMap(({ facts }) => diagnose(facts).map(({ next }) => next ?? ''));
    const commands = advice.flatMap((next) => [
      ...next.matchAll(/rollcall ((?:cluster|fleet|stack) [a-z]+)([^;:,.)|]*)/g),
    ]);
    assert.ok(commands.length > 10);
    for (const [, words = '', rest = ''] of commands) {
      const help = await world.run([...words.split(' '), '--help']);
      if (words === 'cluster add') continue;
      assert.equal(help.exitCode, 0, words);
      for (const [option] of rest.matchAll(/--[a-z-]+/g)) {
        assert.ok(help.stdout.includes(option), `${words} ${option}`);
      }
    }
  });
});
