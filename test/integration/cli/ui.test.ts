/** `rollcall ui` over real HTTP: whom it answers, that it answers as the command line does, and that looking touches nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { runProgram } from '../../../src/cli/command-line/run-program.ts';
import { apiCommands } from '../../../src/cli/ui/api-commands.ts';
import { uiCommand } from '../../../src/cli/ui/ui-command.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { stringify } from 'yaml';
import openApi from '../../../docs/reference/openapi.json' with { type: 'json' };
import { daemonSet } from '../../support/core-fixtures.ts';
import { CommandWorld, type CommandStores } from '../../support/command-world.ts';
import { recordOf, breachOf } from '../../support/rollout-records.ts';
import { storeRollout } from '../../support/rollout-stores.ts';
import { PAGE, serveWorld, type Sent, type UiClient } from '../../support/ui-client.ts';

const STATUS = '/api/v1/status';

async function worldOf(): Promise<CommandWorld> {
  const world = new CommandWorld();
  world.environment = { USER: 'ann' };
  const lastSentAtMs = world.clock.nowMs();
  const halted = { policy: 'soak: 10m', record: recordOf({ breach: breachOf() }) };
  await storeRollout(world.stores(), { cluster: 'prod', lastSentAtMs, ...halted });
  await storeRollout(world.stores(), { cluster: 'test', lastSentAtMs });
  return world;
}

describe('the server of rollcall ui', () => {
  let world: CommandWorld;
  let client: UiClient;
  before(async () => {
    world = await worldOf();
    client = await serveWorld(world);
  });
  after(() => client.ui.close());

  const expectStatus = async (path: string, sent: Sent, status: number): Promise<void> => {
    const answer = await client.ask(path, sent);
    assert.equal(answer.status, status, answer.text);
    const { kind, message, remedy } = JSON.parse(answer.text) as Record<string, unknown>;
    assert.equal(kind, 'CommandError');
    assert.ok(message !== '' && remedy !== '');
  };

  it('refuses who has no token, or another one', async () => {
    for (const authorization of [undefined, '', 'Bearer wrong', client.token]) {
      const headers = { authorization: authorization ?? '' };
      await expectStatus(STATUS, { headers }, 401);
      await expectStatus('/api/v1/openapi.json', { headers }, 401);
      await expectStatus('/api/v1/freeze', { method: 'POST', body: '{}', headers }, 401);
    }
  });

  it('refuses a name that is not its own, also for the page', async () => {
    const { port } = client.ui;
    for (const host of ['evil.example', `evil.example:${String(port)}`, '127.0.0.1', '[::1]']) {
      await expectStatus(STATUS, { headers: { host } }, 421);
      await expectStatus('/', { headers: { host } }, 421);
    }
    const own = await client.ask(STATUS, { headers: { host: `localhost:${String(port)}` } });
    assert.equal(own.status, 200);
  });

  it('refuses the pages of other sites, with the token too', async () => {
    const origins = ['http://evil.example', 'null', 'http://127.0.0.1:1', 'https://127.0.0.1'];
    for (const origin of origins) await expectStatus(STATUS, { headers: { origin } }, 403);
    for (const site of ['cross-site', 'same-site', 'none']) {
      await expectStatus(STATUS, { headers: { 'sec-fetch-site': site } }, 403);
    }
    const origin = `http://127.0.0.1:${String(client.ui.port)}`;
    const headers = { origin, 'sec-fetch-site': 'same-origin' };
    assert.equal((await client.ask(STATUS, { headers })).status, 200);
  });

  it('takes JSON alone, of a bounded size', async () => {
    const order = (headers: Record<string, string>, body: string): Sent => ({
      method: 'POST',
      body,
      headers,
    });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      await expectStatus('/api/v1/freeze', order({ 'content-type': type }, '{}'), 415);
    }
    for (const body of ['', '{', '[]', '1', '{"cluster": {"id": "prod"}}', '{"cluster": null}']) {
      await expectStatus('/api/v1/freeze', order({}, body), 400);
    }
    await expectStatus('/api/v1/freeze', order({}, `"${'x'.repeat(2_000_001)}"`), 413);
    assert.deepEqual((await world.stores().freezes.readFreeze()).daemonSets, {});
  });

  it('has what is on its list, by the method that is on it', async () => {
    for (const path of ['/api/v1/', '/api/', '/api/v1/stack/stop', '/api/v2/status']) {
      await expectStatus(path, {}, 404);
    }
    await expectStatus('/api/v1/cluster/remove', { method: 'POST', body: '{}' }, 404);
    await expectStatus(STATUS, { method: 'POST', body: '{}' }, 405);
    await expectStatus('/api/v1/freeze', {}, 405);
    await expectStatus('/', { method: 'POST', body: '{}' }, 405);
    const { headers } = await client.ask('/api/v1/freeze');
    assert.equal(headers.allow, 'POST');
  });

  it('sends the page for every path that is none of the API, and protects it', async () => {
    for (const path of ['/', '/rollouts/prod/ops/agent', '/../package.json', '/%2e%2e/x']) {
      const { status, text, headers } = await client.ask(path, { headers: { authorization: '' } });
      assert.equal(status, 200);
      assert.equal(text, '<title>page</title>');
      assert.match(headers['content-security-policy']?.toString() ?? '', /^default-src 'none'; /);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['cache-control'], 'no-store');
    }
    const script = await client.ask('/page.js');
    assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8');
  });

  it('answers each look as the command line does with --json, and writes nothing', async (test) => {
    const looking = await worldOf();
    const touched = recordWrites(looking.stores());
    const looker = await serveWorld(looking);
    test.after(() => looker.ui.close());
    for (const [path, argv] of LOOKS) {
      const { status, text, headers } = await looker.ask(`/api/v1/${path}`);
      const run = await looking.run([...argv, '--json']);
      assertSame(text, run.stdout, path);
      assertDescribed(text, path);
      assert.equal(headers['rollcall-exit-code'], String(run.exitCode), path);
      assert.equal(status, isFailure(run.stdout) ? 500 : 200, path);
    }
    assert.deepEqual(touched, []);
    assert.equal(looking.openCount, 1, 'commands of requests open no stack, and close none');
  });

  it('has a look for each path of its list', () => {
    const looked = new Set(LOOKS.map(([path]) => path.split('?')[0]));
    const listed = apiCommands(COMMANDS).filter(({ method }) => method === 'GET');
    assert.deepEqual(
      listed.map(({ path }) => path).filter((path) => !looked.has(path)),
      [],
    );
  });

  it('refuses orders as the command line does, and gives them with the same confirmations', async () => {
    const order = async (path: string, body: object) =>
      client.ask(`/api/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const agent = { cluster: 'prod', daemonset: 'ops/agent' };
    const refused: readonly (readonly [string, object, readonly string[], number])[] = [
      ['freeze', {}, ['freeze'], 400],
      ['rollout/resume', agent, ['rollout', 'resume', 'prod', 'ops/agent'], 409],
      [
        'rollout/approve',
        { ...agent, step: 0 },
        ['rollout', 'approve', 'prod', 'ops/agent', '--step=0'],
        400,
      ],
      ['rollout/undo', { cluster: 'prod' }, ['rollout', 'undo', 'prod'], 400],
      [
        'rollout/pause',
        { ...agent, cluster: '--watch' },
        ['rollout', 'pause', '--', '--watch', 'ops/agent'],
        400,
      ],
    ];
    for (const [path, body, argv, status] of refused) {
      const answer = await order(path, body);
      assert.equal(answer.status, status, answer.text);
      const { stdout } = await world.run(['--json', ...argv]);
      assertSame(answer.text, stdout, path);
    }
    const given = await order('freeze', { yes: true, why: 'a test' });
    assert.equal(given.status, 200, given.text);
    assert.equal((await world.stores().freezes.readFreeze()).all?.why, 'a test');
  });

  it('plans a pasted manifest as the command line plans it, and writes nothing', async () => {
    const planning = await worldOf();
    const touched = recordWrites(planning.stores());
    const planner = await serveWorld(planning);
    const manifest = `---\n${stringify(daemonSet({ name: 'agent', metadata: { namespace: 'ops' } }))}`;
    const body = JSON.stringify({ cluster: 'prod', manifest });
    const { text } = await planner.ask('/api/v1/plan', { method: 'POST', body });
    const { stdout } = await planning.run(['--json', 'plan', 'prod', `--manifest=${manifest}`]);
    assertSame(text, stdout, 'plan');
    assert.doesNotMatch(text, /is missing/);
    await planner.ui.close();
    assert.deepEqual(touched, []);
  });

  it('refuses what belongs to a terminal, and what it does not know', async () => {
    for (const query of ['watch=true', 'output=yaml', 'nope=1', '__proto__=1', 'stage=prod']) {
      await expectStatus(`${STATUS}?${query}`, {}, 400);
    }
    await expectStatus('/api/v1/why?daemonset=ops/agent&all=maybe', {}, 400);
    await expectStatus('/api/v1/why?daemonset=ops/agent&daemonset=ops/other', {}, 400);
    await expectStatus('/api/v1/rollout/status?daemonset=ops/agent', {}, 400);
  });

  it('ends a look when its client leaves, and leaves no connection when it closes', async () => {
    const held = Promise.withResolvers<undefined>();
    const slow = await worldOf();
    const asked = Promise.withResolvers<undefined>();
    slow.stores().registry.hooks = {
      before: async () => {
        asked.resolve(undefined);
        await held.promise;
      },
    };
    const waiting = await serveWorld(slow);
    const left = waiting.ask(STATUS).catch((error: unknown) => error);
    await asked.promise;
    await waiting.ui.close();
    const answer = await left;
    assert.ok(answer instanceof Error || JSON.stringify(answer).includes('Interrupted.'));
    held.resolve(undefined);
  });
});

const described = new Ajv2020({ strict: false });
described.addSchema(openApi, 'openapi.json');

/** Fails unless docs/reference/openapi.json says so of a document. */
/** The document of the command line, on one line. */
function assertSame(text: string, stdout: string, path: string): void {
  assert.deepEqual(JSON.parse(text), JSON.parse(stdout), path);
  assert.equal(text.indexOf('\n'), text.length - 1, path);
}

