/**
 * All planted bugs by name; run.ts plays them. Here is what operator mutation (test/mutation) cannot make or does not
 * reach: a fault of a whole place, of the tests' own machinery, of the template, or one that another kind of test sees.
 *
 * The order says which tenth a row belongs to. A name stands once, which test/unit/mutants/table.test.ts holds.
 */
import { HEALTH_BUGS } from './health.ts';
import { COVERAGE_BUGS } from './coverage.ts';
import { CORE_BUGS } from './core.ts';
import { RECONCILE_BUGS } from './reconcile.ts';
import { FLEET_BUGS } from './fleet.ts';
import { INGEST_BUGS } from './ingest.ts';
import { APP_BUGS } from './app.ts';
import { WATCHER_BUGS } from './watcher.ts';
import { KUBERNETES_BUGS } from './kubernetes.ts';
import { ADAPTER_BUGS } from './adapters.ts';
import { PROGRAM_BUGS } from './programs.ts';
import { PAGE_BUGS } from './page.ts';
import { INFRA_BUGS } from './infra.ts';
import { TEST_BUGS } from './tests.ts';
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by area. */
export const AREAS: readonly PlantedBugs[] = [
  HEALTH_BUGS,
  CORE_BUGS,
  COVERAGE_BUGS,
  RECONCILE_BUGS,
  FLEET_BUGS,
  INGEST_BUGS,
  APP_BUGS,
  WATCHER_BUGS,
  KUBERNETES_BUGS,
  ADAPTER_BUGS,
  PROGRAM_BUGS,
  PAGE_BUGS,
  INFRA_BUGS,
  TEST_BUGS,
];

/** The rows by name. */
export const PLANTED_BUGS: PlantedBugs = Object.fromEntries(
  AREAS.flatMap((area) => Object.entries(area)),
);
