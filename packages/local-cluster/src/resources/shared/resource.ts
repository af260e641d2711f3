/**
 * What the API server knows of one resource: its names, its rules, its subresources.
 *
 * The verbs (api/) are the same for all resources and ask these rules; a rule is a pure function of objects and of the
 * context of the request. Order on create: decode → defaults → admit → prepareForCreate → validateCreate → store; on
 * update and patch: decode → defaults → prepareForUpdate → validateUpdate → store.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, ObjectRef, ResourceName } from '../../objects/api-object.ts';

/** One thing wrong with a field, as a cause in a Status. */
export interface FieldError {
  /** `spec.template.spec.restartPolicy`, `spec.containers[0].name`. */
  readonly field: string;
  readonly type:
    | 'FieldValueRequired'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueDuplicate'
    | 'FieldValueNotFound';
  readonly detail: string;
  /** The value at fault, where the API server names it. */
  readonly value?: Json;
}

/** A refusal by a rule that is no validation error. */
export interface Refusal {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  /** Status.details, where they are not group, kind and name of the request. */
  readonly details?: JsonObject;
}

/** What a rule may look at besides its objects. */
export interface RuleContext {
  /** Now, RFC 3339 in whole seconds. */
  readonly nowText: string;
  /** A live read, for admission. */
  readonly read: (ref: ObjectRef) => ApiObject | undefined;
  /** Unique text: names of generated volumes, … */
  readonly uniqueId: () => string;
}

/** The rules of one resource. All are total functions; none throws for bad input. */
export interface ResourceRules {
  /** Fills in defaults (create, update and every patch result). */
  applyDefaults(object: ApiObject): ApiObject;
  /** Admission plug-ins that are on by default: may change or refuse a new object. */
  admit?(object: ApiObject, context: RuleContext): ApiObject | Refusal;
  /** Admission plug-ins that only refuse: they are asked about a new object that is valid. */
  refuse?(object: ApiObject, context: RuleContext): Refusal | undefined;
  /** Clears status, sets generation and whatever a client may not choose. */
  prepareForCreate(object: ApiObject, context: RuleContext): ApiObject;
  validateCreate(object: ApiObject): readonly FieldError[];
  /** Keeps what this update may not touch (status), counts the generation. */
  prepareForUpdate(next: ApiObject, current: ApiObject): ApiObject;
  validateUpdate(next: ApiObject, current: ApiObject): readonly FieldError[];
  /**
   * Texts of Warning headers for a create (no `current`) or update that was accepted; not asked by views, and not part of
   * the decision.
   */
  readonly warnings?: (object: ApiObject, current?: ApiObject) => readonly string[];
  /** Grace for a deletion that asked for `requestedSeconds` (undefined: no wish); undefined: no graceful deletion. */
  deletionGraceSeconds?(
    object: ApiObject,
    requestedSeconds: number | undefined,
  ): number | undefined;
}

/** What can be done under `/{name}/{subresource}`. */
export type Subresource =
  | {
      /** GET, PUT and PATCH of the object through other rules: status, and finalize of a namespace. */
      readonly kind: 'view';
      readonly name: string;
      readonly prepareForUpdate: ResourceRules['prepareForUpdate'];
      readonly validateUpdate: ResourceRules['validateUpdate'];
    }
  | {
      /** POST only: binding, eviction. */
      readonly kind: 'action';
      readonly name: string;
      /** Group, version and kind of the body, where they are not the resource's. */
      readonly bodyKind: {
        readonly group: string;
        readonly version: string;
        readonly kind: string;
      };
      readonly run: (input: ActionInput) => ActionOutcome;
    };

/** What an action gets. */
export interface ActionInput {
  readonly object: ApiObject;
  readonly body: JsonObject;
  readonly context: RuleContext;
  readonly query: URLSearchParams;
}

/** What an action wants done; the verbs do it. */
export type ActionOutcome =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Replace the object, answer with `body` (201) — binding. */
  | { readonly kind: 'replace'; readonly object: ApiObject; readonly body: JsonObject }
  /**
   * Delete the object with these DeleteOptions, answer with a Success Status (201) — eviction. With `object`: first
   * replace it with that, once the options' preconditions are met; the deletion then goes on from there.
   */
  | { readonly kind: 'delete'; readonly options: JsonObject; readonly object?: ApiObject };

/** A verb of the API, as discovery lists them. */
export type Verb =
  'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** One resource of the local API server. */
export interface Resource {
  readonly resourceName: ResourceName;
  /** '' for core. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly isNamespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly rules: ResourceRules;
  readonly subresources: readonly Subresource[];
  /** Values of the fields that a field selector may name besides metadata.name and metadata.namespace. */
  readonly selectableFields: (object: ApiObject) => Readonly<Record<string, string>>;
  /** PUT without metadata.resourceVersion is taken. */
  readonly allowsUnconditionalUpdate: boolean;
  /** PUT or apply of an object that does not exist creates it (leases, events, RBAC …). */
  readonly allowsCreateOnUpdate: boolean;
  /** Its fields have owners, and it takes server-side apply. */
  readonly keepsOwners: boolean;
  /** Of a custom kind: what its definition says of its objects. */
  readonly custom?: CustomTypes;
}

/** What a CustomResourceDefinition says of the objects of a version. */
export interface CustomTypes {
  /** An OpenAPI v3 schema. */
  readonly schema: JsonObject;
  /** Its additionalPrinterColumns. */
  readonly columns: readonly JsonObject[];
}
