import { quotePosixWord } from "./shell.ts";
import { quoteText } from "./text.ts";

/** What happens if no process of the container appears in the command's cgroup: a warning, or the end of the command. */
export const CONTAINER_RULES = ["warn", "end"] as const;
export type ContainerRule = (typeof CONTAINER_RULES)[number];

/** A command that is a client of a container runtime: the container is not one of its own processes. */
export interface ContainerRun {
  /** Undefined: the caller has not asked for anything, so the words stay as they are, and a warning follows. */
  rule: ContainerRule | undefined;
  /** The least exit code of the client after which its daemon may still start the container. 0: no daemon starts it. */
  lateStartCode: number;
  /** Called if no process of the container appears in the command's cgroup. */
  onMissing(text: string): void;
}

/** A client of a container runtime. */
interface ContainerClient extends Pick<ContainerRun, "lateStartCode"> {
  /** What puts the container into the cgroup $SIGNALBOX_CGROUP. */
  leading?: readonly string[];
  options: string;
  /** A test of the shell, which fails if variables name a daemon whose containers are elsewhere. */
  localTest: string;
  /** The variables that it reads. */
  variables: string;
}

const CLIENTS: Readonly<Record<string, ContainerClient>> = {
  docker: {
    options: '--cgroup-parent="$SIGNALBOX_CGROUP"',
    localTest: 'case "$DOCKER_HOST|$DOCKER_CONTEXT" in "|" | "|default" | unix:*) ;; *) false;; esac',
    variables: "DOCKER_HOST or DOCKER_CONTEXT",
    lateStartCode: 125, // lower ones are those of a container that has ended
  },
  nerdctl: {
    leading: ["--cgroup-manager=cgroupfs"],
    options: '--cgroup-parent="$SIGNALBOX_CGROUP"',
    localTest: "true",
    variables: "",
    lateStartCode: 1,
  },
  podman: {
    // Below the cgroup of the client, whatever the manager is. No limit of processes: there is no controller for it.
    options: "--cgroups=split --pids-limit=-1",
    localTest: '[ ! "$CONTAINER_HOST$CONTAINER_CONNECTION" ]',
    variables: "CONTAINER_HOST or CONTAINER_CONNECTION",
    lateStartCode: 0, // what starts it is in the cgroup
  },
};

/** Options of `run` without a value. The letters are those of short ones. */
const SWITCHES =
  /^--(?:detach|disable-content-trust|env-host|help|http-proxy|init|interactive|no-healthcheck|no-hosts|oom-kill-disable|privileged|publish-all|quiet|read-only|read-only-tmpfs|replace|rm|rmi|rootfs|sig-proxy|tls-verify|tty)$/;
const SWITCH_LETTERS = /^-[Pdiqt]+/;

/** A line of a client that runs a container. */
interface ContainerLine {
  client: ContainerClient;
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
  const line = parseContainerLine(words);
  return line && { rule, onMissing, lateStartCode: line.client.lateStartCode };
}

function parseContainerLine([file = "", ...args]: readonly string[]): ContainerLine | undefined {
  const name = file.slice(file.lastIndexOf("/") + 1);
  const client = Object.hasOwn(CLIENTS, name) ? CLIENTS[name] : undefined;
  const at = args.indexOf("run");
  const leading = args.slice(0, at);
  const isCommand = leading.every(
    (word, index) => word === "container" || /^-/.test(word) || /^-[^=]*$/.test(leading[index - 1] ?? ""),
  );
  if (client === undefined || at < 0 || !isCommand) return undefined;
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
  const lasting = options.find((word) =>
    /^(?:--detach(?:=true)?|-[Piqt]*d[Pdiqt]*|--restart(?:=.*)?)$/.test(word),
  );
  return lasting && `${lasting}: the container could run when the client has ended; leave it out`;
}

/**
 * A shell that becomes the client, because only the guardian knows the cgroup. It refuses what cannot be kept.
 * @param start  the client, with all words of a shell
 */
const formatScript = ({ localTest, variables }: ContainerClient, start: string) =>
  [
    'refuse() { echo "signalbox: --container: $1" >&2; exit 78; }',
    `${localTest} || refuse "${variables} may name a daemon on another machine or with other cgroups"`,
    '[ "$SIGNALBOX_CGROUP" ] || refuse "the command has no cgroup of its own, in which a container could end with it: cgroup v2 is needed, and root or a delegated cgroup"',
    `exec ${start} "$@"`,
  ].join("\n");

/** Returns the words of a command that puts its container into its own cgroup; other commands as they are. */
export function containCommand(words: readonly string[]): readonly string[] {
  const line = parseContainerLine(words);
  if (line === undefined) return words;
  const { client, leading, rest } = line;
  const [file = "", ...before] = [...words.slice(0, 1), ...(client.leading ?? []), ...leading].map(
    quotePosixWord,
  );
  const start = [file, ...before, "run", client.options].join(" ");
  return ["/bin/sh", "-c", formatScript(client, start), file, ...rest];
}

/** Describes that no process of the container is in the command's cgroup. */
export function describeMissingContainer(ms: number, rule: ContainerRule | undefined): string {
  const remedy = rule === undefined ? "; add --container" : "";
  return `in the first ${ms / 1_000} s, no process of its container was in the command's cgroup: a container that runs elsewhere can outlive the lock${remedy}`;
}
