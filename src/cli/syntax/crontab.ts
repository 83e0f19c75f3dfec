import { quoteText } from "../../core/base/text.ts";
import { LOCK_TOOLS } from "./lock-tools.ts";

/**
 * `user`: five fields and the command, as `crontab -l` prints. `system`: with a user before the command. `supercronic`: five
 * fields, six with a year at the end, seven with a second at the beginning too, or `@every 90s`; `%` has no meaning.
 */
export type CrontabFormat = "user" | "system" | "supercronic";

/** A line of a crontab that starts a command. */
export interface CronJob {
  /** From 1. */
  line: number;
  /** `*\/5 * * * *`, `@daily`; of supercronic also six or seven fields, and `@every 90s`. */
  schedule: string;
  user: string | undefined;
  /** The text that cron passes to the shell: up to the first `%` without a backslash, which is left out before a `%`. */
  command: string;
  /** Index of the command in the line. */
  start: number;
  /** The line has such a `%`. The text after it becomes standard input. */
  isCut: boolean;
  /** The text after the `%`, as lines. */
  input?: string;
  /** The comment directly above the line. */
  note?: string;
  /** Variables set by the preceding lines. */
  variables: ReadonlyMap<string, string>;
}

interface ScheduleFault {
  /**
   * Cron refuses the schedule, or it never fires. Otherwise the schedule is valid but may not be what the user
   * intended.
   */
  isFatal: boolean;
  detail: string;
}

/** A line that cron refuses, or reads differently than intended. */
export interface CrontabFault extends ScheduleFault {
  /** From 1. */
  line: number;
  /** Cron refuses the file for it, although every line can be parsed. */
  isOfFile?: true;
}

interface Crontab {
  jobs: readonly CronJob[];
  faults: readonly CrontabFault[];
}

