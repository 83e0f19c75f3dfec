import { isAbsolute } from "node:path";
import type { LogFields } from "../base/log.ts";
import { quoteText } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import {
  buildLogOptions,
  type CommandConnection,
  type FrontEndOptions,
  warnOverriddenContext,
  warnUnknownVariables,
} from "../commands/connect.ts";
import { openLog } from "../commands/logging.ts";
import type { LaunchedRun } from "../commands/run/call-note.ts";
import { type CallNote, renderCallNote } from "../commands/run/call-note.ts";
import type { RunFlags } from "../commands/run/run.ts";
import type { Call } from "../commands/spec.ts";
import { resolveConfig } from "../config/config.ts";
import { type Env, type FileReader, readFileWithMode } from "../config/files.ts";
import { thisMachine } from "../config/machine.ts";
import {
  getEnvVariableName,
  getSetting,
  SETTING_KEYS,
  type SettingKey,
  type Settings,
} from "../config/settings.ts";
import { delegateStore } from "../etcd/delegate-store.ts";
import { type HostFacts, readHostFacts } from "../fleet/host.ts";
import { serializeHostRecord } from "../fleet/host-record.ts";
import type { LaunchedCall } from "../process/agent-socket/launched-call.ts";
import { createLaunchedCommandHost } from "../process/agent-socket/launched-command-host.ts";
import type { StartedAttempt } from "../run/request.ts";
import { CallAttempts } from "../run/request.ts";
import type { AgentContext } from "./agent-context.ts";

/** This agent cannot serve a call. The launcher then does without it. */
export class CallDeclined extends Error {
  /** A word for statistics. */
  readonly kind: string;

  /** @param kind  a word for statistics */
  constructor(kind: string, message: string) {
    super(message);
    this.name = "CallDeclined";
    this.kind = kind;
  }
}

/** How long a launcher that does not wait tries to come back to an agent, ms. After that it does without. */
const PATIENCE = 5_000;

/**
 * The greatest delay of a new call, ms. The launcher does without the agent after three seconds, and then must not be stopped
 * by a claim that the agent makes for it.
 */
const LATE = 2_500;

/** The output of a served run. */
interface ServedOutput {
  writeError(text: string): void;
  /** Called when it is certain that this agent serves the call. */
  accept(): void;
}

/** One call as the run of a launcher, on the connection and the sessions of the agent. */
export class ServedRun implements LaunchedRun {
  readonly identity: { pid: number; user: string };
  readonly #context: AgentContext;
  readonly #call: LaunchedCall;
  readonly #id: string;
  readonly #note: CallNote | undefined;
  readonly #output: ServedOutput;
  #patience = PATIENCE;
  #hasBegun = false;
  #facts: HostFacts | undefined;

  /** @param note  the note of the call if it is resumed */
  constructor(
    context: AgentContext,
    call: LaunchedCall,
    { id, note, output }: { id: string; note: CallNote | undefined; output: ServedOutput },
  ) {
    this.#context = context;
    this.#call = call;
    this.#id = id;
    this.#note = note;
    this.#output = output;
    const { uid } = call.peer;
    this.identity = {
      pid: call.pid,
      user: context.userNames.get(`${uid}`, () => context.accounts.findUserName(uid)),
    };
  }

