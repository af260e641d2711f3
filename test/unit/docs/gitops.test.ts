/**
 * docs/gitops.md: what happens when Argo CD and Flux apply the DaemonSet of examples/gitops in copilot, by server-side apply under
 * the names of their controllers, and what they show. The controllers themselves are not run.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { jsonMember, type JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import type { FleetManifest } from '../../../src/core/fleet/fleet-daemon-set.ts';
import { applyOrder } from '../../../src/core/stages/apply-order.ts';
import type { ManifestOutcome } from '../../../src/ports/cluster/manifest-access.ts';
import { expectPlainLua, openHealthScript } from '../../support/health-script.ts';
import type { HealthScript } from '../../support/health-script.ts';
import { kstatusOf } from '../../support/kstatus.ts';
import { ReconcileWorld } from '../../support/reconcile-world.ts';
import { NAME, fail, images, ready } from '../../support/staged-set-world.ts';

const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples/gitops');
const read = (file: string): string => readFileSync(path.join(EXAMPLES, file), 'utf8');
const SCRIPT = read('argocd/health.lua');
const documents = parseAllDocuments(read('agents/daemon-set.yaml')).map(
  (document) => document.toJS() as JsonObject,
);
const EXAMPLE = documents.find(({ kind }) => kind === 'DaemonSet') as FleetManifest;
const TOOLS = ['argocd-controller', 'kustomize-controller'] as const;
const IMAGE = '.spec.template.spec.containers[name="agent"].image';
const GOOD = 'registry.example/node-agent:1.0.0';
const NEXT = 'registry.example/node-agent:1.1.0';
const NODES = 6;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const OPEN = 'canary: {nodes: 1}\nsoak: 10m';

type Annotations = Readonly<Record<string, string>>;

/** What Git holds at a commit; the annotations are those of the example unless told. */
function manifestOf(image: string, annotations = annotationsOf(EXAMPLE)): FleetManifest {
  const { metadata, spec } = EXAMPLE;
  const template = spec.template as unknown as JsonObject;
  const podSpec = template['spec'] as JsonObject;
  const [container] = podSpec['containers'] as readonly JsonObject[];
  const containers = [{ ...container, image }];
  return {
    ...EXAMPLE,
    metadata: { ...metadata, ...NAME, annotations },
    spec: { ...spec, template: { ...template, spec: { ...podSpec, containers } } },
  } as unknown as FleetManifest;
}

function annotationsOf({ metadata }: FleetManifest): Annotations {
  return (metadata as { readonly annotations?: Annotations }).annotations ?? {};
}

/** Six nodes in copilot, and a tool that applied the example to them. */
class GitOpsWorld {
  readonly made: ReconcileWorld;
  readonly tool: string;

  private constructor(tool: string) {
    this.tool = tool;
    const first = manifestOf(GOOD) as unknown as DaemonSetObject;
    this.made = new ReconcileWorld({
      mode: 'copilot',
      nodes: NODES,
      daemonSet: (object) => ({
        ...object,
        spec: first.spec,
      }),
    });
    for (const { metadata } of this.made.cluster.list('nodes')) ready(this.made, metadata.name);
  }

  static async open(tool: string, annotations?: Annotations): Promise<GitOpsWorld> {
    const world = new GitOpsWorld(tool);
    assert.equal(world.sync(GOOD, annotations).kind, 'applied');
    await world.made.settle();
    return world;
  }

  /** As both controllers apply: by force. */
  sync(image: string, annotations?: Annotations): ManifestOutcome {
    return this.apply(this.tool, manifestOf(image, annotations), true);
  }

  apply(manager: string, manifest: FleetManifest, isForced = false): ManifestOutcome {
    return this.made.cluster.manifests.applyAs(manager, manifest, { isDryRun: false, isForced });
  }

  /** A person changes the image with kubectl. */
  edit(image: string, manager: string): void {
    const { template } = manifestOf(image).spec;
    this.made.cluster.manifests.editAs(manager, NAME, (object) => ({
      ...object,
      spec: { ...(object['spec'] as object), template },
    }));
  }

