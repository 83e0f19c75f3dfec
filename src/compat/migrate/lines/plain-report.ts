import type { CronJob } from "../../../syntax/crontab.ts";
import { findHostMaintenance } from "../../../syntax/host-maintenance.ts";
import type { LineReport, MigrationOptions } from "../migration.ts";
import { UntranslatableError } from "../migration.ts";
import { buildPlainEdit, parsePlainLine } from "../plain-line.ts";
import { applyEdits, type DecodedCommand } from "./edits.ts";

/** Reports on a line without a lock. @throws UntranslatableError if it cannot have one */
export function buildPlainReport(
  kept: LineReport,
  job: CronJob,
  command: DecodedCommand,
  options: MigrationOptions,
  names: ReadonlyMap<string, string>,
): LineReport | undefined {
  if (/\bsignalbox\b/.test(command.text)) return undefined;
  const ofHost = findHostNote(job, command.text);
  if (ofHost !== undefined) return { ...kept, notes: [ofHost] };
  if (kept.before.endsWith("\r")) throw new UntranslatableError("it ends in a carriage return");
  const plain = parsePlainLine(command.text, job.variables);
  if (plain === undefined) return undefined;
  const lock = names.get(plain.text) ?? plain.name;
  const after = applyEdits(kept.before, command, [buildPlainEdit(plain, lock, options.program, job)]);
  const note =
    `${findOwnLockNote(command.text) ?? "it had no lock; now"} hosts that have this line run it one at a time, and those that` +
    ` find lock ${lock} taken skip it; a short job also needs --grace 50s, or a host whose clock is late runs it again`;
  return { ...kept, after, notes: [note] };
}

/** Returns a note for a line that every host must run itself. */
function findHostNote({ schedule, variables }: CronJob, text: string): string | undefined {
  if (schedule.toLowerCase() === "@reboot")
    return "it runs at the boot of each host, and stays without a lock";
  const work = findHostMaintenance(text, variables);
  return work && `it seems to maintain the host itself (${work}), and stays without a lock`;
}

/** Returns a note about a hand-made lock in the line, which stays as it is. */
function findOwnLockNote(text: string): string | undefined {
  const [found] = /\b(?:pgrep|pidof)\b|\S+\.(?:lock|lck|pid)\b/.exec(text) ?? [];
  return found && `its use of ${found} stays, and counts for each host alone; now also`;
}
