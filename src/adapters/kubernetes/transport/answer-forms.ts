/**
 * Forms of an answer that are asked for by the Accept header: metadata in place of whole objects, protobuf in place of JSON.
 *
 * An API server writes and sends less, and we parse less. It changes nothing of what is asked for, and no right is new. A single
 * object may come whole all the same: an older API server, or one without the form, says the same so, and more.
 */

/** Of one object. */
export const METADATA_ONLY =
  'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;q=0.9';

/** Of a list: by it alone, since whole objects of thousands of pods are what is to be spared. */
export const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** As it is. */
export const JSON_OBJECTS = 'application/json';

const PROTOBUF = 'application/vnd.kubernetes.protobuf';

/** As protobuf, in which an API server keeps its own objects; as JSON where it, or a proxy before it, has no other. */
export const PROTOBUF_OR_JSON = `${PROTOBUF},application/json;q=0.9`;

/** True of the content type of an answer in protobuf. */
export function isProtobuf(contentType: string | undefined): boolean {
  return contentType !== undefined && contentType.startsWith(PROTOBUF);
}
