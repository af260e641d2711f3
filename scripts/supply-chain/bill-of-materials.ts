/**
 * The bill of materials of what is shipped, in CycloneDX: built from the lockfile, never committed.
 *
 * It has no times, serial numbers or addresses, so the same lockfile gives the same bytes. A reviewer sees a change of
 * what is shipped in package.json and in the lockfile.
 */
import { judge, type Judgement } from './finding.ts';

interface RawLicence {
  readonly license?: { readonly id?: string; readonly name?: string };
  readonly expression?: string;
}

interface RawComponent {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly RawLicence[];
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

/** What `npm sbom --sbom-format cyclonedx` prints, as far as it is used. */
export interface RawBill {
  readonly components?: readonly RawComponent[];
}

/** One shipped package. */
interface Component {
  readonly type: 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly RawLicence[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

/** The whole bill. */
interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly version: 1;
  readonly components: readonly Component[];
}

/** The bill from what npm prints: stable order, nothing that changes from run to run. */
export function normalizeBill(raw: RawBill): BillOfMaterials {
  const components = (raw.components ?? []).map(
    ({ name, version, purl, licenses = [], hashes = [] }): Component => ({
      type: 'library',
      name,
      version,
      purl,
      licenses,
      hashes,
    }),
  );
  const order = new Map(components.map((component) => [component.purl, component]));
  const purls = [...order.keys()].sort();
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    components: purls.flatMap((purl) => order.get(purl) ?? []),
  };
}

/** The licence of a component as one SPDX expression; `none` if it states none. */
export function licenceOf({ licenses = [] }: Pick<RawComponent, 'licenses'>): string {
  const stated = licenses.map(
    ({ license, expression }) => expression ?? license?.id ?? license?.name ?? 'none',
  );
  return stated.length === 0 ? 'none' : stated.join(' AND ');
}

/** A package without a hash could be another one than the lockfile means. */
export function judgeBill({ components }: BillOfMaterials): Judgement {
  const findings = components
    .filter(({ hashes }) => hashes.length === 0)
    .map(({ name, version }) => `${name}@${version} has no hash`);
  return judge(findings, `${components.length} shipped packages, in dist/sbom.cdx.json`);
}
