/**
 * Everybody who is told of fleets: an event bus and a mirror, each where it is configured; nobody where neither is (issue 18, ADR 0068).
 *
 * Nothing rejects and nothing waits for long: what fails is logged and counted, and a rollout goes on. Decides nothing of a fleet.
 */
import type { FleetAudience } from '../../../ports/fleet-audience.ts';
import { tellBus } from './tell-bus.ts';
import type { BusOptions } from './tell-bus.ts';
import { MirrorShow } from './mirror-show.ts';
import type { MirrorOptions } from './mirror-show.ts';
import type { ProcessPorts } from '../../../ports/process.ts';

/** Who there is. */
export interface AudienceOptions {
  readonly process: Pick<ProcessPorts, 'clock' | 'log' | 'metrics'>;
  /** Absent: no bus. */
  readonly bus?: BusOptions;
  /** Absent: no mirror, whatever the registry says. */
  readonly mirror?: MirrorOptions;
}

/** Whoever is configured. */
export function createFleetAudience({ process, bus, mirror }: AudienceOptions): FleetAudience {
  const show = mirror && new MirrorShow(mirror, process);
  const guarded = async <Done>(
    what: string,
    work: Promise<Done> | undefined,
  ): Promise<Done | 'failed' | undefined> => {
    try {
      return await work;
    } catch (error) {
      // A table that does not answer, or a bug of ours: neither is the rollout's.
      process.metrics.count('FleetAudienceFailures', { outcome: what });
      process.log.error('the audience of fleets failed', { what }, error);
      return 'failed';
    }
  };
  return {
    tell: async (decisions) => {
      await guarded('tell', bus && tellBus(decisions, bus, process));
    },
    show: async (record) => {
      await guarded('show', show?.show(record));
    },
    hide: async (fleet) => {
      const done = await guarded('hide', show?.hide(fleet));
      return done === 'later' || done === 'failed' ? 'later' : 'hidden';
    },
  };
}