function assertDescribed(text: string, path: string): void {
  const document = JSON.parse(text) as { readonly kind: string };
  const validate = described.compile({ $ref: `openapi.json#/components/schemas/${document.kind}` });
  assert.ok(validate(document), `${path}: ${JSON.stringify(validate.errors)}`);
}

/** Every call to a store that is no read, from now on. */
function recordWrites(stores: CommandStores): readonly string[] {
  const touched: string[] = [];
  for (const [name, store] of Object.entries(stores)) {
    const recording = new Proxy(store as object, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key, target);
        if (typeof member !== 'function') return member;
        if (!/^(?:read|list|find)/.test(String(key))) touched.push(`${name}.${String(key)}`);
        return member.bind(target) as unknown;
      },
    });
    Object.assign(stores, { [name]: recording });
  }
  return touched;
}

const isFailure = (text: string): boolean =>
  (JSON.parse(text) as Record<string, unknown>)['kind'] === 'CommandError';

const AGENT = 'cluster=prod&daemonset=ops/agent';
/** Each look of the API, and what a person would type. */
const LOOKS: readonly (readonly [string, readonly string[]])[] = [
  ['status', ['status']],
  ['status?cluster=prod&cluster=test', ['status', '--cluster', 'prod', '--cluster', 'test']],
  ['get/clusters', ['get', 'clusters']],
  ['get/daemonsets?namespace=ops', ['get', 'daemonsets', '-n', 'ops']],
  ['get/rollouts', ['get', 'rollouts']],
  ['get/fleets', ['get', 'fleets']],
  ['get/nodes?cluster=prod', ['get', 'nodes', '--cluster', 'prod']],
  ['why?daemonset=ops/agent', ['why', 'ops/agent']],
  ['why?daemonset=ops/agent&all=true', ['why', 'ops/agent', '--all']],
  ['log?since=3d&limit=5', ['log', '--since', '3d', '--limit', '5']],
  ['cost', ['cost']],
  ['coverage?since=30d&by=cluster', ['coverage', '--since', '30d', '--by', 'cluster']],
  [`rollout/status?${AGENT}`, ['rollout', 'status', 'prod', 'ops/agent']],
  ['rollout/status?cluster=none&daemonset=ops/agent', ['rollout', 'status', 'none', 'ops/agent']],
  ['fleet/get', ['fleet', 'get']],
  ['fleet/status?fleet=ops/agent', ['fleet', 'status', 'ops/agent']],
  ['fleet/describe?fleet=ops/agent', ['fleet', 'describe', 'ops/agent']],
  ['fleet/history?fleet=ops/agent', ['fleet', 'history', 'ops/agent']],
  ['cluster/list', ['cluster', 'list']],
  ['cluster/show?id=prod', ['cluster', 'show', 'prod']],
  ['version', ['version']],
];

