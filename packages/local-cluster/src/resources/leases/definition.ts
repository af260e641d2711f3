/**
 * Leases: who holds something and until when; every node renews one every ten seconds (spec node-agent 9), so these
 * rules run most of all.
 *
 * An update must carry the version that it read, because that is how holders exclude each other; a PUT may create.
 * Whether a lease has expired is for its readers to tell: nothing here looks at the clock. Coordinated leader election
 * is off, as it is by default.
 */
import type { ApiObject } from '../../objects/api-object.ts';
import { defineResource } from '../shared/define-resource.ts';
import type { FieldError, Resource } from '../shared/resource.ts';
import { invalid, nonNegative } from '../shared/field-errors.ts';
import { editObjectAt, numberAt, objectAt, withoutMember } from '../shared/json-edit.ts';
import { validateMetadata, validateMetadataUpdate } from '../shared/metadata-validation.ts';
import { checkSubdomain } from '../shared/names.ts';

const METADATA_RULES = { isNamespaced: true, checkName: checkSubdomain };

/** leases.coordination.k8s.io. */
export const LEASES: Resource = defineResource({
  group: 'coordination.k8s.io',
  plural: 'leases',
  singular: 'lease',
  kind: 'Lease',
  isNamespaced: true,
  keepsOwners: false,
  rules: {
    prepareForCreate: dropDisabledFields,
    validateCreate: (object) => [
      ...validateMetadata(object, METADATA_RULES),
      ...validateSpec(object),
    ],
    prepareForUpdate: dropDisabledFields,
    validateUpdate: (next, current) => [
      ...validateMetadataUpdate(next, current),
      ...validateSpec(next),
    ],
  },
  allowsUnconditionalUpdate: false,
  allowsCreateOnUpdate: true,
});

/** Coordinated leader election is off by default: its fields are dropped. */
function dropDisabledFields(object: ApiObject): ApiObject {
  return editObjectAt(object, 'spec', (spec) =>
    withoutMember(withoutMember(spec, 'strategy'), 'preferredHolder'),
  );
}

function validateSpec(object: ApiObject): readonly FieldError[] {
  const spec = objectAt(object, 'spec');
  const duration = numberAt(spec, 'leaseDurationSeconds');
  const errors: FieldError[] = [];
  if (duration !== undefined && duration <= 0) {
    errors.push(invalid('spec.leaseDurationSeconds', duration, 'must be greater than 0'));
  }
  errors.push(...nonNegative('spec.leaseTransitions', numberAt(spec, 'leaseTransitions')));
  return errors;
}
