import {
  type CallNote,
  findForeignPath,
  findUnservedFlag,
  type LaunchedFlags,
  type LaunchedIo,
  type LaunchedRun,
  parseCallNote,
  renderCallNote,
} from "../cli/frame/call-note.ts";
import type { Call, CommandIo } from "../cli/frame/command.ts";
import { executeCommand } from "../cli/frame/command-line/execute-command.ts";
import {
  buildLogOptions,
  type CommandConnection,
  type FrontEndOptions,
  warnOverriddenContext,
  warnUnknownVariables,
} from "../cli/frame/connect.ts";
import { openLog } from "../cli/frame/logging.ts";
import type { Millis } from "../core/base/clock.ts";
import { EXIT } from "../core/base/errors.ts";
import { generateRunId } from "../core/base/ids.ts";
import type { LogFields } from "../core/base/log.ts";
import { clean, quoteText } from "../core/base/text.ts";
import { VERSION } from "../core/base/version.ts";
import { resolveConfig } from "../core/config/config.ts";
import { type Env, readFileWithMode } from "../core/config/files.ts";
import { thisMachine } from "../core/config/machine.ts";
import type { SettingKey, Settings } from "../core/config/settings.ts";
import { delegateStore } from "../core/etcd/store.ts";
import { type HostFacts, readHostFacts } from "../core/fleet/host.ts";
import { serializeHostRecord } from "../core/fleet/host-record.ts";
import type { CallRequest } from "../core/process/agent-socket/call-request.ts";
import type { LaunchedCall, LaunchedHooks } from "../core/process/agent-socket/launched-call.ts";
import { createLaunchedCommandHost } from "../core/process/agent-socket/launched-command.ts";
import type { SpanSender } from "../core/process/span-sender.ts";
import { CallAttempts, type PlannedRetry, type RunPorts, type StartedAttempt } from "../core/run/request.ts";
import type { AgentContext } from "./agent-context.ts";

/** The call that requests the version of the agent. */
const VERSION_WORD = "--version";

/**
 * Limits of what is parsed of a call: its settings, and its words before those of the command, together. Parsing takes
 * longer than in proportion to them, and holds up the renewals and the calls of others.
 */
const [OPTIONS_MAX, OPTION_LENGTH_MAX] = [256, 8 * 1024];

/** The end of a call. `asked`: it only asked for the version, to check that an agent answers. */
type CallEnd = { kind: "served" | "asked" } | { kind: "declined"; why: string };

/** The calls that are being served, by their ids. */
type ServedCalls = Map<string, LaunchedCall>;

/**
 * Serves one call: does what `signalbox` would do in its own process, with the words, settings and streams of the
 * launcher. Never throws.
 */
export async function serveCall(
  context: AgentContext,
  served: ServedCalls,
  call: LaunchedCall,
): Promise<CallEnd> {
  const output = new CallOutput(call);
  if (call.request.words.join(" ") === VERSION_WORD) return tellVersion(call);
  try {
    checkLength(call.request);
    const note = readNote(context, served, call);
    const id = note?.id ?? generateRunId(context.random);
    const [name = "", ...words] = call.request.words;
    const command = context.served.find(({ id }) => id === name);
    if (command === undefined) throw new CallDeclined("command", `the agent does not serve ${name}`);
    served.set(id, call);
    try {
      const launched = new ServedRun(context, call, { id, note, output });
      const code = await executeCommand(command, words, createIo(call, output, launched));
      if (launched.declined !== undefined) throw launched.declined;
      if (call.request.state === "running" && !launched.hasBegun)
        throw new CallDeclined("fault", "the run cannot be resumed with the current settings");
      output.accept();
      call.end(code);
      return { kind: "served" };
    } finally {
      served.delete(id);
    }
  } catch (error) {
    const declined = error instanceof CallDeclined ? error : new CallDeclined("fault", String(error));
    call.decline(declined.message);
    return { kind: "declined", why: declined.kind };
  }
}