describe('rollcall ui', () => {
  it('says its address, refuses a port that is taken, and ends by Ctrl-C', async () => {
    const world = await worldOf();
    const module = uiCommand(COMMANDS, () => Promise.resolve(PAGE));
    const opened = Promise.withResolvers<string>();
    const running = runProgram({
      ...frameOf(world),
      argv: ['--json', 'ui', '--port=0'],
      modules: [module],
      writeOut: (text) => {
        opened.resolve(text);
      },
    });
    const { address } = JSON.parse(await opened.promise) as { readonly address: string };
    const [page = '', token = ''] = address.split('#token=');
    const port = Number(new URL(page).port);
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await fetch(new URL('/api/v1/version', page), { headers })).status, 200);
    const taken = await world.run(['ui', `--port=${String(port)}`], [module]);
    assert.match(taken.expectExit(1).stderr, /^error: Port \d+ cannot be had here\./);
    world.controller.abort();
    assert.equal(await running, 0);
    await assert.rejects(fetch(page));
    assert.equal(world.openCount, 0);
  });
});

function frameOf(
  world: CommandWorld,
): Omit<Parameters<typeof runProgram>[0], 'argv' | 'modules' | 'writeOut'> {
  const { clock, random, environment, terminals } = world;
  return {
    ...{ name: 'rollcall', version: '0.0.0-test', clock, random, environment, terminals },
    writeError: () => undefined,
    signal: world.controller.signal,
    openStack: (globals) => Promise.resolve(world.open(globals)),
    openCluster: () => Promise.reject(new Error('no kubeconfig in this test')),
  };
}
