/** What the doctor says of the DaemonSets of a cluster in copilot. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checked, unchecked, type Facts } from '../../../../src/app/checks/needs.ts';
import { judgeCopilot as judge } from '../../../../src/app/checks/judge-fleets.ts';
import { copilot } from './broken-facts.ts';

const judgeCopilot = (
  registration: Parameters<typeof judge>[0],
  facts: Omit<Facts<'observed' | 'listed' | 'fleets'>, 'nowMs'>,
) => judge(registration, { nowMs: 0, ...facts });

const NOBODY = { total: 9, behind: [], followed: [], rollingUpdate: [] };
const fleets = checked({ placed: ['ops/fleet'], unreadable: [], late: [] });
const names = Array.from({ length: 7 }, (_, index) => `ops/agent-${String(index)}`);

describe('the DaemonSets of a cluster in copilot', () => {
  it('names who opts in and may not be touched, five at most', () => {
    const observed = checked({ ...NOBODY, followed: names });
    const [one] = judgeCopilot(copilot, { observed, listed: checked([]), fleets });
    assert.equal(one?.code, 'copilot-not-named');
    assert.match(one.seen, /ops\/agent-0, .*ops\/agent-4 and 2 more$/);
  });

  it('tells both of a policy without effect and of names, where both are wrong', () => {
    const observed = checked({ ...NOBODY, followed: ['ops/a'], rollingUpdate: ['ops/b'] });
    const found = judgeCopilot(copilot, { observed, listed: checked([]), fleets });
    assert.deepEqual(
      found.map(({ code }) => code),
      ['copilot-rolling-update', 'copilot-not-named'],
    );
  });

  it('lets what a fleet brings be named, and needs no name of it', () => {
    const brought = checked({ ...NOBODY, followed: ['ops/fleet'] });
    const [one] = judgeCopilot(copilot, { observed: brought, listed: checked([]), fleets });
    assert.equal(one?.code, 'copilot-ok', 'its own rights name it');
    const observed = checked(NOBODY);
    const codeOf = (listed: readonly string[]): string | undefined =>
      judgeCopilot(copilot, { observed, listed: checked(listed), fleets })[0]?.code;
    assert.equal(codeOf(['ops/fleet']), 'copilot-ok');
    assert.equal(codeOf(['ops/fleet', 'ops/other']), 'copilot-named-too-many');
  });

  it('is nothing elsewhere, and unknown where nobody could look', () => {
    const facts = { observed: checked(NOBODY), listed: unchecked('no kubeconfig'), fleets };
    assert.deepEqual(judgeCopilot({ ...copilot, mode: 'takeover' }, facts), []);
    const [unknown] = judgeCopilot(copilot, facts);
    assert.equal(unknown?.level, 'unknown');
  });
});