/** @throws CallDeclined */
function checkLength({ words, settings }: CallRequest): void {
  const end = words.indexOf("--");
  const options = [...(end < 0 ? words : words.slice(0, end)), ...Object.entries(settings).flat()];
  const length = options.reduce((sum, text) => sum + text.length, 0);
  if (options.length > OPTIONS_MAX || length > OPTION_LENGTH_MAX)
    throw new CallDeclined("call", "it has too many options and settings, or too long ones");
}

/** Answers as `signalbox --version` does. */
function tellVersion(call: LaunchedCall): CallEnd {
  call.accept();
  call.writeOutput(1, `${VERSION}\n`);
  call.end(EXIT.ok);
  return { kind: "asked" };
}

/** Reads the note of a call that is resumed. @throws CallDeclined */
function readNote({ seal }: AgentContext, served: ServedCalls, call: LaunchedCall) {
  if (call.request.state === "new") return undefined;
  const note = parseCallNote(seal.unseal(call.request.note, call.peer.uid));
  const isWhole = note?.attempt !== undefined || call.request.state !== "running";
  if (note === undefined || !isWhole)
    throw new CallDeclined("note", "its note was not written by an agent of this host");
  if (served.has(note.id)) throw new CallDeclined("twice", "its former connection is still served");
  return note;
}

/** The output of a call. It is held back until it is certain that the agent serves the call. */
class CallOutput {
  readonly #call: LaunchedCall;
  #kept: (() => void)[] | undefined = [];

  constructor(call: LaunchedCall) {
    this.#call = call;
  }

  accept(): void {
    const kept = this.#kept;
    if (kept === undefined) return;
    this.#kept = undefined;
    this.#call.accept();
    for (const write of kept) write();
  }

  write(descriptor: 1 | 2, text: string): void {
    const send = () => this.#call.writeOutput(descriptor, text);
    if (this.#kept === undefined) send();
    else this.#kept.push(send);
  }
}

function createIo(call: LaunchedCall, output: CallOutput, launched: ServedRun): LaunchedIo {
  return {
    env: call.request.settings,
    launched,
    writeOutput: (text) => {
      output.write(1, text);
      return true;
    },
    writeError: (text) => output.write(2, text),
    writeMessage: (line) => output.write(2, `signalbox: ${clean(line)}\n`),
    onSignal: (listener) => listenForSignals(call, listener),
    readInput: async () => "",
    terminal: NO_TERMINAL,
  };
}

/** Listens to the signals of a launcher. If the launcher dies before its command is started, that counts as SIGHUP. */
function listenForSignals(call: LaunchedCall, listener: (name: NodeJS.Signals) => void): () => void {
  let isListening = true;
  const tell = (name: NodeJS.Signals) => {
    if (isListening) listener(name);
  };
  call.onSignal(({ name }) => tell(name));
  void call.closed.then(() => tell("SIGHUP"));
  return () => {
    isListening = false;
  };
}

const NO_TERMINAL: CommandIo["terminal"] = {
  isOutput: () => false,
  canAsk: () => false,
  getSize: () => ({ columns: 80, rows: 24 }),
  onResize: () => () => {},
  ask: async () => undefined,
};

/** This agent cannot serve a call. The launcher then falls back to a run without an agent. */
class CallDeclined extends Error {
  /** A word for statistics. */
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.name = "CallDeclined";
    this.kind = kind;
  }
}

/** How long a launcher of a run that does not wait tries to reach an agent again, ms. Then it falls back. */
const RECONNECT_TIMEOUT_MS = 5_000;

/**
 * The greatest delay of a new call, ms. After three seconds, the launcher falls back to a run without the agent, which
 * a claim that the agent makes for the same call would block.
 */
const MAX_CALL_DELAY_MS = 2_500;

