/**
 * The bill of materials of what is shipped: CycloneDX, kept in the repository, compared with what npm finds.
 *
 * A change of the shipped packages is thereby a change that a reviewer sees, with version, licence and hash. The kept
 * file has no times, serial numbers or addresses, so that the same packages give the same bytes.
 */
import { judge } from './finding.ts';
import type { Judgement } from './finding.ts';

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

/** One shipped package in the kept file. */
export interface Component {
  readonly type: 'library';
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses: readonly RawLicence[];
  readonly hashes: readonly { readonly alg: string; readonly content: string }[];
}

/** The kept file. */
export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly version: 1;
  readonly components: readonly Component[];
}

/** The kept form of what npm prints: stable order, nothing that changes from run to run. */
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

function lineOf(component: Component): string {
  const hash = component.hashes[0]?.content.slice(0, 12) ?? 'no hash';
  return `${component.name}@${component.version} (${licenceOf(component)}, ${hash})`;
}

/** Compares the kept bill with the present one. */
export function compareBills(
  kept: BillOfMaterials | undefined,
  present: BillOfMaterials,
): Judgement {
  const before = new Set((kept?.components ?? []).map(lineOf));
  const after = new Set(present.components.map(lineOf));
  const findings = [
    ...[...after].filter((line) => !before.has(line)).map((line) => `new: ${line}`),
    ...[...before].filter((line) => !after.has(line)).map((line) => `gone: ${line}`),
  ];
  const hint = 'if that is meant: npm run check:supply-chain -- --update';
  return judge(
    findings.length === 0 ? [] : [...findings, hint],
    `${present.components.length} shipped packages, as docs/sbom.cdx.json says`,
  );
}
