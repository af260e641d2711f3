/**
 * The image that is shipped, as `npm run build:image` assembles it, run under its own security context against a real API
 * server: it starts, its snapshot arrives, it stays within the memory that infra/watcher/deployment.yaml says was measured.
 * Its Dockerfile builds the same on a base of Node, twice with the same manifest.
 */
import assert from 'node:assert/strict';
import { chmodSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { readShippedCommand } from '../watcher-memory/shipped-command.ts';
import { openScene, type OpenedScene } from '../watcher-memory/scene.ts';
import { shippedSecurity, startContainer, type Container } from './container.ts';
import { ASSEMBLED, asRoot, BUILT, openImageStore, type ImageStore } from './image.ts';
import { buildLayout } from './layout.ts';

const SIZE = { nodes: 50, daemonSets: 3, otherPods: 1_000 };
const KIB_MAX = 110 * 1024;
const DEADLINE_MS = 120_000;

const skip = skipWithoutTools([TOOLS.go, TOOLS.apt, TOOLS.buildah, TOOLS.runc]);

describe('the image of the watcher', { timeout: 900_000, skip }, () => {
  // buildah names what it pulls by its path, and takes no capital letters there.
  const directory = path.join(tmpdir(), `rollcall-image-${process.pid}`);
  let scene: OpenedScene;
  let store: ImageStore;
  let container: Container;

  before(async () => {
    mkdirSync(directory);
    const layout = path.join(directory, 'layout');
    await buildLayout(layout, '022', directory);
    // It also bundles what the Dockerfile copies.
    scene = await openScene(SIZE);
    store = openImageStore(directory, layout);
  });
  after(async () => {
    (container as Container | undefined)?.stop();
    (store as ImageStore | undefined)?.close();
    await (scene as OpenedScene | undefined)?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('says how it is run, as its Dockerfile does and its Deployment demands', () => {
    const { User: user, Entrypoint: words, Env: environment } = store.configuration(ASSEMBLED);
    const { runAsUser, runAsGroup } = shippedSecurity();
    assert.equal(user, `${runAsUser}:${runAsGroup}`);
    const shipped = readShippedCommand();
    assert.deepEqual(words, ['node', ...shipped.nodeFlags, '/rollcall/watcher.mjs']);
    for (const [name, value] of Object.entries(shipped.environment)) {
      assert.ok(environment.includes(`${name}=${value}`), name);
    }
  });

  it('is run in the same way when its Dockerfile builds it, twice with the same manifest', (context) => {
    const digest = store.build(scene.imageContext);
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.equal(store.build(scene.imageContext), digest);
    context.diagnostic(`manifest ${digest}`);
    assert.deepEqual(store.configuration(BUILT), store.configuration(ASSEMBLED));
  });

  it('starts under the shipped security context, and its snapshot arrives', async () => {
    const files = path.join(directory, 'files');
    mkdirSync(files);
    const { runAsUser, runAsGroup } = shippedSecurity();
    const isFile = (value: string): boolean => value.startsWith(scene.directory);
    const environment = Object.fromEntries(
      Object.entries(scene.environment).map(([name, value]) => {
        if (!isFile(value)) return [name, value];
        const copy = path.join(files, path.basename(value));
        cpSync(value, copy);
        return [name, copy];
      }),
    );
    chmodSync(directory, 0o755);
    asRoot(['chown', '-R', `${runAsUser}:${runAsGroup}`, files]);
    const root = store.mount(ASSEMBLED);
    const configuration = store.configuration(ASSEMBLED);
    const options = { root, configuration, environment, files, directory };
    container = startContainer({ id: `rollcall-${process.pid}`, ...options });
    const what = { deadlineMs: DEADLINE_MS, description: 'a snapshot of all nodes' };
    await pollUntil(what, () => (scene.queue.messages.length > 2 ? true : undefined)).catch(
      (cause: unknown) => {
        throw new Error(`nothing arrived; its log: ${container.log()}`, { cause });
      },
    );
  });

  it('has no right that it could lose, and at most 110 MiB', (context) => {
    const status = container.status();
    const { runAsUser, runAsGroup } = shippedSecurity();
    assert.equal(status.get('Uid')?.split('\t')[0], String(runAsUser));
    assert.equal(status.get('Gid')?.split('\t')[0], String(runAsGroup));
    assert.equal(status.get('NoNewPrivs'), '1');
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      assert.match(status.get(set) ?? '', /^0+$/, set);
    }
    const peakKib = Number.parseInt(status.get('VmHWM') ?? '', 10);
    context.diagnostic(`peak ${(peakKib / 1024).toFixed(1)} MiB`);
    assert.ok(peakKib > 0 && peakKib <= KIB_MAX, `${peakKib} KiB`);
  });
});