  /** Whether the run has its ports, and with them its command. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** @throws CallDeclined, ConfigError, UsageError */
  async openConnection(
    call: Call<RunFlags>,
    { options, openLog: openOwn }: FrontEndOptions,
  ): Promise<CommandConnection> {
    const { settings: own, store, keys, clock, random } = this.#context;
    if (call.flags.capture !== undefined)
      throw new CallDeclined("capture", "the agent does not keep output (--capture) yet");
    if (call.flags.foreground === true)
      throw new CallDeclined(
        "foreground",
        "its guardians are not in the session of the terminal (--foreground)",
      );
    const env = this.#readEnvironment(call);
    const config = resolveConfig({
      flags: call.settings,
      env,
      readFile: (path: string) => this.#readConfigFile(path),
      ...(options && { options }),
    });
    const { values } = config;
    if (this.#call.state === "new" && this.#call.delay > (values.agent === "always" ? 9_000 : LATE))
      throw new CallDeclined("late", "the agent is too slow");
    const different = findDifferentSetting(own, values);
    if (different !== undefined)
      throw new CallDeclined("settings", `its ${different} is not that of the agent`);
    if (values.logFile !== undefined && !this.#isOwnUser)
      throw new CallDeclined("files", "its log is a file of another user");
    this.#patience = canWait(call) ? values.ttl : PATIENCE;
    const { host, macros } = values;
    const facts = this.#context.callerFacts.get(JSON.stringify([host, macros]), () =>
      readHostFacts(thisMachine, { host, macros }),
    );
    this.#facts = facts;
    const logContext: LogFields = { host: facts.fqdn };
    const { writeError } = this.#output;
    const logging = {
      ...buildLogOptions(call, values),
      context: logContext,
      writeError,
      pid: this.#call.pid,
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
    this.#hasBegun = true;
    const { clock, readBootTime, sessions, successors } = this.#context;
    const note = this.#note;
    const isStarted = this.#call.state === "running";
    return {
      commands: createLaunchedCommandHost(
        this.#call,
        { clock, readBootTime },
        isStarted ? note?.run : undefined,
      ),
      sessions,
      successors,
      attempts: new CallAttempts(this.#id, note?.number ?? 0),
      ...(note !== undefined && { resumed: { ...note, session: BigInt(`0x${note.session}`) } }),
      isStarted,
      ...this.#describeOtherHost(),
    };
  }

  /** The agent keeps the record of its own host, but a call can name another one, or other macros. */
  #describeOtherHost(): Pick<ReturnType<LaunchedRun["createPorts"]>, "describeHost"> {
    const facts = this.#facts;
    if (facts === undefined || isSameHost(facts, this.#context.facts)) return {};
    return { describeHost: (wall) => serializeHostRecord(facts, VERSION, wall) };
  }

  async onAttempt(attempt: StartedAttempt): Promise<void> {
    const { seal } = this.#context;
    const { uid } = this.#call.peer;
    await this.#call.sendNote(seal.seal(renderCallNote(this.#id, attempt), uid), this.#patience);
  }

  #readConfigFile(path: string): ReturnType<FileReader> {
    return this.#context.configFiles.get(path, () => ({ read: readFileWithMode(path) })).read;
  }

  get #isOwnUser(): boolean {
    return this.#call.peer.uid === process.getuid?.();
  }

  /** Returns the settings in the environment of the caller that this process may use. @throws CallDeclined */
  #readEnvironment(call: Call<object>): Env {
    const { settings: env } = this.#call;
    const path = findForeignPath(call, env, this.#isOwnUser);
    if (path !== undefined)
      throw new CallDeclined(
        "files",
        `${quoteText(path)} is a path in the caller's directory or of another user`,
      );
    if (this.#isOwnUser) return env;
    if (this.#call.hasConfig) throw new CallDeclined("files", "its user has a configuration file");
    return { ...env, HOME: undefined, XDG_CONFIG_HOME: undefined };
  }
}

function isSameHost(one: HostFacts, other: HostFacts): boolean {
  return one.fqdn === other.fqdn && JSON.stringify(one.macros) === JSON.stringify(other.macros);
}

function canWait({ flags }: Call<RunFlags>): boolean {
  return flags.wait !== undefined || flags.lease !== undefined;
}

/** Settings of the connection that the agent has opened for all. */
const SHARED: readonly SettingKey[] = [
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

/** Finds a setting in which a call differs from the agent, which cannot serve it then. */
export function findDifferentSetting(own: Settings, asked: Settings): SettingKey | undefined {
  const show = (values: Settings, key: SettingKey) => JSON.stringify(values[key]);
  return SHARED.find((key) => show(own, key) !== show(asked, key));
}

/**
 * Finds a path in a call that this process cannot use in the name of the caller: one relative to the caller's
 * directory, or any path of another user, whose files the agent must neither read nor write.
 */
export function findForeignPath(call: Call<object>, env: Env, isOwnUser: boolean): string | undefined {
  for (const key of ["config", ...SETTING_KEYS] as const) {
    const isPath = key === "config" || getSetting(key).kind.isPath === true;
    if (!isPath || key === "agentSocket") continue;
    const variable = key === "config" ? "SIGNALBOX_CONFIG" : getEnvVariableName(key);
    for (const path of [
      call.settings[key],
      env[variable],
      key === "config" ? undefined : readEtcdctl(key, env),
    ]) {
      if (typeof path !== "string" || path === "") continue;
      if (!isOwnUser || !isAbsolute(path)) return path;
    }
  }
  return undefined;
}

function readEtcdctl(key: SettingKey, env: Env): string | undefined {
  const { etcdctl } = getSetting(key);
  return etcdctl === undefined ? undefined : env[etcdctl];
}
