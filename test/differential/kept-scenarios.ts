/**
 * Scenarios that once showed a disagreement: shrunk, saved as JSON, and played again by the suite for good.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryPath } from '../conformance/scenarios/repository.ts';
import type { Scenario } from './scenario.ts';

/** Where they lie. */
const KEPT_DIRECTORY = repositoryPath('test/regression/differential');

/** All kept scenarios, by name of their files. */
export function readKeptScenarios(): readonly Scenario[] {
  return listFiles().map((file) => readScenario(join(KEPT_DIRECTORY, file)));
}

function listFiles(): readonly string[] {
  mkdirSync(KEPT_DIRECTORY, { recursive: true });
  return readdirSync(KEPT_DIRECTORY)
    .filter((file) => file.endsWith('.json'))
    .sort();
}

export function readScenario(path: string): Scenario {
  return JSON.parse(readFileSync(path, 'utf8')) as Scenario;
}

/** Saves a scenario under a name made of its title, where the suite plays it or elsewhere, and returns the path. */
export function keepScenario(scenario: Scenario, directory = KEPT_DIRECTORY): string {
  const slug = scenario.title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${slug}.json`);
  writeFileSync(path, `${JSON.stringify(scenario, undefined, 2)}\n`);
  return path;
}
