/**
 * One request to the local API server and its answer, apart from how they travel.
 *
 * The HTTPS server and the in-process client build the same requests and get the same answers, so that controllers and
 * node agents go through the same authorisation, defaults, validation and fences as kubectl does.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { Cancel } from '@rollcall/base/ports/clock.ts';
import type { ApiObject } from '../../objects/api-object.ts';

/** Who asks. */
export interface User {
  readonly name: string;
  /** `system:masters` may do everything. */
  readonly groups: readonly string[];
}

/** How a PATCH body is meant. */
export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

/** A request whose body has been read and parsed. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query as on the request line. */
  readonly target: string;
  readonly user: User;
  /** The Accept header; absent: application/json. */
  readonly accept?: string;
  /** The Content-Type header; absent: application/json. */
  readonly contentType?: string;
  readonly body?: Json;
  /** For events and logs. */
  readonly userAgent?: string;
}

/** One line of a watch. */
export interface WatchFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JsonObject;
}

/** Where a watch's frames go. */
export interface WatchSink {
  readonly frame: (frame: WatchFrame) => void;
  /** The server ends the watch: its time is over, or an ERROR frame was the last. */
  readonly end: () => void;
}

/** The answer to a request. */
export type ApiAnswer =
  | {
      readonly kind: 'object';
      readonly status: number;
      readonly body: JsonObject;
      /** Texts of `Warning: 299` headers. */
      readonly warnings?: readonly string[];
      /** Seconds of a Retry-After header. */
      readonly retryAfterSeconds?: number;
    }
  | {
      readonly kind: 'text';
      readonly status: number;
      readonly contentType: string;
      readonly text: string;
    }
  | { readonly kind: 'watch'; readonly open: (sink: WatchSink) => Cancel };

/** Answers requests; synchronous, so that each request is one atomic step of the store. */
export interface ApiHandler {
  handle(request: ApiRequest): ApiAnswer;
}

/** A Status object, the API's word for a refusal or a bare success. */
export interface Status extends JsonObject {
  readonly kind: 'Status';
  readonly apiVersion: 'v1';
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  /** E.g. `NotFound`, `AlreadyExists`, `Conflict`, `Invalid`, `Expired`, `Forbidden`. */
  readonly reason?: string;
  readonly code: number;
}

/** What was asked, as authorisation and the audit log see it. */
export interface RequestAttributes {
  readonly user: User;
  /** get, list, watch, create, update, patch, delete, deletecollection; for non-resource paths the lower-case method. */
  readonly verb: string;
  /** API group, '' for core. */
  readonly group: string;
  /** Plural; '' for a non-resource path. */
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  /** The path, for non-resource requests. */
  readonly path: string;
}

/** Decides whether a request may proceed. */
export interface Authorizer {
  authorize(attributes: RequestAttributes): { readonly allowed: boolean; readonly reason: string };
}

/** Told of every answered request; the scenarios' audit log is written from it. */
export type RequestObserver = (record: {
  readonly attributes: RequestAttributes;
  readonly status: number;
  readonly userAgent?: string;
  readonly object?: ApiObject;
}) => void;
