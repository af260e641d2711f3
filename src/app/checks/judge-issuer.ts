/** The finding about the documents by which AWS checks a cluster's tokens. Pure. */
import type { Facts } from './needs.ts';
import { failed, notChecked, ok, someNames, warning, type Finding } from './finding.ts';
import { isInProcess } from './judge-registration.ts';

const PUBLISH =
  'Publish both documents anew: rollcall cluster issuer --context NAME --issuer ISSUER --out DIR';

/** Whether AWS can check each token that the cluster signs; undefined where no AWS is asked. */
export function judgeIssuer({
  issuer,
  deployment,
}: Facts<'issuer' | 'deployment'>): Finding | undefined {
  if (isInProcess(deployment)) return undefined;
  if (issuer.kind === 'unchecked') {
    return notChecked(
      'issuer',
      issuer.why,
      'Pass --kubeconfig FILE --context NAME of a user who may read /openid/v1/jwks.',
    );
  }
  const fact = issuer.value;
  switch (fact.kind) {
    case 'internal':
      return ok(
        'issuer',
        'issuer-internal',
        `${fact.issuer}: AWS cannot read it; the watcher has its AWS credentials in another way`,
      );
    case 'unreadable':
      return warning('issuer', 'issuer-unreadable', {
        seen: `${fact.issuer}: its documents cannot be read from here: ${fact.why}`,
        next: `AWS refuses the watcher’s tokens if it cannot read them either. ${PUBLISH}`,
      });
    case 'other':
      return failed('issuer', 'issuer-differs', {
        seen: `the documents at ${fact.issuer} are of the issuer ${fact.published}`,
        next: PUBLISH,
      });
    case 'published':
      if (fact.missing.length === 0) {
        return ok('issuer', 'issuer-ok', `${fact.issuer} publishes all ${fact.keyCount} keys`);
      }
      return failed('issuer', 'issuer-keys-missing', {
        seen: `${fact.issuer} does not publish ${someNames(fact.missing)}: AWS refuses tokens that this key signs`,
        next: PUBLISH,
      });
  }
}
