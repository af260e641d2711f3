/**
 * `npm run check:supply-chain [-- --strict]`: what we depend on is what we decided to depend on (faults 70).
 *
 * Lockfile and install scripts, licences, the bill of materials of what is shipped, signatures of the registry, known
 * vulnerabilities of what is shipped. The last two need a registry that answers such questions; where it does not, the
 * line says `unknown`, and only `--strict` (our CI) makes that a failure. It writes the bill to dist/sbom.cdx.json.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { repositoryRoot, runTool } from './lib/run-tool.ts';
import { judgeBill, licenceOf, normalizeBill } from './supply-chain/bill-of-materials.ts';
import type { RawBill } from './supply-chain/bill-of-materials.ts';
import type { Judgement } from './supply-chain/finding.ts';
import { checkLicences } from './supply-chain/licences.ts';
import { checkLockfile, packageNameAt } from './supply-chain/lockfile.ts';
import { shippedPackages } from './supply-chain/shipped-packages.ts';
import type { Lockfile, Manifest } from './supply-chain/lockfile.ts';
import { checkSignatures } from './supply-chain/signatures.ts';
import type { ReadSignatures, Signature, SignedArchive } from './supply-chain/signatures.ts';
import { judgeAudit } from './supply-chain/vulnerabilities.ts';

const BILL_FILE = path.join(repositoryRoot, 'dist/sbom.cdx.json');
const ANSWERS_WITHIN_MS = 20_000;
/** A registry that refuses or breaks off once is asked again after these. */
const RETRY_PAUSES_MS = [1000, 4000];
const FLAGS = ['--strict', '--help'];

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(path.join(repositoryRoot, file), 'utf8')) as unknown;
}

const npm = async (...parameters: readonly string[]): Promise<string> => {
  const result = await runTool({ program: 'npm', parameters, directory: repositoryRoot });
  return result.stdout;
};

/**
 * What npm finds, as far as it is locked: an install script may have put down more (the package `node` does). What is
 * shipped, the lockfile says: `npm sbom --omit dev` leaves out what a dev dependency needs as well (osls, the SDK's core).
 */
async function readBill(lockfile: Lockfile, what: 'all' | 'shipped'): Promise<RawBill> {
  const text = await npm('sbom', '--sbom-format', 'cyclonedx');
  const bill = JSON.parse(text) as RawBill; // npm's own output, in the documented form
  const packages = what === 'all' ? lockfile.packages : shippedPackages(lockfile);
  const locked = new Set(archivesOf({ packages }).map(({ name, version }) => `${name}@${version}`));
  const isLocked = ({ name, version }: { readonly name: string; readonly version: string }) =>
    locked.has(`${name}@${version}`);
  return { components: (bill.components ?? []).filter(isLocked) };
}

function archivesOf({ packages }: Lockfile): readonly SignedArchive[] {
  const archives = Object.entries(packages).flatMap(([location, { version, integrity }]) => {
    if (location === '' || version === undefined || integrity === undefined) return [];
    return [{ name: packageNameAt(location), version, integrity }];
  });
  return [...new Map(archives.map((each) => [`${each.name}@${each.version}`, each])).values()];
}

/** Asks until there is an answer that another try would not change; undefined when there is none. */
async function askRegistry(url: string): Promise<Response | undefined> {
  for (const pauseMs of [...RETRY_PAUSES_MS, undefined]) {
    let failure: string;
    try {
      const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
      if (answer.status < 500 && answer.status !== 429) return answer;
      failure = `HTTP ${answer.status}`;
      await answer.body?.cancel();
    } catch (cause) {
      failure = String(cause);
    }
    if (pauseMs === undefined) console.error(`rollcall: no answer from ${url}: ${failure}`);
    else await delay(pauseMs);
  }
  return undefined;
}

async function signatureReader(): Promise<ReadSignatures> {
  const registry = (await npm('config', 'get', 'registry')).trim().replace(/\/*$/, '/');
  return async ({ name, version }) => {
    const answer = await askRegistry(`${registry}${name.replace('/', '%2F')}/${version}`);
    if (answer?.ok !== true) return undefined;
    try {
      const body = (await answer.json()) as { dist?: { signatures?: readonly Signature[] } };
      return body.dist?.signatures ?? [];
    } catch (cause) {
      console.error(`rollcall: no answer for ${name}@${version}: ${String(cause)}`);
      return undefined;
    }
  };
}

async function runAll(): Promise<ReadonlyMap<string, Judgement>> {
  const lockfile = readJson('package-lock.json') as Lockfile; // written by npm
  const manifest = readJson('package.json') as Manifest; // our own
  const installedFile = 'node_modules/.package-lock.json';
  const installed = existsSync(path.join(repositoryRoot, installedFile))
    ? (readJson(installedFile) as Lockfile)
    : undefined;
  const all = await readBill(lockfile, 'all');
  const shipped = normalizeBill(await readBill(lockfile, 'shipped'));
  mkdirSync(path.dirname(BILL_FILE), { recursive: true });
  writeFileSync(BILL_FILE, `${JSON.stringify(shipped, null, 2)}\n`);
  const runtime = new Set(shipped.components.map(({ purl }) => purl));
  const licensed = (all.components ?? []).map((component) => ({
    name: component.name,
    version: component.version,
    licence: licenceOf(component),
    isRuntime: runtime.has(component.purl),
  }));
  return new Map<string, Judgement>([
    ['lockfile', checkLockfile({ manifest, lockfile, installed })],
    ['licences', checkLicences(licensed)],
    ['bill of materials', judgeBill(shipped)],
    [
      'signatures',
      await checkSignatures({ archives: archivesOf(lockfile), read: await signatureReader() }),
    ],
    ['vulnerabilities', judgeAudit(await npm('audit', '--omit', 'dev', '--json'))],
  ]);
}

function print(name: string, judgement: Judgement): void {
  if (judgement.kind === 'held') console.log(`ok      ${name}: ${judgement.summary}`);
  if (judgement.kind === 'unknown') console.log(`unknown ${name}: ${judgement.reason}`);
  if (judgement.kind !== 'broken') return;
  console.log(`FAIL    ${name}`);
  for (const finding of judgement.findings) console.log(`        ${finding}`);
}

async function main(flags: readonly string[]): Promise<number> {
  const unknown = flags.filter((flag) => !FLAGS.includes(flag));
  if (unknown.length > 0 || flags.includes('--help')) {
    const out = unknown.length > 0 ? console.error : console.log;
    if (unknown.length > 0) out(`rollcall: there is no option ${unknown.join(', ')}`);
    out('usage: npm run check:supply-chain [-- --strict]');
    return unknown.length > 0 ? 2 : 0;
  }
  const judgements = await runAll();
  for (const [name, judgement] of judgements) print(name, judgement);
  const failing = [...judgements.values()].filter(
    ({ kind }) => kind === 'broken' || (kind === 'unknown' && flags.includes('--strict')),
  );
  return failing.length === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
