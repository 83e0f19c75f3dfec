import { existsSync, readFileSync, statSync } from "node:fs";
import type { Finding } from "../../../base/finding.ts";
import { quoteText } from "../../../base/text.ts";
import type { CronJob } from "../../../syntax/crontab.ts";

const DEBIAN_NAMES =
  "cron of Debian and Ubuntu ignores files in cron.d whose names have characters other than letters, digits, _ and -";
/** Names that dpkg, editors and people give to files that cron must ignore. */
const KEPT_ASIDE = /(?:\.(?:dpkg-\w+|ucf-\w+|bak|old|orig|sw[op]|disabled)|~)$/;

/** Warns about files of cron.d that cron ignores: by their name, their mode or their owner. */
export function judgeCrontabFile(path: string): Finding[] {
  const [, name] = /(?:^|\/)cron\.d\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) return [];
  const createFinding = (detail: string, remedy: string): Finding => {
    const level = KEPT_ASIDE.test(name) ? "hint" : "warning";
    return { kind: "crontab-file", check: path, level, detail, remedy };
  };
  const isNamed = /^[\w-]+$/.test(name);
  const fault = findOwnershipFault(path);
  return [
    ...(isNamed ? [] : [createFinding(DEBIAN_NAMES, "rename it")]),
    ...(fault === undefined ? [] : [createFinding(fault, `chown root ${path}; chmod 644 ${path}`)]),
  ];
}

/** The group and the owner matter only where cron reads the file, not in a working copy of its source. */
function findOwnershipFault(path: string): string | undefined {
  const isInstalled = path.startsWith("/etc/");
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) return undefined;
  const mode = (status.mode & 0o777).toString(8).padStart(4, "0");
  if ((status.mode & (isInstalled ? 0o022 : 0o002)) !== 0)
    return `cron ignores files that others than the owner can write; its mode is ${mode}`;
  if (isInstalled && status.uid !== 0)
    return `cron ignores files that do not belong to root; its owner is ${status.uid}`;
  return undefined;
}

/** Characters that word processors and web pages write for those of ASCII, and invisible ones. */
const TYPOGRAPHY: readonly [pattern: RegExp, name: string, instead: string][] = [
  [/[\u2018-\u201f\u2032-\u2036\u00ab\u00bb\u00b4]/u, "a typographic quote", "write ' or \" instead"],
  [/[\u2010-\u2015\u2212]/u, "a dash that is not a minus", "write - instead"],
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/u, "a blank that is not a space", "write a space instead"],
  [/[\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2064\ufeff]/u, "an invisible character", "remove it"],
];

/** Finds characters that are not ASCII in the lines of a crontab. The shell gives none of them a meaning. */
export function findForeignCharacters(path: string, text: string): Finding[] {
  const hasLocale = /^[ \t]*["']?(?:LANG|LC_ALL|LC_CTYPE)["']?[ \t]*=/m.test(text);
  return text.split("\n").flatMap((line, index): Finding[] => {
    if (/^[ \t]*(?:#|$)/.test(line)) return [];
    const about = { kind: "characters", check: `${path}:${index + 1}` };
    const mark = TYPOGRAPHY.find(([pattern]) => pattern.test(line));
    if (mark !== undefined) {
      const [pattern, name, remedy] = mark;
      const char = pattern.exec(line)?.[0] ?? "";
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      const detail = `it has ${name} (U+${code}), which is part of a word for the shell and for cron`;
      return [{ ...about, level: "warning", detail, remedy }];
    }
    const [char] = /[\u0080-\u{10ffff}]/u.exec(line) ?? [];
    if (char === undefined || hasLocale) return [];
    const detail = `it has characters that are not ASCII, such as ${quoteText(char)}; cron may start commands without a UTF-8 locale`;
    return [{ ...about, level: "hint", detail, remedy: "write above the line: LANG=C.UTF-8" }];
  });
}

/** Finds lines with the time, the user, the command and the variables of a line before them. */
export function findRepeatedLines(path: string, jobs: readonly CronJob[]): Finding[] {
  const first = new Map<string, number>();
  return jobs.flatMap(({ line, schedule, user = "", command, input = "", variables }) => {
    const key = JSON.stringify([schedule.split(/\s+/), user, command, input, [...variables]]);
    const earlier = first.get(key);
    first.set(key, earlier ?? line);
    if (earlier === undefined) return [];
    const detail = `it is the same as line ${earlier}: cron starts the command twice`;
    return [
      { kind: "twice", check: `${path}:${line}`, level: "warning" as const, detail, remedy: "remove one" },
    ];
  });
}

/** Reports a user of a system crontab whom this host does not have. */
export function findUnknownUser({ user }: CronJob, check: string): Finding[] {
  if (user === undefined || !existsSync("/etc/passwd")) return [];
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  if (users.some((line) => line.startsWith(`${user}:`))) return [];
  const detail = `user ${quoteText(user)} is not in /etc/passwd: unless a directory service has it, cron does not run the line`;
  return [
    { kind: "user", check, level: "warning", detail, remedy: "correct the user, or create it on this host" },
  ];
}
