import type { CronJob, CrontabFault } from "../../../syntax/crontab.ts";
import { findHostMaintenance } from "../../../syntax/host-maintenance.ts";
import { findLockTools } from "../../../syntax/lock-tools.ts";

/** Returns the reason why a line is not imported and stays in the crontab; undefined if it is imported. */
export function findSkipReason({ schedule, command, variables }: CronJob): string | undefined {
  if (/^@reboot$/i.test(schedule))
    return "@reboot has no time: the line is not imported, and stays with cron (or systemd)";
  const tool = findLockTools(command, variables)[0]?.name;
  if (tool === undefined) return undefined;
  if (tool === "signalbox run") return "the line uses signalbox run: it is not imported, and stays with cron";
  return (
    `the line takes a lock with ${tool}: it is not imported; convert it with signalbox migrate crontab, or remove` +
    ` ${tool} and import it, since runs of a schedule do not overlap`
  );
}

/** Returns a note about a line that seems to maintain its host. */
export function findHostWorkNote({ command, variables }: CronJob): string | undefined {
  const work = findHostMaintenance(command, variables);
  if (work === undefined) return undefined;
  return (
    `the line seems to maintain the host itself (${work}): as a schedule, it runs on one host each time;` +
    " if every host needs it, keep it in the crontabs"
  );
}

/** Formats a fault of the crontab that does not prevent the import. */
export function formatFaultNote({ isUnfinished, detail }: CrontabFault): string {
  return isUnfinished ? `${detail}; it is imported` : detail;
}
