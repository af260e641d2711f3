/** Slot and successor names are valid, short enough and distinct (protocol 10). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nodeName, uid } from '../../../../src/core/model/identifiers.ts';
import { slotName, successorName } from '../../../../src/core/pod/naming.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,28}[a-z0-9])?$/);
const subdomain = fc.array(label, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('.'));

test('names are DNS subdomains of at most 63 characters, for every valid name (protocol 10)', () => {
  fc.assert(
    fc.property(subdomain, subdomain, fc.uuid(), (name, node, id) => {
      const made = [
        slotName({ daemonSetName: name, daemonSetUid: uid(id), node: nodeName(node) }),
        successorName({ daemonSetName: name, predecessorUid: uid(id) }),
      ];
      for (const each of made) {
        assert.match(each, SUBDOMAIN);
        assert.ok(each.length <= 63);
        assert.match(each, /-[bcdfghjklmnpqrstvwxz2456789]{10}$/);
      }
      assert.notEqual(made[0], made[1]);
    }),
    { numRuns: 500 },
  );
});

test('5,000 nodes of one DaemonSet have 5,000 names (faults 4)', () => {
  const names = Array.from({ length: 5000 }, (_, index) =>
    slotName({
      daemonSetName: 'agent',
      daemonSetUid: uid('u'),
      node: nodeName(`ip-10-0-${index}.internal`),
    }),
  );
  assert.equal(new Set(names).size, 5000);
});
