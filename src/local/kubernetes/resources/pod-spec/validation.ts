/** Thin for now. */
import type { JsonObject } from '../../../../core/model/json.ts';
import type { FieldError } from '../resource.ts';
import { required } from '../shared/field-errors.ts';
import { listAt } from '../shared/json-edit.ts';

/** What is looked at. */
export interface PodSpecInput {
  readonly spec: JsonObject;
  readonly field: string;
  readonly isPod: boolean;
}

/** A pod's spec. */
export function validatePodSpec({ spec, field }: PodSpecInput): readonly FieldError[] {
  return listAt(spec, 'containers').length === 0 ? [required(`${field}.containers`)] : [];
}
