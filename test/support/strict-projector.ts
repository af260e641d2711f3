/** A watcher's projector for tests of objects that are all as documented: one that would travel opaque fails the test. */
import assert from 'node:assert/strict';
import { createInterner } from '../../src/watcher/project/projection.ts';
import { createProjector } from '../../src/watcher/project/projection.ts';
import type { Projector } from '../../src/watcher/project/projection.ts';

/** A new one. */
export function strictProjector(): Projector {
  return createProjector({
    interner: createInterner(),
    objectBytesMax: 100_000,
    unsendable: new Map(),
    onOpaque: (_identity, reason) => assert.fail(`nothing here is opaque: ${reason}`),
  });
}
