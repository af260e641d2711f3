/**
 * What the shipped manifests say: rights and admission policies.
 *
 * The doctor compares a cluster with them, so that no list of rights is written twice.
 */
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { permissionsOf } from '../../app/doctor/required-permissions.ts';
import type { Permission } from '../../core/daemon-set/permission.ts';
import { packageFile } from '../../engine/package-files.ts';

interface AdmissionObject {
  readonly kind: string;
  readonly name: string;
}

/** Of infra/. */
export interface ShippedManifests {
  readonly functions: readonly Permission[];
  readonly requests: readonly Permission[];
  readonly watcher: readonly Permission[];
  readonly admission: readonly AdmissionObject[];
  /** The same for clusters in copilot. */
  readonly copilot: readonly Permission[];
  readonly copilotAdmission: readonly AdmissionObject[];
}

/** Reads them from the package. */
export async function readShippedManifests(): Promise<ShippedManifests> {
  const [functions, requests, watcher, admission, copilot, ...copilotAdmission] = await Promise.all(
    [
      'infra/functions/rbac.yaml',
      'infra/functions/requests/rbac.yaml',
      'infra/watcher/rbac.yaml',
      'infra/admission/policy.yaml',
      'infra/copilot/rbac.yaml',
      'infra/copilot/admission.yaml',
      'infra/copilot/listed.yaml',
    ].map(readDocuments),
  );
  return {
    functions: permissionsOf(functions ?? []),
    requests: permissionsOf(requests ?? []),
    watcher: permissionsOf(watcher ?? []),
    admission: objectsOf(admission ?? []),
    copilot: permissionsOf(copilot ?? []),
    copilotAdmission: objectsOf(copilotAdmission.flat()),
  };
}

function objectsOf(documents: readonly unknown[]): readonly AdmissionObject[] {
  return documents.map((document) => {
    const { kind, metadata } = document as {
      readonly kind: string;
      readonly metadata: { readonly name: string };
    };
    return { kind, name: metadata.name };
  });
}

async function readDocuments(file: string): Promise<readonly unknown[]> {
  const text = await readFile(packageFile(file), 'utf8');
  return parseAllDocuments(text).map((document) => document.toJS() as unknown);
}
