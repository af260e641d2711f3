/** The memory of the watcher in a tenth of a large cluster: every phase, for each change. */
import { describeWatcherMemory } from './watcher-memory-suite.ts';

describeWatcherMemory(0.1);
