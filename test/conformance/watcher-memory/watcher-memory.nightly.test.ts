/** The memory of the watcher in a large cluster, as infra/watcher/deployment.yaml states it. */
import { describeWatcherMemory } from './watcher-memory-suite.ts';

describeWatcherMemory(1);
