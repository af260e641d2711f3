/**
 * Runs `rollcall` as a person would, over stores in memory and virtual time: argv in, streams out.
 *
 * The stack is a real one as commands see it, but for CloudFormation and the tables; its SQS client
 * reaches nobody. Time moves by itself while a command waits.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import assert from 'node:assert/strict';
import type { CommandModule } from '../../src/cli/command-line/command-module.ts';
import type { GlobalOptions } from '../../src/cli/command-line/global-options.ts';
import { runProgram } from '../../src/cli/command-line/run-program.ts';
import type { OperatorCluster } from '../../src/cli/reach/operator-access.ts';
import { COMMANDS } from '../../src/cli/commands.ts';
import { CommandError, EXIT } from '../../src/cli/process/exit-codes.ts';
import type { ClusterConnector } from '../../src/ports/cluster/cluster-access.ts';
import { STACK_OUTPUT_NAMES, type StackOutputName, type Stack } from '../../src/cli/reach/stack.ts';
import { MemoryFleetRolloutStore } from './memory-fleet-rollout-store.ts';
import { MemoryFreezeStore } from './memory-freeze-store.ts';
import { MemoryRegistryStore } from './memory-registry-store.ts';
import { MemoryViewStore } from './memory-view-store.ts';
import { RegistryInProcess } from './registry-in-process.ts';
import { RecordingHintQueue } from './recording-hint-queue.ts';
import { seededRandom } from '@rollcall/base/testing/seeded-random.ts';
import { VirtualClock, settle } from '@rollcall/base/testing/virtual-clock.ts';

export interface CommandStores extends Pick<
  RegistryInProcess,
  'fleets' | 'mirrors' | 'credentials'
> {
  readonly registry: MemoryRegistryStore;
  readonly view: MemoryViewStore;
  readonly rollouts: MemoryFleetRolloutStore;
  readonly freezes: MemoryFreezeStore;
  readonly hints: RecordingHintQueue;
}

/** Where commands run. */
export class CommandWorld {
  readonly clock = new VirtualClock();
  readonly random = seededRandom(1);
  readonly controller = new AbortController();
  environment: NodeJS.ProcessEnv = {};
  terminals = { out: false, error: false };
  /** How many stacks are open now. */
  openCount = 0;
  /** The cluster that the kubeconfig leads to; undefined: there is no kubeconfig. */
  cluster: OperatorCluster | undefined;
  /** How commands reach registered clusters; by itself they have no credentials. */
  connector: ClusterConnector = {
    connect: () => Promise.resolve({ kind: 'refused', refusal: { kind: 'no-credential' } }),
    forget: () => undefined,
  };
  /** Called between two moments of a command that waits. */
  onTick: () => void | Promise<void> = () => undefined;
  /** What STS answers. */
  callerArn = (): Promise<string> => Promise.resolve(CALLER_ARN);
  readonly #stores = new Map<string, CommandStores>();
  readonly #tables: RegistryInProcess[] = [];

  /** The stores of a stage; made at the first call. */
  stores(stage = 'dev'): CommandStores {
    const known = this.#stores.get(stage);
    if (known !== undefined) return known;
    const table = new RegistryInProcess();
    this.#tables.push(table);
    const { fleets, mirrors, credentials } = table;
    const made = {
      ...{ fleets, mirrors, credentials },
      registry: new MemoryRegistryStore(),
      view: new MemoryViewStore(),
      rollouts: new MemoryFleetRolloutStore(),
      freezes: new MemoryFreezeStore(),
      hints: new RecordingHintQueue(),
    };
    this.#stores.set(stage, made);
    return made;
  }

  /** Lets commands read what another world wrote. */
  adopt(stores: Pick<CommandStores, 'registry' | 'view'>): void {
    this.#stores.set('dev', { ...this.stores(), ...stores });
  }

  /** Opens a stack of this world. */
  open({ stage, region = 'eu-west-1' }: GlobalOptions): Stack {
    this.openCount += 1;
    const sqs = new SQSClient({
      region,
      endpoint: 'http://127.0.0.1:9',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    const outputs = STACK_OUTPUT_NAMES.map((name) => [name, outputOf(name, stage)] as const);
    return {
      stage,
      name: `rollcall-${stage}`,
      outputs: Object.fromEntries(outputs) as Record<StackOutputName, string>,
      ...this.stores(stage),
      sqs,
      aws: { region },
      awsCredentials: () => Promise.reject(new Error('no AWS in this test')),
      callerArn: () => this.callerArn(),
      openConnector: () => this.connector,
      clock: this.clock,
      random: this.random,
      close: () => {
        this.openCount -= 1;
        sqs.destroy();
      },
    };
  }

  /** Runs one command line to its end. */
  async run(
    argv: readonly string[],
    modules: readonly CommandModule[] = COMMANDS,
  ): Promise<CommandRun> {
    const out: string[] = [];
    const said: string[] = [];
    const running = runProgram({
      argv,
      name: 'rollcall',
      version: '0.0.0-test',
      modules,
      environment: this.environment,
      clock: this.clock,
      random: this.random,
      writeOut: (text) => out.push(text),
      writeError: (text) => said.push(text),
      terminals: this.terminals,
      signal: this.controller.signal,
      openCluster: () =>
        this.cluster === undefined
          ? Promise.reject(
              new CommandError({ message: 'no kubeconfig', remedy: '', exitCode: EXIT.usage }),
            )
          : Promise.resolve(this.cluster),
      openStack: (globals) => Promise.resolve(this.open(globals)),
    });
    const exitCode = await this.#drive(running);
    return new CommandRun(exitCode, out.join(''), said.join(''));
  }

  /** Moves time while the command waits; a command that does real I/O is waited for. */
  async #drive(running: Promise<number>): Promise<number> {
    let isDone = false;
    const ended = running.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await settle();
      for (const table of this.#tables) await table.idle();
      await this.onTick();
      if (!isDone) await this.clock.advance(1000);
    }
    return ended;
  }
}

/** Who runs the commands. */
const CALLER_ARN = 'arn:aws:sts::111122223333:assumed-role/Admin/ann';

function outputOf(name: StackOutputName, stage: string): string {
  if (name.endsWith('QueueUrl')) return `https://sqs.eu-west-1.amazonaws.com/1/${stage}-${name}`;
  if (name.endsWith('Arn')) return `arn:aws:sqs:eu-west-1:111122223333:${stage}-${name}`;
  if (name === 'SenderRolePath') return `/rollcall/${stage}/`;
  return `${stage}-${name}`;
}

/** What a command left behind. */
export class CommandRun {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;

  constructor(exitCode: number, stdout: string, stderr: string) {
    this.exitCode = exitCode;
    this.stdout = stdout;
    this.stderr = stderr;
  }

  /** The one JSON document of stdout. */
  document(): Readonly<Record<string, unknown>> {
    const parsed: unknown = JSON.parse(this.stdout);
    assert.ok(typeof parsed === 'object' && parsed !== null);
    return parsed as Readonly<Record<string, unknown>>;
  }

  /** Fails with everything that was said unless the command left with this code. */
  expectExit(exitCode: number): this {
    assert.equal(this.exitCode, exitCode, `${this.stdout}${this.stderr}`);
    return this;
  }
}
