import type { Clock } from "../base/clock.ts";
import type { CommandHost } from "./command.ts";
import { Guarded } from "./guarded.ts";
import { locateGuardian } from "./locate.ts";

/**
 * Real commands under real guardians.
 * @param guardian path of the binary; by default the one that was built with this program
 * @throws SignalboxError from `prepare`: 78 when there is no working guardian, 126 when the arguments are too long
 */
export function guardianHost(clock: Clock, guardian?: string): CommandHost {
  return {
    async prepare(spec) {
      const guarded = new Guarded(guardian ?? locateGuardian(), spec, clock);
      await guarded.ready;
      return guarded;
    },
  };
}
