import { basename } from "node:path";
import { quotePosixWord } from "../../base/shell.ts";
import { quoteText } from "../../base/text.ts";

/** What happens if no process of the container appears in the command's cgroup: a warning, or the end of the command. */
export const CONTAINER_RULES = ["warn", "end"] as const;
export type ContainerRule = (typeof CONTAINER_RULES)[number];

/** A command that is a client of a container runtime: the container is not one of its own processes. */
export interface ContainerRun {
  /** Undefined: the caller has not asked for anything, so the words stay as they are, and a warning follows. */
  rule: ContainerRule | undefined;
  /** Called if no process of the container appears in the command's cgroup. */
  onMissing(text: string): void;
}

/** What puts the container into the cgroup $SIGNALBOX_CGROUP, by the name of the client. */
const CLIENTS: Readonly<Record<string, { leading?: readonly string[]; options: string }>> = {
  docker: { options: '--cgroup-parent="$SIGNALBOX_CGROUP"' },
  nerdctl: { leading: ["--cgroup-manager=cgroupfs"], options: '--cgroup-parent="$SIGNALBOX_CGROUP"' },
  // Below the cgroup of the client, whatever the manager is. No limit of processes: there is no controller for it.
  podman: { options: "--cgroups=split --pids-limit=-1" },
};

/** Options of `run` without a value. The letters are those of short ones. */
const SWITCHES =
  /^--(?:detach|disable-content-trust|env-host|help|http-proxy|init|interactive|no-healthcheck|no-hosts|oom-kill-disable|privileged|publish-all|quiet|read-only|read-only-tmpfs|replace|rm|rmi|rootfs|sig-proxy|tls-verify|tty)$/;
const SWITCH_LETTERS = /^-[Pdiqt]+/;

/** A line of a client that runs a container. */
interface ContainerLine {
  client: string;
  /** The words before `run`, after the client. */
  leading: readonly string[];
  /** The options of `run`, without the words for the container. */
  options: readonly string[];
  /** All words after `run`. */
  rest: readonly string[];
}

/**
 * Describes a command that runs a container, if it does.
 * @param rule  what the caller has asked for
 */
export function describeContainer(
  words: readonly string[],
  rule: ContainerRule | undefined,
  onMissing: ContainerRun["onMissing"],
): ContainerRun | undefined {
  return parseContainerLine(words) && { rule, onMissing };
}

function parseContainerLine([file = "", ...args]: readonly string[]): ContainerLine | undefined {
  const client = basename(file);
  const at = Object.hasOwn(CLIENTS, client) ? args.indexOf("run") : -1;
  const leading = args.slice(0, at);
  const isCommand = leading.every(
    (word, index) => word === "container" || /^-/.test(word) || /^-[^=]*$/.test(leading[index - 1] ?? ""),
  );
  if (at < 0 || !isCommand) return undefined;
  const rest = args.slice(at + 1);
  return { client, leading, options: listOptions(rest), rest };
}

/** Lists the options before the first word that is neither an option nor its value: the image. */
function listOptions(words: readonly string[]): string[] {
  const options: string[] = [];
  for (let at = 0; words[at]?.startsWith("-") && words[at] !== "--"; at += 1) {
    const word = words[at] ?? "";
    options.push(word);
    const letters = word.startsWith("--") ? undefined : word.replace(SWITCH_LETTERS, "-");
    const takesNext =
      letters === undefined ? !word.includes("=") && !SWITCHES.test(word) : letters.length === 2;
    if (takesNext) at += 1;
  }
  return options;
}

/** Returns why the container of a command cannot end with it; undefined if it can. */
export function findContainerFault(words: readonly string[]): string | undefined {
  const line = parseContainerLine(words);
  if (line === undefined)
    return `the command must be docker run, podman run or nerdctl run, without a shell; got ${quoteText(words.slice(0, 3).join(" "))}`;
  const { leading, options } = line;
  const remote = leading.find((word) =>
    /^(?:-[Hcr]|--(?:host|context|connection|url|remote|address))(?:=|$)/.test(word),
  );
  if (remote !== undefined)
    return `${remote} may name another machine, on which no container can be ended; leave it out`;
  const own = options.find((word) => /^--cgroup(?:s|-parent)(?:=|$)/.test(word));
  if (own !== undefined) return `${own} names another cgroup than that of this run; leave it out`;
  const detached = options.find((word) => /^(?:--detach(?:=true)?|-[Piqt]*d[Pdiqt]*)$/.test(word));
  return detached && `${detached}: the container would run on when the client has ended; leave it out`;
}

/**
 * A shell that becomes the client, because only the guardian knows the cgroup. It refuses what cannot be kept.
 * @param line  the client, with all words of a shell
 */
const formatScript = (line: string) =>
  [
    'refuse() { echo "signalbox: --container: $1" >&2; exit 78; }',
    'case "$DOCKER_HOST|$CONTAINER_HOST" in "|" | unix:*"|" | "|"unix:*) ;; *) refuse "DOCKER_HOST or CONTAINER_HOST names another machine";; esac',
    '[ "$SIGNALBOX_CGROUP" ] || refuse "the command has no cgroup of its own, in which a container could end with it: cgroup v2 is needed, and root or a delegated cgroup"',
    `exec ${line} "$@"`,
  ].join("\n");

/** Returns the words of a command that puts its container into its own cgroup; other commands as they are. */
export function containCommand(words: readonly string[]): readonly string[] {
  const line = parseContainerLine(words);
  const added = line && CLIENTS[line.client];
  if (line === undefined || added === undefined) return words;
  const [client = "", ...leading] = [...words.slice(0, 1), ...(added.leading ?? []), ...line.leading].map(
    quotePosixWord,
  );
  const start = [client, ...leading, "run", added.options].join(" ");
  return ["/bin/sh", "-c", formatScript(start), client, ...line.rest];
}

/** Describes that no process of the container is in the command's cgroup. */
export function describeMissingContainer(ms: number, rule: ContainerRule | undefined): string {
  const remedy = rule === undefined ? "; add --container" : "";
  return `${ms / 1_000} s after the start, no process of its container is in the command's cgroup: a container that runs elsewhere can outlive the lock${remedy}`;
}
