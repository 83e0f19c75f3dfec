import { parseShellCommands } from "./shell-parser.ts";
import { findRemoteCommand, getBaseName, unwrapWords } from "./shell-wrappers.ts";

/** Programs that maintain the host they run on. Each host must run them itself. */
const PROGRAMS = new Set(
  (
    "run-parts logrotate anacron logcheck sa1 sa2 debian-sa1 sadc updatedb updatedb.mlocate fstrim checkarray mdadm " +
    "e2scrub_all e2scrub_all_cron ntpdate ntpd chronyc hwclock sessionclean apt apt-get aptitude apticron cron-apt " +
    "unattended-upgrade unattended-upgrades yum dnf zypper pacman snap certbot smartctl service systemctl initctl " +
    "invoke-rc.d reboot shutdown poweroff journalctl tmpreaper tmpwatch systemd-tmpfiles freshclam mandb vnstat " +
    "chkrootkit rkhunter aide popularity-contest zpool btrfs lvm etckeeper munin-node rotate-stats sync swapoff swapon"
  ).split(" "),
);
const OF_FILES = /^(?:find|rm|gzip|bzip2|xz|truncate|mv|cp|tar|chown|chmod|touch)$/;
const OWN_FOLDERS = /^\/(?:tmp|run|proc|sys|etc|boot|var\/(?:log|tmp|cache|run|spool|crash))(?:\/|$)/;

/**
 * Finds the part of a line that maintains the host itself, such as rotating its logs, its cron.daily or its own files.
 * One host cannot do this for others. The result is a heuristic based on names and is suitable for a warning only.
 */
export function findHostMaintenance(
  line: string,
  variables: ReadonlyMap<string, string>,
): string | undefined {
  const commands = parseShellCommands(line, variables);
  if ("fault" in commands) return undefined;
  return commands.value
    .map(({ words }) => findCommandMaintenance(words))
    .find((found) => found !== undefined);
}

function findCommandMaintenance(words: readonly string[]): string | undefined {
  const own = words.slice(unwrapWords(words).program);
  const [program = "", ...args] = own;
  const name = getBaseName(program);
  if (findRemoteCommand(own) !== undefined) return undefined;
  if (PROGRAMS.has(name)) return name;
  const folder = OF_FILES.test(name) ? args.find((word) => OWN_FOLDERS.test(word)) : undefined;
  return folder === undefined ? undefined : `${name} ${folder}`;
}
