/**
 * Warnings about ports that several containers of a pod define, or that go by the same name.
 *
 * Two ports are the same by number and protocol; they are duplicates, overlap, or are ambiguous, by what they claim of
 * the host. Nothing is refused here; the texts are the real server's, as kubectl prints them. Each port is compared
 * with those before it, so the number of ports of a pod is assumed to be small.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import { at } from '../../shared/field-errors.ts';
import { listAt, numberAt, textAt } from '../../shared/json-edit.ts';

interface PlacedPort {
  readonly port: JsonObject;
  readonly field: string;
}

/** Warnings about the ports of these containers. */
export function portWarnings(
  containers: readonly { readonly container: JsonObject; readonly field: string }[],
): readonly string[] {
  const ports = containers.flatMap(({ container, field }) =>
    listAt(container, 'ports').map((port, index) => ({ port, field: at(`${field}.ports`, index) })),
  );
  return [
    ...ports.flatMap((port, index) => overlaps(port, ports.slice(0, index))),
    ...nameWarnings(ports),
  ];
}

function overlaps({ port, field }: PlacedPort, earlier: readonly PlacedPort[]): readonly string[] {
  const [address, hostPort] = [textAt(port, 'hostIP'), numberAt(port, 'hostPort') ?? 0];
  const warnings: string[] = [];
  if (address !== '' && hostPort === 0) warnings.push(`${field}: hostIP set without hostPort`);
  for (const other of earlier) {
    if (identityOf(other.port) !== identityOf(port)) continue;
    const words = overlapOf(
      { address, hostPort },
      {
        address: textAt(other.port, 'hostIP'),
        hostPort: numberAt(other.port, 'hostPort') ?? 0,
      },
    );
    if (words !== undefined)
      warnings.push(`${field}: ${words} port definition with ${other.field}`);
  }
  return warnings;
}

function identityOf(port: JsonObject): string {
  return `${String(numberAt(port, 'containerPort') ?? 0)}/${textAt(port, 'protocol')}`;
}

interface HostSide {
  readonly address: string;
  /** 0: none. */
  readonly hostPort: number;
}

function overlapOf(one: HostSide, other: HostSide): string | undefined {
  if (one.address === other.address && one.hostPort === other.hostPort) return 'duplicate';
  if (one.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  const isOneOpen = (one.address === '') !== (other.address === '');
  return one.hostPort === other.hostPort && isOneOpen ? 'dangerously ambiguous' : undefined;
}

function nameWarnings(ports: readonly PlacedPort[]): readonly string[] {
  const fields = new Map<string, string>();
  return ports.flatMap(({ port, field }) => {
    const name = textAt(port, 'name');
    if (name === '') return [];
    const other = fields.get(name);
    if (other === undefined) {
      fields.set(name, field);
      return [];
    }
    return [
      `${field}: duplicate port name "${name}" with ${other}, services and probes that select ports by name will use ${other}`,
    ];
  });
}
