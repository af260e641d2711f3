/** DoctorFacts in which one thing of fleets, of the issuer, or of the roles that EKS lets in, is wrong, and the finding that names it. */
import type { AccessEntryFact, FleetsFact } from '../../../../src/app/checks/needs.ts';
import { checked } from '../../../../src/app/checks/needs.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import { DOCTOR_NOW_MS, healthyFacts, takenOver } from '../../../support/doctor-facts.ts';
import type { DoctorFacts } from '../../../support/doctor-facts.ts';
import { MINUTE_MS, missingRight, with_, type Case } from './broken-facts.ts';

const fleets = (changes: Partial<FleetsFact>): DoctorFacts['fleets'] =>
  checked({ placed: ['ops/agent'], unreadable: [], late: [], ...changes });
const onEks = (standing: AccessEntryFact['standing']): DoctorFacts =>
  with_(
    {
      accessEntries: checked([
        { principalArn: 'arn:aws:iam::1:role/rollcall-dev-fleet', standing },
      ]),
    },
    healthyFacts({
      ...takenOver,
      authentication: { kind: 'eks', clusterName: 'prod', region: 'eu-west-1' },
    }),
  );

/** Each of them. */
export const FLEET_CASES: readonly Case[] = [
  {
    code: 'issuer-internal',
    level: 'ok',
    facts: with_({
      issuer: checked({ kind: 'internal', issuer: 'https://kubernetes.default.svc' }),
    }),
  },
  {
    code: 'issuer-unreadable',
    level: 'warning',
    facts: with_({
      issuer: checked({ kind: 'unreadable', issuer: 'https://oidc.example.com', why: 'HTTP 403' }),
    }),
    says: /HTTP 403/,
  },
  {
    code: 'issuer-differs',
    level: 'failed',
    facts: with_({
      issuer: checked({
        kind: 'other',
        issuer: 'https://oidc.example.com/c1',
        published: 'https://oidc.example.com/c2',
      }),
    }),
    says: /are of the issuer https:\/\/oidc\.example\.com\/c2/,
  },
  {
    code: 'issuer-keys-missing',
    level: 'failed',
    facts: with_({
      issuer: checked({
        kind: 'published',
        issuer: 'https://oidc.example.com/c1',
        keyCount: 2,
        missing: ['new-key'],
      }),
    }),
    says: /does not publish new-key/,
  },
  {
    code: 'access-entries-missing',
    level: 'failed',
    facts: onEks('missing'),
    says: /rollcall-dev-fleet.*cluster add c1 --auth eks/,
  },
  { code: 'access-entries-differ', level: 'failed', facts: onEks('outlived') },
  {
    code: 'access-entries-name-shared',
    level: 'warning',
    facts: with_({ namesakes: checked([clusterId('west')]) }, onEks('present')),
    says: /west as prod too/,
  },
  {
    code: 'fleets-unreadable',
    level: 'warning',
    facts: with_({ fleets: fleets({ unreadable: ['ops/new'] }) }),
    says: /ops\/new/,
  },
  {
    code: 'fleets-late',
    level: 'warning',
    facts: with_({
      fleets: fleets({ late: [{ fleet: 'ops/agent', sinceMs: DOCTOR_NOW_MS - 9 * MINUTE_MS }] }),
    }),
    says: /ops\/agent \(9 minutes\).*stack check/,
  },
  {
    code: 'fleets-rights-missing',
    level: 'failed',
    facts: with_({
      fleetRights: checked({
        required: 2,
        missing: [{ ...missingRight, verb: 'patch', namespace: 'ops', name: 'agent' }],
        missingIn: [],
        by: 'registration',
        isOfAll: false,
      }),
    }),
    says: /1 of 2 rights.*patch.*agent.*fleet rights c1 \|/,
  },
  {
    code: 'fleets-unbounded',
    level: 'warning',
    facts: with_({
      fleetRights: checked({
        ...{ required: 3, missing: [], missingIn: [], by: 'registration' },
        isOfAll: true,
      }),
    }),
    says: /roll out any DaemonSet.*every verb/,
  },
];
