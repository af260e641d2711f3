/** Runs the suite of event buses against an implementation: starts it, gives each check the same bench, stops it. */
import { after, before, describe } from 'node:test';
import { skipWithoutTools } from '../../support/require-tool.ts';
import { registerChecks } from './check.ts';
import type { EventBench } from './event-bench.ts';
import { eventChecks } from './event-checks.ts';
import type { EventImplementation } from './event-implementations.ts';

/** The suite against one implementation. */
export function describeEvents({ name, tools, start, differences }: EventImplementation): void {
  describe(name, { skip: skipWithoutTools(tools) }, () => {
    let running: Awaited<ReturnType<EventImplementation['start']>> | undefined;
    before(async () => {
      running = await start();
    });
    after(async () => {
      await running?.stop();
    });
    registerChecks(eventChecks, differences, (): EventBench => {
      if (running === undefined) throw new Error(`${name} is not running`);
      return running.bench;
    });
  });
}