  /** `rollcall rollout undo`: in copilot it is recorded, and the template is left to its owner. */
  async undo(): Promise<void> {
    const { view, ref } = this.made;
    const state = await view.readState(ref);
    assert.ok(state?.rollout);
    const { hash, former } = state.rollout;
    const order = { kind: 'undo', release: hash, to: former?.hash ?? '', via: 'template' } as const;
    const note = { by: 'mira', atMs: this.made.clock.nowMs() };
    const ordered = applyOrder(state.rollout, order, note);
    assert.equal(ordered.kind, 'changed');
    const { memo: _former, ...rest } = state;
    await view.writeState(ref, { ...rest, rollout: ordered.record });
  }

  count(image: string): number {
    return images(this.made).filter((each) => each === image).length;
  }

  get template(): string {
    const { template } = this.made.daemonSet.spec;
    const { containers } = template.spec as unknown as { containers: readonly { image: string }[] };
    return containers[0]?.image ?? '';
  }

  events(reason: string): readonly string[] {
    const all = this.made.cluster.list('events').filter((each) => each['reason'] === reason);
    return all.map((each) => String(each['message']));
  }
}

/** The release after a canary of it failed. */
async function halted(tool: string, annotations?: Annotations): Promise<GitOpsWorld> {
  const world = await GitOpsWorld.open(tool, annotations);
  world.sync(NEXT, annotations);
  await world.made.settle({ withinMs: MINUTE_MS });
  fail(world.made, NEXT);
  await world.made.settle({ withinMs: 2 * MINUTE_MS });
  assert.match(world.events('RolloutHalted').join(), /OOMKilled/);
  return world;
}

describe('the health script for DaemonSets', () => {
  let script: HealthScript;
  before(async () => {
    script = await openHealthScript(SCRIPT);
  });
  after(() => {
    script.close();
  });

  /** What Argo CD shows by the script, what Flux computes, and what was said. */
  async function shown(object: JsonObject): Promise<readonly [string, string, string]> {
    const { status, message } = await script.healthOf(object);
    assert.notEqual(message, '');
    return [status, kstatusOf(object), message];
  }
  const shownNow = ({ made }: GitOpsWorld): Promise<readonly [string, string, string]> =>
    shown(made.daemonSet as unknown as JsonObject);

  it('shows a release as Progressing from its apply until its last pod, and Healthy then', async () => {
    const world = await GitOpsWorld.open(TOOLS[0]);
    assert.deepEqual((await shownNow(world)).slice(0, 2), ['Healthy', 'Current']);
    world.sync(NEXT);
    assert.deepEqual((await shownNow(world)).slice(0, 2), ['Progressing', 'InProgress']);
    await world.made.settle({ withinMs: MINUTE_MS });
    const [health, kstatus, message] = await shownNow(world);
    assert.deepEqual([health, kstatus], ['Progressing', 'InProgress']);
    assert.match(message, /^1 of 6 pods are of the newest template; rollcall rollout status/);
    await world.made.settle({ withinMs: HOUR_MS });
    assert.deepEqual((await shownNow(world)).slice(0, 2), ['Healthy', 'Current']);
  });

  it('shows a halted rollout as Progressing, because nothing on the object says that it halted', async () => {
    const world = await halted(TOOLS[0]);
    assert.deepEqual((await shownNow(world)).slice(0, 2), ['Progressing', 'InProgress']);
  });

  it('waits for available pods as Argo CD does, but for OnDelete without a policy', async () => {
    const full = { desiredNumberScheduled: 3, currentNumberScheduled: 3, observedGeneration: 1 };
    const old = { ...full, updatedNumberScheduled: 1, numberAvailable: 3, numberReady: 3 };
    const down = { ...full, updatedNumberScheduled: 3, numberAvailable: 2, numberReady: 3 };
    const object = (
      type: string,
      status: JsonObject,
      annotations: JsonObject = {},
    ): JsonObject => ({
      kind: 'DaemonSet',
      metadata: { generation: 1, annotations },
      spec: { updateStrategy: { type } },
      status,
    });
    const policy = { 'rollcall.dev/rollout': 'soak: 10m' };
    const table = [
      [object('RollingUpdate', old), 'Progressing'],
      [object('RollingUpdate', down), 'Progressing'],
      [object('OnDelete', old, policy), 'Progressing'],
      [object('OnDelete', down, policy), 'Progressing'],
      [object('OnDelete', old), 'Healthy'],
      [object('OnDelete', { ...old, observedGeneration: 0 }), 'Progressing'],
      [{ kind: 'DaemonSet', metadata: { generation: 1 } }, 'Progressing'],
    ] as const;
    for (const [one, expected] of table) {
      const [health, kstatus] = await shown(one);
      assert.deepEqual([health, kstatus], [expected, 'InProgress'], JSON.stringify(one));
    }
  });

  it('is what the snippet for argocd-cm holds, and uses nothing that Lua 5.1 has not', () => {
    const { data } = parse(read('argocd/argocd-cm.yaml')) as { readonly data: JsonObject };
    assert.equal(data['resource.customizations.health.apps_DaemonSet'], SCRIPT);
    expectPlainLua(SCRIPT);
  });
});