/** One call as the run of a launcher, on the connection and the sessions of the agent. */
class ServedRun implements LaunchedRun {
  readonly identity: { pid: number; user: string };
  readonly spans: SpanSender | undefined;
  readonly #context: AgentContext;
  readonly #call: LaunchedCall;
  readonly #note: CallNote | undefined;
  readonly #output: CallOutput;
  /** Whether the run has received its ports, and with them its command. */
  hasBegun = false;
  /** Why this agent cannot serve the call, if the call's settings show that. */
  declined: CallDeclined | undefined;
  #patience: Millis = RECONNECT_TIMEOUT_MS;
  #ttl: Millis = RECONNECT_TIMEOUT_MS;
  #attempt: StartedAttempt | undefined;
  #retry: PlannedRetry | undefined;
  #facts: HostFacts | undefined;
  readonly #attempts: CallAttempts;
  #archivePastRun: RunPorts["archivePastRun"];

  /** @param note  the note of the call if it is resumed */
  constructor(
    context: AgentContext,
    call: LaunchedCall,
    { id, note, output }: { id: string; note: CallNote | undefined; output: CallOutput },
  ) {
    this.#context = context;
    this.#call = call;
    this.#note = note;
    this.#retry = note?.retry;
    this.#attempts = new CallAttempts(id, note?.number ?? 0, note?.since ?? context.clock.getWallTime());
    this.#output = output;
    const { uid } = call.peer;
    this.spans = context.spans;
    this.identity = {
      pid: call.request.pid,
      user: context.userNames.get(`${uid}`, () => context.accounts.findUserName(uid)),
    };
  }

  /** @throws CallDeclined, ConfigError, UsageError */
  async openConnection(call: Call<LaunchedFlags>, options: FrontEndOptions) {
    try {
      return this.#connect(call, options);
    } catch (error) {
      if (error instanceof CallDeclined) this.declined = error;
      throw error;
    }
  }

