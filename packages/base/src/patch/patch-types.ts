/**
 * Where in the types a strategic merge patch is: a struct, a map of something, raw JSON, or somewhere that the types do
 * not know.
 *
 * Outside the types everything merges member by member and lists are replaced. Inside raw JSON members can be set and
 * removed; merging two of them is refused as on the real server, which looks for their types in vain.
 */
import { PatchError } from './patch-outcome.ts';

/** How a field is typed, for patches. */
export interface PatchField {
  /** `raw`: JSON of which the types say nothing, such as a ControllerRevision's data. */
  readonly shape: 'object' | 'list' | 'map' | 'scalar' | 'raw';
  /** Of an object, of the items of a list, of the values of a map: its struct, if it is one. */
  readonly struct?: string;
  /** Strategic merge: lists merge instead of being replaced; objects may retain keys. */
  readonly patchStrategies: readonly ('merge' | 'replace' | 'retainKeys')[];
  /** By which key merging lists of objects match; absent for lists of scalars. */
  readonly patchMergeKey?: string;
}

/** The types that a patch is read by. */
export interface PatchSchema {
  /** A field of a struct; undefined when there is none. */
  field(struct: string, name: string): PatchField | undefined;
}

/** The type of an object that is being merged. */
export type PatchType =
  | { readonly kind: 'struct'; readonly struct: string }
  | { readonly kind: 'map'; readonly valueStruct?: string }
  | { readonly kind: 'raw' }
  | { readonly kind: 'unknown' };

/** How a member merges, and the type of what it holds (of its items, for a list). */
export interface MemberType {
  readonly isReplaced: boolean;
  readonly isMergedList: boolean;
  readonly mergeKey?: string;
  readonly type: PatchType;
}

const UNKNOWN: PatchType = { kind: 'unknown' };
const UNKNOWN_MEMBER: MemberType = { isReplaced: false, isMergedList: false, type: UNKNOWN };

/** Looks a member up; throws PatchError inside raw JSON. */
export function memberType(schema: PatchSchema, type: PatchType, name: string): MemberType {
  switch (type.kind) {
    case 'struct': {
      const field = schema.field(type.struct, name);
      return field === undefined ? UNKNOWN_MEMBER : memberOf(field);
    }
    case 'map':
      return type.valueStruct === undefined
        ? UNKNOWN_MEMBER
        : { ...UNKNOWN_MEMBER, type: { kind: 'struct', struct: type.valueStruct } };
    case 'raw':
      throw new PatchError(
        'failed',
        `unable to find api field in raw JSON for the field "${name}"`,
      );
    case 'unknown':
      return UNKNOWN_MEMBER;
  }
}

function memberOf({ shape, struct, patchStrategies, patchMergeKey }: PatchField): MemberType {
  return {
    isReplaced: patchStrategies.includes('replace'),
    isMergedList: patchStrategies.includes('merge'),
    ...(patchMergeKey === undefined ? {} : { mergeKey: patchMergeKey }),
    type: innerType(shape, struct),
  };
}

function innerType(shape: PatchField['shape'], struct: string | undefined): PatchType {
  if (shape === 'raw') return { kind: 'raw' };
  if (shape === 'map')
    return { kind: 'map', ...(struct === undefined ? {} : { valueStruct: struct }) };
  return struct === undefined ? UNKNOWN : { kind: 'struct', struct };
}
