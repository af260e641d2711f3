/**
 * A pod's network: DNS, aliases of hosts, host names, and ports in the host's network.
 *
 * Assumes defaults: in a pod of the host's network every host port has been filled in from the container's, in a
 * template it may still be missing. Ports themselves are port-validation's; whether a host port is free is the
 * scheduler's question and the node's.
 */
import { isIP } from 'node:net';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { FieldError } from '../shared/resource.ts';
import { at, invalid, invalidText, oneOf, required } from '../shared/field-errors.ts';
import { listAt, numberAt, optionalObjectAt, textAt, textsAt } from '../shared/json-edit.ts';
import { checkLabel, checkSubdomain } from '../shared/names.ts';

const DNS_POLICIES = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const NAMESERVERS_MAX = 3;
const SEARCHES_MAX = 32;

/** What concerns the network in the spec at `field`. */
export function validateNetwork(
  spec: JsonObject,
  field: string,
  place: 'pod' | 'template',
): readonly FieldError[] {
  const errors: FieldError[] = [
    ...validateHostNetwork(spec, field, place),
    ...oneOf(`${field}.dnsPolicy`, textAt(spec, 'dnsPolicy'), DNS_POLICIES),
    ...validateDnsConfig(spec, `${field}.dnsConfig`),
  ];
  for (const key of ['hostname', 'subdomain']) {
    const text = textAt(spec, key);
    if (text !== '') errors.push(...invalidText(`${field}.${key}`, text, checkLabel(text)));
  }
  for (const [index, alias] of listAt(spec, 'hostAliases').entries()) {
    errors.push(...validateAlias(alias, at(`${field}.hostAliases`, index)));
  }
  return errors;
}

/** In the host's network a port is the same inside and outside; a template may leave it open. */
function validateHostNetwork(
  spec: JsonObject,
  field: string,
  place: 'pod' | 'template',
): readonly FieldError[] {
  if (spec['hostNetwork'] !== true) return [];
  return listAt(spec, 'containers').flatMap((container, index) =>
    listAt(container, 'ports').flatMap((port, portIndex) => {
      const hostPort = numberAt(port, 'hostPort') ?? 0;
      if (hostPort === (numberAt(port, 'containerPort') ?? 0)) return [];
      if (place === 'template' && hostPort === 0) return [];
      const portField = at(`${at(`${field}.containers`, index)}.ports`, portIndex);
      return [
        invalid(
          `${portField}.hostPort`,
          hostPort,
          'must match `containerPort` when `hostNetwork` is true',
        ),
      ];
    }),
  );
}

function validateDnsConfig(spec: JsonObject, field: string): readonly FieldError[] {
  const config = optionalObjectAt(spec, 'dnsConfig');
  const isNone = textAt(spec, 'dnsPolicy') === 'None';
  if (config === undefined) {
    return isNone ? [required(field, 'must provide `dnsConfig` when `dnsPolicy` is None')] : [];
  }
  const nameservers = textsAt(config, 'nameservers');
  if (isNone && nameservers.length === 0) return [required(`${field}.nameservers`)];
  return [
    ...validateNameservers(nameservers, `${field}.nameservers`),
    ...validateSearches(textsAt(config, 'searches'), `${field}.searches`),
    ...listAt(config, 'options').flatMap((option, index) =>
      textAt(option, 'name') === ''
        ? [required(at(`${field}.options`, index), 'must not be empty')]
        : [],
    ),
  ];
}

function validateNameservers(nameservers: readonly string[], field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (nameservers.length > NAMESERVERS_MAX) {
    errors.push(invalid(field, nameservers, 'must not have more than 3 nameservers'));
  }
  for (const [index, address] of nameservers.entries()) {
    if (isIP(address) !== 0) continue;
    errors.push(invalid(at(field, index), address, 'must be a valid IP address'));
  }
  return errors;
}

function validateSearches(searches: readonly string[], field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (searches.length > SEARCHES_MAX) {
    errors.push(invalid(field, searches, 'must not have more than 32 search paths'));
  }
  for (const [index, search] of searches.entries()) {
    if (search === '.') continue;
    // Underscores are let through, and the dot at the end of a full name.
    const name = search.replace(/\.$/, '').replaceAll('_', '-');
    errors.push(...invalidText(at(field, index), search, checkSubdomain(name)));
  }
  return errors;
}

function validateAlias(alias: JsonObject, field: string): readonly FieldError[] {
  const address = textAt(alias, 'ip');
  const errors: FieldError[] = [];
  if (isIP(address) === 0)
    errors.push(invalid(`${field}.ip`, address, 'must be a valid IP address'));
  for (const [index, name] of textsAt(alias, 'hostnames').entries()) {
    errors.push(...invalidText(at(`${field}.hostnames`, index), name, checkSubdomain(name)));
  }
  return errors;
}
