/**
 * Bugs in what puts the parts together: middleware, template, settings of adapters and of the watcher, published constants.
 */
import type { PlantedBug } from './planted-bug.ts';

/** The rows of item A.4 of issue 14. */
export const COMPOSITION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'events-are-logged': {
    bug: 'the deployed logger writes each event: secrets and payloads reach CloudWatch (14 A.4)',
    file: 'functions/middleware.ts',
    before: 'logEvent: false }',
    after: 'logEvent: true }',
    killedBy: { file: 'test/unit/functions/deployed-stack.test.ts', title: 'logs no event' },
  },
};
