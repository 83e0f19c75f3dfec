import type { CronJob, CrontabFault } from "../../../syntax/crontab.ts";
import { findHostMaintenance } from "../../../syntax/host-maintenance.ts";
import { findLockTools } from "../../../syntax/lock-tools.ts";

/** Returns the reason why a line is not imported and stays in the crontab; undefined if it is imported. */
export function findSkipReason({ schedule, command, variables }: CronJob): string | undefined {
  if (/^@reboot$/i.test(schedule))
    return "@reboot is no time: it is not imported, and stays with cron (or systemd)";
  const tool = findLockTools(command, variables)[0]?.name;
  if (tool === undefined) return undefined;
  if (tool === "signalbox run")
    return "it says signalbox run already: it is not imported, and stays with cron";
  return (
    `it takes a lock by ${tool}: it is not imported; signalbox migrate crontab makes signalbox run of it, or take` +
    ` ${tool} out and import it, since a schedule does not overlap itself`
  );
}

/** Returns a note about a line that seems to maintain its host. */
export function findHostWorkNote({ command, variables }: CronJob): string | undefined {
  const work = findHostMaintenance(command, variables);
  if (work === undefined) return undefined;
  return (
    `it seems to look after the host itself (${work}): as a schedule, each time one host runs it and the others do not;` +
    " where every host needs it, leave it in their crontabs"
  );
}

/** Formats a fault of the crontab that does not prevent the import. */
export function formatFaultNote({ isUnfinished, detail }: CrontabFault): string {
  return isUnfinished ? `${detail}; it is imported` : detail;
}