describe('examples/gitops', () => {
  it('has a DaemonSet that copilot follows, with a policy that waits for Git after a halt', () => {
    const { annotations = {} } = EXAMPLE.metadata as { annotations?: Record<string, string> };
    const reading = createPolicyReader().read(annotations['rollcall.dev/rollout'] ?? '');
    assert.equal(reading.kind, 'policy');
    assert.equal(reading.policy.onHalt, 'pause');
    assert.deepEqual(EXAMPLE.spec.updateStrategy, { type: 'OnDelete' });
  });

  it('has each tool apply it, and none of them ignore a field or wait for a rollout', () => {
    const specOf = (file: string): JsonObject =>
      (parse(read(file)) as { readonly spec: JsonObject }).spec;
    const application = specOf('argocd/application.yaml');
    const kustomization = specOf('flux/kustomization.yaml');
    assert.equal(jsonMember(application['source'], 'path'), 'agents');
    assert.equal(kustomization['path'], './agents');
    assert.equal(application['ignoreDifferences'], undefined);
    assert.equal(kustomization['wait'], false);
    const options = jsonMember(application['syncPolicy'], 'syncOptions');
    assert.deepEqual(options, ['ServerSideApply=true']);
  });
});

for (const tool of TOOLS) {
  describe(`a DaemonSet that ${tool} applies`, () => {
    it('stages a release, and an equal apply again changes nothing', async () => {
      const world = await GitOpsWorld.open(tool);
      world.sync(NEXT);
      await world.made.settle({ withinMs: MINUTE_MS });
      const { resourceVersion } = world.made.daemonSet.metadata;
      world.sync(NEXT);
      assert.equal(world.made.daemonSet.metadata.resourceVersion, resourceVersion);
      assert.equal(world.count(NEXT), 1);
    });

    it('goes back on all nodes at once when Git is reverted', async () => {
      const world = await GitOpsWorld.open(tool);
      world.sync(NEXT);
      await world.made.settle({ withinMs: HOUR_MS });
      assert.equal(world.count(NEXT), NODES);
      world.sync(GOOD);
      await world.made.settle({ withinMs: 2 * MINUTE_MS });
      assert.equal(world.count(GOOD), NODES);
    });

    it('goes back when Git is reverted after a halt, and holds the bad release if it comes again', async () => {
      const world = await halted(tool);
      world.sync(GOOD);
      await world.made.settle({ withinMs: 2 * MINUTE_MS });
      assert.equal(world.count(GOOD), NODES);
      world.sync(NEXT);
      await world.made.settle({ withinMs: HOUR_MS });
      assert.equal(world.count(NEXT), 0);
      assert.match(world.events('RolloutHalted').at(-1) ?? '', /KnownBad.*halted before/);
    });

    it('holds the bad release where self-heal applies it over a kubectl rollout undo', async () => {
      const world = await halted(tool);
      world.edit(GOOD, 'kubectl-rollout');
      await world.made.settle({ withinMs: 2 * MINUTE_MS });
      world.sync(NEXT);
      assert.equal(world.template, NEXT);
      await world.made.settle({ withinMs: HOUR_MS });
      assert.equal(world.count(GOOD), NODES);
      assert.match(world.events('RolloutHalted').at(-1) ?? '', /KnownBad/);
    });

    it('starts a release again at its canary where kubectl undid it before it halted', async () => {
      const world = await GitOpsWorld.open(tool);
      world.sync(NEXT);
      await world.made.settle({ withinMs: MINUTE_MS });
      world.edit(GOOD, 'kubectl-rollout');
      await world.made.settle({ withinMs: 2 * MINUTE_MS });
      assert.equal(world.count(GOOD), NODES);
      world.sync(NEXT);
      await world.made.settle({ withinMs: MINUTE_MS });
      assert.equal(world.count(NEXT), 1);
    });

    it('moves no further after rollcall rollout undo, and goes back with Git', async () => {
      const world = await GitOpsWorld.open(tool);
      world.sync(NEXT);
      await world.made.settle({ withinMs: MINUTE_MS });
      await world.undo();
      world.sync(NEXT);
      await world.made.settle({ withinMs: HOUR_MS });
      assert.equal(world.count(NEXT), 1, 'the template still has it');
      world.sync(GOOD);
      await world.made.settle({ withinMs: 2 * MINUTE_MS });
      assert.equal(world.count(GOOD), NODES);
      world.sync(NEXT);
      await world.made.settle({ withinMs: HOUR_MS });
      assert.equal(world.count(NEXT), 0);
      assert.match(world.events('RolloutHalted').at(-1) ?? '', /KnownBad.*undone before/);
    });

    it('is restored once by onHalt: rollback; self-heal applies the bad release, which is held', async () => {
      const annotations = { 'rollcall.dev/rollout': `${OPEN}\nonHalt: rollback` };
      const world = await halted(tool, annotations);
      assert.equal(world.template, GOOD);
      assert.equal(world.count(GOOD), NODES);
      world.sync(NEXT, annotations);
      await world.made.settle({ withinMs: HOUR_MS });
      assert.equal(world.template, NEXT);
      assert.equal(world.count(GOOD), NODES);
      const restores = world.made.cluster.requests.filter((each) => /^restore/.test(each));
      assert.equal(restores.length, 1);
    });

    it('rolls by the built-in controller while an edit says RollingUpdate, until self-heal', async () => {
      const world = await GitOpsWorld.open(tool);
      world.sync(NEXT);
      await world.made.settle({ withinMs: MINUTE_MS });
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } };
      world.made.cluster.manifests.editAs('kubectl-patch', NAME, (object) => ({
        ...object,
        spec: { ...(object['spec'] as object), updateStrategy },
      }));
      world.made.runKubelets();
      await world.made.step();
      assert.match(world.events('RolloutNotStaged').join(), /set updateStrategy.type to OnDelete/);
      world.sync(NEXT);
      await world.made.settle({ withinMs: MINUTE_MS });
      assert.equal(world.made.daemonSet.spec.updateStrategy?.type, 'OnDelete');
      assert.equal(world.count(NEXT), 2, 'one node more than its canary');
    });
  });
}