  #connect(call: Call<LaunchedFlags>, { options, openLog: openOwn }: FrontEndOptions): CommandConnection {
    const { settings: own, store, keys, clock, random } = this.#context;
    const unserved = findUnservedFlag(call.flags);
    if (unserved !== undefined) throw new CallDeclined(unserved.flag, `${unserved.why} (--${unserved.flag})`);
    const env = this.#readEnvironment(call);
    const config = resolveConfig({
      flags: call.settings,
      env,
      readFile: (path) => this.#context.configFiles.get(path, () => ({ read: readFileWithMode(path) })).read,
      ...(options && { options }),
    });
    const { values } = config;
    if (
      this.#call.request.state === "new" &&
      this.#call.delay > (values.agent === "always" ? 9_000 : MAX_CALL_DELAY_MS)
    )
      throw new CallDeclined("late", "the agent is too slow");
    const different = findDifferentSetting(own, values);
    if (different !== undefined)
      throw new CallDeclined("settings", `its ${different} differs from that of the agent`);
    if (values.logFile !== undefined && !this.#isOwnUser)
      throw new CallDeclined("files", "its log file belongs to another user");
    this.#call.isQuiet = call.flags["quiet-success"] === true;
    this.#ttl = values.ttl;
    this.#patience = canWait(call) ? values.ttl : RECONNECT_TIMEOUT_MS;
    this.#archivePastRun = this.#context.archive.chooseFile(this.#isOwnUser ? values : own); // another user must not choose which files are removed
    const { host, macros } = values;
    const facts = this.#context.callerFacts.get(JSON.stringify([host, macros]), () =>
      readHostFacts(thisMachine, { host, macros }),
    );
    this.#facts = facts;
    const logContext: LogFields = { host: facts.fqdn };
    const logging = {
      ...buildLogOptions(call, values),
      context: logContext,
      writeError: (text: string) => this.#output.write(2, text),
      pid: this.#call.request.pid,
    };
    const log = openOwn?.(values, clock.getWallTime) ?? openLog(logging, clock.getWallTime);
    this.#output.accept();
    warnUnknownVariables(env, log);
    warnOverriddenContext(config, log);
    return {
      config,
      settings: values,
      keys,
      clock,
      random,
      log,
      logContext,
      facts,
      store: delegateStore(store, { close: () => {} }),
    };
  }

  createPorts(): ReturnType<LaunchedRun["createPorts"]> {
    this.hasBegun = true;
    const { sessions, successors } = this.#context;
    const archivePastRun = this.#archivePastRun;
    const note = this.#note;
    const isStarted = this.#call.request.state === "running";
    const facts = this.#facts;
    // The agent keeps the record of its own host, but a call can name another host, or other macros.
    const isOther = facts !== undefined && !isSameHost(facts, this.#context.facts);
    return {
      commands: createLaunchedCommandHost(
        this.#call,
        this.#context,
        isStarted ? note?.attempt?.run : undefined,
      ),
      sessions,
      successors,
      attempts: this.#attempts,
      ...(note?.attempt !== undefined && { resumed: note.attempt }),
      isStarted,
      ...(note?.retry !== undefined && { plannedRetry: note.retry }),
      onRetry: async (retry) => {
        this.#retry = retry;
        this.#patience = this.#ttl; // the claim is held, and no process without an agent can continue it
        await this.#sendNote(true);
      },
      onWait: () => this.#sendNote(),
      ...(isOther && { describeHost: (wall) => serializeHostRecord(facts, VERSION, wall) }),
      ...(archivePastRun && { archivePastRun }),
    };
  }

  setHooks(hooks: LaunchedHooks) {
    this.#call.hooks = hooks;
  }

  async onAttempt(attempt: StartedAttempt) {
    this.#attempt = attempt;
    await this.#sendNote();
  }

  async #sendNote(isRetried = false): Promise<void> {
    const note = renderCallNote(this.#attempts, this.#attempt, this.#retry);
    await this.#call.sendNote(this.#context.seal.seal(note, this.#call.peer.uid), this.#patience, isRetried);
  }

  get #isOwnUser(): boolean {
    return this.#call.peer.uid === process.getuid?.();
  }

  /** Returns the settings in the environment of the caller that this process may use. @throws CallDeclined */
  #readEnvironment(call: Call<object>): Env {
    const { settings: env } = this.#call.request;
    const path = findForeignPath(call, env, this.#isOwnUser);
    if (path !== undefined)
      throw new CallDeclined(
        "files",
        `${quoteText(path)} is a path in the caller's directory or of another user`,
      );
    if (this.#isOwnUser) return env;
    if (this.#call.request.hasConfig) throw new CallDeclined("files", "its user has a configuration file");
    return { ...env, HOME: undefined, XDG_CONFIG_HOME: undefined };
  }
}

function isSameHost(one: HostFacts, other: HostFacts): boolean {
  return one.fqdn === other.fqdn && JSON.stringify(one.macros) === JSON.stringify(other.macros);
}

function canWait({ flags }: Call<LaunchedFlags>): boolean {
  return flags.wait !== undefined || flags.lease !== undefined;
}

/** Settings of the connection, which the agent has opened once for all calls. */
const CONNECTION_SETTING_KEYS: readonly SettingKey[] = [
  "endpoints",
  "prefix",
  "user",
  "password",
  "cacert",
  "cert",
  "key",
  "serverName",
  "clusterId",
  "insecureSkipTlsVerify",
  "allowPlaintextPassword",
];

/** Finds a setting of the connection in which a call differs from the agent, so that the agent cannot serve it. */
export function findDifferentSetting(ofAgent: Settings, ofCall: Settings): SettingKey | undefined {
  const show = (values: Settings, key: SettingKey) => JSON.stringify(values[key]);
  return CONNECTION_SETTING_KEYS.find((key) => show(ofAgent, key) !== show(ofCall, key));
}
