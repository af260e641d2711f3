/** Rules about names that no release may change, since others hold on to what bears them. */
import { ofType, type Rule } from './template.ts';

/**
 * EKS holds an access entry by the unique id of the role that had the name then. A renamed role, or one whose logical
 * id changes, is a new one: every EKS cluster would be lost until its entries are made anew (F5).
 */
const FROZEN_ROLES: Readonly<Record<string, string>> = {
  IngestRole: 'ingest',
  ReconcileRole: 'reconcile',
  RequeueRole: 'requeue',
  ResyncRole: 'resync',
  FleetRole: 'fleet',
  CredentialRole: 'credential',
  DeadLetterRole: 'dead-letter',
};

const frozenRoles: Rule = {
  name: 'the functions’ roles keep ids, names and path: access entries of EKS die with them (F5)',
  check: (template, stage) => {
    const roles = ofType(template, 'AWS::IAM::Role').map(({ id, properties }) => {
      const { RoleName: name, Path: place = '/' } = properties;
      return [id, `${JSON.stringify(place)} ${JSON.stringify(name)}`] as const;
    });
    const frozen = Object.entries(FROZEN_ROLES).map(([id, part]) => {
      const name = `rollcall-${stage}-${part}-us-east-1`;
      return [id, `"/" ${JSON.stringify(name)}`] as const;
    });
    const standing = new Map(roles);
    return [
      ...frozen
        .filter(([id, name]) => standing.get(id) !== name)
        .map(([id, name]) => `${id} is ${standing.get(id) ?? 'gone'}, and was ${name}`),
      ...roles
        .filter(([id]) => FROZEN_ROLES[id] === undefined)
        .map(([id]) => `${id} is a role that nobody has frozen`),
    ];
  },
};

/** All of them. */
export const frozenRules: readonly Rule[] = [frozenRoles];