describe('two owners of a DaemonSet', () => {
  it('share what both say alike', async () => {
    const world = await GitOpsWorld.open(TOOLS[0]);
    assert.equal(world.apply(TOOLS[1], manifestOf(GOOD)).kind, 'applied');
  });

  it('are told apart by a conflict on the field, which nothing takes unasked: nor does a fleet', async () => {
    const world = await GitOpsWorld.open(TOOLS[0]);
    world.sync(NEXT);
    const conflicts = [{ manager: TOOLS[0], field: IMAGE }];
    const refused = { kind: 'conflict', conflicts };
    assert.deepEqual(world.apply('helm', manifestOf(GOOD)), refused);
    const unforced = { isDryRun: false, isForced: false, deadlineMs: Infinity };
    const given = await world.made.cluster.applyDaemonSet(manifestOf(GOOD), unforced);
    assert.deepEqual(given, refused);
    assert.equal(world.template, NEXT);
  });

  it('that both force restart one node in turn, and never pass the canary', async () => {
    const world = await GitOpsWorld.open(TOOLS[0]);
    for (let turn = 0; turn < 4; turn += 1) {
      world.apply(TOOLS[1], manifestOf(NEXT), true);
      await world.made.settle({ withinMs: 5 * MINUTE_MS });
      assert.equal(world.count(NEXT), 1);
      world.sync(GOOD);
      await world.made.settle({ withinMs: 3 * MINUTE_MS });
      assert.equal(world.count(GOOD), NODES);
    }
  });
});