/** A name (quotes optional), an equals sign, and the value (quotes optional). */
const VARIABLE = /^[ \t]*(?:"([^"]*)"|'([^']*)'|([^\s=]+))[ \t]*=[ \t]*(.*?)[ \t]*$/;
/** A word that is a field of a schedule rather than a program: `*`, `2026`, `1-5`, `mon-fri`. */
const FIELD =
  /^(?:[*?\d][*?\d/,~#LW-]*|(?:sun|mon|tue|wed|thu|fri|sat)(?:[-,](?:sun|mon|tue|wed|thu|fri|sat))*)$/i;
/** A schedule and the text after it. */
const JOB = /^[ \t]*(@\w+|-?\S+[ \t]+\S+[ \t]+\S+[ \t]+\S+[ \t]+\S+)(?:[ \t]+(.*))?$/;
const NICKNAMES = ["reboot", "yearly", "annually", "monthly", "weekly", "daily", "midnight", "hourly"];

const BYTE_ORDER_MARK = "\ufeff";
const MARKED =
  "the file begins with a byte-order mark (U+FEFF), which cron takes for a part of the first line, and refuses the file";

/** Parses a crontab as cron does (Vixie's, Debian's, cronie), or supercronic. @see crontab(5) */
export function parseCrontab(text: string, format: CrontabFormat): Crontab {
  const jobs: CronJob[] = [];
  const faults: CrontabFault[] = [];
  let variables: ReadonlyMap<string, string> = new Map();
  let comments: string[] = [];
  const isMarked = text.startsWith(BYTE_ORDER_MARK);
  if (isMarked) faults.push({ line: 1, isFatal: true, isOfFile: true, detail: MARKED });
  // A blank in its place keeps the positions of the words.
  const lines = (isMarked ? ` ${text.slice(1)}` : text).split("\n");
  const last = lines.pop();
  if (last !== undefined && last !== "") {
    lines.push(last);
    const detail = "the last line does not end in a newline, so cron ignores the file";
    if (format !== "supercronic") faults.push({ line: lines.length, isFatal: true, isOfFile: true, detail });
  }
  for (const [index, whole] of lines.entries()) {
    const line = index + 1;
    const content = whole.replace(/\r$/, "");
    if (content !== whole && content.trim() !== "")
      faults.push({
        line,
        isFatal: true,
        detail: "it ends in a carriage return (DOS), which becomes part of the command",
      });
    const comment = /^[ \t]*(?:#(.*)|$)/.exec(content);
    const above = comments;
    comments = comment?.[1] === undefined ? [] : [...above, comment[1].trim()];
    if (comment !== null) continue;
    const variable = VARIABLE.exec(content);
    if (variable !== null) {
      const [name, value] = parseVariable(variable);
      variables = new Map([...variables, [name, value]]);
      if (/^(?:CRON_)?TZ$/.test(name) && JOB.test(value.replace(/^\S+/, "")))
        faults.push({
          line,
          isFatal: true,
          detail: `all of it is the value of ${name}, so cron starts nothing: give ${name} a line of its own`,
        });
    } else parseJob({ line, content, format, variables, note: extractNote(above) }, jobs, faults);
  }
  return { jobs, faults };
}

function parseVariable([, double, single, bare = "", value = ""]: RegExpExecArray): [string, string] {
  const inner = /^(["'])(.*)\1$/.exec(value)?.[2];
  return [double ?? single ?? bare, inner ?? value];
}

interface CrontabLine {
  line: number;
  content: string;
  format: CrontabFormat;
  variables: ReadonlyMap<string, string>;
  note: string;
}

/**
 * Extracts the part of the comments that describes a line. Skips table headers (with their introduction and the field
 * drawing that systems add), rulers, and disabled lines.
 */
function extractNote(comments: readonly string[]): string {
  const head = comments.findLastIndex((text) => /^(m\s+h\s+dom\b|\.-|[|│┌])/.test(text));
  const isWord = (text: string) =>
    /[\p{L}\p{N}]/u.test(text) && !/^(@[a-z]+|[\d*/,-]+(\s+[\w*/,-]+){4})\s/i.test(text);
  return comments
    .slice(head + 1)
    .filter(isWord)
    .join(" ");
}

function parseJob(
  { line, content, format, variables, note }: CrontabLine,
  jobs: CronJob[],
  faults: CrontabFault[],
): void {
  const addFault = (detail: string) => faults.push({ line, isFatal: true, detail });
  const [, schedule, rest] =
    (format === "supercronic" ? matchSupercronicJob(content) : JOB.exec(content)) ?? [];
  if (schedule === undefined) return void addFault("it is neither a schedule of five fields nor a variable");
  const fields = schedule.replace(/^-/, "").split(/[ \t]+/);
  const fault = schedule.startsWith("@")
    ? findNicknameFault(schedule)
    : findScheduleFault(fields.length === 7 ? fields.slice(1) : fields);
  if (fault !== undefined) faults.push({ line, ...fault });
  const extra = schedule.startsWith("@") || format === "supercronic" ? 0 : countFields(rest ?? "", format);
  if (extra > 0)
    return void addFault(
      `the schedule has ${5 + extra} fields, but cron reads five, from the minute to the day of the week, and takes` +
        ` ${quoteText((rest ?? "").split(/[ \t]/, 1)[0] ?? "")} for ${format === "user" ? "the command" : "the user"}: ` +
        `${extra === 1 ? "if it is a year" : "if they are a second and a year"}, as supercronic reads it: --format supercronic;` +
        ` ${extra === 1 ? "if the first is a second, also write a year behind them: *; " : ""}write a program of that name with its path`,
    );
  const [user, command] = format === "system" ? splitUser(rest ?? "") : [undefined, rest];
  if (user !== undefined && user !== "" && !canBeUser(user))
    return void addFault(
      `the user is missing: this file has a user between the schedule and the command, and ${quoteText(user)} is not a user`,
    );
  if (command === undefined || command === "")
    return void addFault(
      rest === undefined || rest === "" || format !== "system"
        ? "there is no command after the schedule"
        : `there is no command after the user ${quoteText(rest)}; this is a crontab with a user before the command`,
    );
  const [flags] = /^-[nqs]+(?=[ \t])/.exec(command) ?? [];
  if (flags !== undefined)
    addFault(
      `the command begins with ${flags}, a flag of OpenBSD's cron, which others take for the program: leave it out`,
    );
  if (format === "user" && /^root[ \t]+[^-]/.test(command))
    addFault(
      'the command is "root": this was read as a crontab without a user before the command; if it has one: --format system',
    );
  jobs.push({
    line,
    schedule,
    user,
    variables,
    start: content.length - command.length,
    ...(format === "supercronic" ? { command: command.trimEnd(), isCut: false } : splitAtPercent(command)),
    ...(note !== "" && { note }),
  });
}

const INTERVAL_JOB = /^[ \t]*(@every[ \t]+\S+)(?:[ \t]+(.*))?$/;
const FIELDS_JOB = /^[ \t]*((?:\S+[ \t]+){4}\S+)(?:[ \t]+(.*))?$/;

/** Matches the schedule and the command of a line: of seven fields, else of six, else of five. */
function matchSupercronicJob(content: string): readonly (string | undefined)[] | undefined {
  const [whole, five = "", rest = ""] = FIELDS_JOB.exec(content) ?? [];
  const extra = content.trimStart().startsWith("@") ? 0 : countFields(rest, "user");
  if (extra === 0) return INTERVAL_JOB.exec(content) ?? JOB.exec(content) ?? undefined;
  const [, more = "", command] =
    (extra === 1 ? /^(\S+)(?:[ \t]+(.*))?$/ : /^(\S+[ \t]+\S+)(?:[ \t]+(.*))?$/).exec(rest) ?? [];
  return [whole, `${five} ${more}`, command];
}

/** Counts the fields after the fifth: a second and a year. A user can be called `mon`. */
function countFields(rest: string, format: CrontabFormat): number {
  const words = rest.split(/[ \t]+/, 2);
  const isField = (word = "") => FIELD.test(word) && (format === "user" || !canBeUser(word));
  return isField(words[0]) ? 1 + Number(FIELD.test(words[1] ?? "")) : 0;
}

const SCRIPT = /\.(?:sh|bash|py|pl|rb|php|js|ts|jar|exe)$/i;

/** Returns whether a word can be the name of a user: not a path, variable or script. */
function canBeUser(word: string): boolean {
  return /^[a-z_][a-z0-9._-]{0,31}\$?$/i.test(word) && !isScript(word);
}

function isScript(word: string): boolean {
  return SCRIPT.test(word);
}

function splitUser(rest: string): [string, string | undefined] {
  const [, user = "", command] = /^(\S+)(?:[ \t]+(.*))?$/.exec(rest) ?? [];
  return [user, command];
}

function findNicknameFault(schedule: string): ScheduleFault | undefined {
  const name = schedule.slice(1).toLowerCase();
  // FreeBSD has more nicknames, and supercronic intervals.
  if (NICKNAMES.includes(name) || /^(every_minute|\d+|every[ \t]+\S+)$/.test(name)) return undefined;
  return {
    isFatal: true,
    detail: `unknown schedule ${quoteText(schedule)}; use one of @${NICKNAMES.join(", @")}`,
  };
}

/** Splits a command at `%`. `\%` is a literal percent sign; a bare one ends the command. */
function splitAtPercent(command: string): Pick<CronJob, "command" | "isCut" | "input"> {
  const [kept = "", ...lines] = command.split(/(?<!\\)%/).map((part) => part.replaceAll("\\%", "%"));
  const isCut = lines.length > 0;
  return { command: kept.trimEnd(), isCut, ...(isCut && { input: lines.join("\n") }) };
}

interface CrontabField {
  what: string;
  least: number;
  most: number;
  names: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const FIELDS: readonly CrontabField[] = [
  { what: "minute", least: 0, most: 59, names: [] },
  { what: "hour", least: 0, most: 23, names: [] },
  { what: "day of the month", least: 1, most: 31, names: [] },
  { what: "month", least: 1, most: 12, names: MONTHS },
  { what: "day of the week", least: 0, most: 7, names: DAYS },
];
/** Maximum days of each month, with the longest February. */
const MONTH_LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Checks the five fields of a schedule. Returns a fault if it is not a valid schedule or never fires. */
export function findScheduleFault(fields: readonly string[]): ScheduleFault | undefined {
  const values: Set<number>[] = [];
  for (const [index, field] of FIELDS.entries()) {
    const read = parseField(fields[index] ?? "", field);
    if (typeof read === "string")
      return { isFatal: true, detail: `${field.what} ${quoteText(fields[index] ?? "")}: ${read}` };
    values.push(read);
  }
  const [, , days = new Set(), months = new Set()] = values;
  const [, , dayText = "", , weekdayText = ""] = fields;
  // If both day fields are restricted, either one is enough. Otherwise both must match.
  if (!dayText.startsWith("*") && !weekdayText.startsWith("*")) return undefined;
  return findDateFault(days, months);
}

function findDateFault(days: ReadonlySet<number>, months: ReadonlySet<number>): ScheduleFault | undefined {
  const first = Math.min(...days);
  const lengths = [...months].map((month) => MONTH_LENGTHS[month - 1] ?? 31);
  if (first > Math.max(...lengths))
    return { isFatal: true, detail: `it never fires: none of these months has a day ${first}` };
  const isLeapDay = first === 29 && Math.max(...lengths) === 29;
  return isLeapDay
    ? { isFatal: false, detail: "it fires only in leap years, on the 29th of February" }
    : undefined;
}

/** @returns the values that a field matches, or what is wrong with it */
function parseField(text: string, field: CrontabField): Set<number> | string {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [, range = "", step] = /^([^/]*)(?:\/(.*))?$/.exec(part) ?? [];
    const span = parseRange(range, field, step !== undefined);
    if (typeof span === "string") return span;
    if (step !== undefined && !/^0*[1-9]\d{0,3}$/.test(step))
      return `the step ${quoteText(step)} is not a number of 1 or more`;
    for (let value = span[0]; value <= span[1]; value += Number(step ?? 1)) found.add(value);
  }
  return found;
}

/** Parses the first and last value of a range. */
function parseRange(text: string, field: CrontabField, hasStep: boolean): [number, number] | string {
  const { least, most } = field;
  if (text === "*" || text === "~") return [least, most]; // cronie and OpenBSD accept `~`, which means any value
  const [from = "", to, ...more] = text.split(/[-~]/);
  const first = parseNumber(from, field);
  const last = to === undefined ? first : parseNumber(to, field);
  if (more.length > 0 || first === undefined || last === undefined)
    return `use a number from ${least} to ${most}, a range of them, or *`;
  if (hasStep && to === undefined)
    return `cron does not support a step after a single number; write ${first}-${most}/…`;
  return first <= last ? [first, last] : `the range runs backwards (${first} to ${last})`;
}

function parseNumber(text: string, { least, most, names }: CrontabField): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named >= 0) return named + least;
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most ? value : undefined;
}

/** The probable format of a crontab: with or without a user before each command. */
export interface FormatGuess {
  format: CrontabFormat;
  /** Why the result is uncertain: the lines of the file contradict each other, or the file can be read both ways. */
  doubt?: string;
}

/** What one line indicates: a user comes first, a command comes first, or it can be either. */
type Evidence = "user" | "system" | "likely system" | "unclear";

/** Sources of Debian packages contain `debian/cron.d` or `debian/NAME.cron.d`, which becomes a file in /etc/cron.d. */
const SYSTEM_PATH = /^\/etc\/(?:ana)?crontab$|(?:^|\/)cron\.d\/|(?:^|[/.])cron\.d$/;
const USER_PATH = /(?:^|\/)(?:spool\/cron|crontabs|spool\/fcron)\//;
/** A file of an image or of a project. Its lines may have no users. */
const LIKELY_SYSTEM_PATH = /(?:^|\/)etc\/(?:ana)?crontab$/;
/** Comments that programs and manuals write above the lines. */
const SYSTEM_HEAD =
  /^#.*(?:\/etc\/cron(?:tab|\.d)\b|system-wide crontab|\bdow?\s+(?:user|username)\b|\bweek\w*\)?\s+user\b|\*\s+user(?:-?name)?\s+command\b)/im;
const USER_HEAD =
  /^#.*(?:\bdow\s+command\b|edit this file to introduce tasks|DO NOT EDIT THIS FILE - edit the master)/im;

/**
 * Guesses the format of a crontab. Uses the path if it is conclusive; otherwise the lines, of which a few may be wrong;
 * otherwise the comments. Without any evidence, the crontab is a user's, as `crontab -l` prints it.
 */
export function guessCrontabFormat(path: string, text: string): FormatGuess {
  if (isSupercronic(text)) return { format: "supercronic" };
  if (SYSTEM_PATH.test(path)) return { format: "system" };
  if (USER_PATH.test(path)) return { format: "user" };
  const { jobs } = parseCrontab(text, "user");
  const evidence = jobs.map(({ line, command }) => ({ line, says: classifyCommand(command) }));
  const listLines = (says: Evidence) => evidence.filter((one) => one.says === says).map(({ line }) => line);
  const [system, user, unclear] = [listLines("system"), listLines("user"), listLines("unclear")];
  if (LIKELY_SYSTEM_PATH.test(path)) {
    if (system.length > 0 || user.length === 0) return { format: "system" };
    return {
      format: "user",
      doubt: `its path is that of a crontab with users, but line ${user[0]} has no user before the command`,
    };
  }
  if (system.length > 0 || user.length > 0) return decideByLines(system, user);
  const head = listLines("likely system").length > 0 ? "system" : detectHeadFormat(text);
  if (head !== undefined) return { format: head };
  if (unclear.length === 0) return { format: "user" };
  return {
    format: "system",
    doubt: `the first word of its commands may be a user or a program (line ${unclear[0]})`,
  };
}

/** Whether lines have what only supercronic reads: an interval, or seven fields. Six fields can also begin with a second. */
function isSupercronic(text: string): boolean {
  return text.split("\n").some((line) => {
    const [, rest = ""] = /^[ \t]*(?![#@])(?:\S+[ \t]+){4}\S+[ \t]+(.*)$/.exec(line) ?? [];
    return (
      /^[ \t]*@every[ \t]/.test(line) ||
      (rest !== "" && countFields(rest, "user") === 2 && FIELD.test(line.trim().split(/[ \t]/, 1)[0] ?? ""))
    );
  });
}

/** Decides by the majority of the lines. If only a few lines disagree, those lines are wrong. */
function decideByLines(system: readonly number[], user: readonly number[]): FormatGuess {
  const format = system.length >= user.length ? "system" : "user";
  const fewer = format === "system" ? user : system;
  const sum = system.length + user.length;
  if (fewer.length === 0 || (fewer.length === 1 && sum > 2) || fewer.length * 4 <= sum) return { format };
  return {
    format,
    doubt: `line ${system[0]} has a user before the command, and line ${user[0]} has none`,
  };
}

function detectHeadFormat(text: string): CrontabFormat | undefined {
  if (SYSTEM_HEAD.test(text)) return "system";
  return USER_HEAD.test(text) ? "user" : undefined;
}

/** @param rest  the text after the five fields of a line */
function classifyCommand(rest: string): Evidence {
  const [first = "", second] = rest.split(/[ \t]+/, 2);
  if (!canBeUser(first) || second === undefined || second.startsWith("-")) return "user";
  const isUser = USERS.has(first);
  if (!isUser && CRONTAB_COMMANDS.has(first)) return "user";
  if (isUser && !AMBIGUOUS_USERS.has(first)) return "system";
  if (isShellSyntax(second)) return "system";
  if (!isProgram(second)) return "unclear";
  return isUser ? "system" : "likely system"; // it may also be a site-specific program that starts other programs
}

/** Returns whether a word is shell syntax. Only a shell can run it, so no other program precedes it. */
function isShellSyntax(word: string): boolean {
  return /^(?:cd|test|\[{1,2}|if|for|while|export|\.|\{|\(.*|[A-Za-z_]\w*=.*)$/.test(word);
}

/** Returns whether a word is more likely a program than an argument. */
function isProgram(word: string): boolean {
  return (
    CRONTAB_COMMANDS.has(word) ||
    isScript(word) ||
    /^\/(?:\S+\/)?(?:s?bin|lib\w*|share|scripts?)\//.test(word)
  );
}

const parseWordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Users that a distribution, a package or a convention creates. Some of them are also commands. */
const USERS = parseWordSet(`
  root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats nobody _apt messagebus sshd
  systemd-network systemd-timesync systemd-resolve syslog ntp _ntp ntpsec statd postfix postdrop postgres mysql mariadb
  redis mongodb memcache memcached rabbitmq elasticsearch opensearch solr kibana logstash grafana prometheus influxdb
  telegraf zabbix nagios nrpe icinga munin cacti smokeping logcheck amavis clamav debian-spamd spamd dovecot vmail exim
  Debian-exim debian-tor tor bind named unbound nginx apache apache2 httpd http www web webapp tomcat jetty wildfly
  jenkins gitlab git gitea svn mailman opendkim asterisk freeswitch oracle hadoop hdfs hive spark airflow celery django
  rails odoo nextcloud owncloud mastodon discourse moodle wordpress psaadm cpanel deploy deployer app appuser user
  username ubuntu debian centos ec2-user admin vagrant pi operator ftp squid libuuid colord sa_spamd puppet consul vault
`);

/** Users whose name is also a command: `mail -s x`, `sync`, `git pull`. The next word decides. */
const AMBIGUOUS_USERS = parseWordSet(`
  bin sync games man mail news backup list proxy postgres mysql redis git svn mailman nginx apache2 httpd logcheck named
  unbound tor hive solr puppet consul vault app spark airflow celery postfix asterisk odoo rails telegraf grafana
  prometheus influxdb http web admin deploy deployer
`);

/** Commands that lines of crontabs often begin with. */
const CRONTAB_COMMANDS = new Set<string>([
  ...LOCK_TOOLS,
  ...parseWordSet(`
  cd test if for while until case export set eval trap true false echo printf sleep wait read umask ulimit source
  exec command time nice ionice chrt taskset sudo doas su runuser env sh bash dash ksh zsh timeout nohup setsid
  chronic cronic cronitor runitor sentry-cli signalbox setuidgid envdir softlimit withlock systemd-cat systemd-run
  systemctl service initctl logger stdbuf script screen tmux docker docker-compose podman kubectl helm nomad ssh scp
  sftp ftp lftp rsync rclone restic borg borgmatic duplicity rdiff-backup rsnapshot tar gzip gunzip zip bzip2 xz cp
  mv rm ln mkdir rmdir touch chown chmod find xargs ls cat head tail grep egrep awk sed sort cut date df du ps pgrep
  pkill kill killall reboot shutdown poweroff hwclock ntpdate chronyc fstrim smartctl mdadm zfs zpool lvm mount
  umount updatedb logrotate run-parts anacron apt apt-get aptitude unattended-upgrade yum dnf zypper apk pacman snap
  flatpak curl wget http nc ping dig host nslookup certbot acme.sh dehydrated lego openssl python python2 python3
  perl php ruby node nodejs java deno bun npm npx yarn pnpm pip pip3 pipenv poetry uv bundle rake composer artisan
  drush wp magento symfony make ant mvn gradle go cargo mysqldump mysqladmin mariadb-dump psql pg_dump pg_dumpall
  vacuumdb sqlite3 mongodump redis-cli influx aws gsutil gcloud az s3cmd s3fs mc sendmail mailx mutt ansible
  ansible-playbook salt-call puppet chef-client webalizer awstats vnstat sa1 sa2 sar iptables nft ip wp-cli xvfb-run
  osascript launchctl jq notify-send beep su-exec gosu setpriv
`),
]);
