#!/usr/bin/env node
/** Rolling maintenance of the hosts of a group: drains one host after the other, runs a command, and undrains it. */
import { type CommandLine, printMessage, runScript, ScriptError } from "./command-line.ts";
import { createReason, formatDrainOwner, OwnDrain } from "./own-drain.ts";
import { runCommand, runSignalbox } from "./signalbox.ts";
import { StateFile } from "./state-file.ts";

const HELP = `
Rolling maintenance of the hosts of a group.

  rolling.mjs GROUP [options] -- COMMAND...

For each host of the group: drains it, waits until nothing runs there, runs COMMAND with the variable HOST set, and
undrains it. Stops at the first failure, and leaves that host drained. Run the same line again to continue with that host;
COMMAND may then run for it a second time. A host that somebody else has drained is skipped; the exit code is then 75.

If COMMAND is a single word, the shell runs it; several words run directly:
  rolling.mjs web --reason 'kernel' -- 'ssh "$HOST" sudo reboot; until ssh "$HOST" true; do sleep 5; done'

  --timeout DURATION  how long to wait for running commands on a host, such as 30m; then exit with 124
  --reset             after --timeout, end the remaining runs instead of stopping
  --reason TEXT       reason that the affected runs show
  --restart           ignore the stored progress, and start with the first host
  --continue          continue the stored progress with a different COMMAND
  --help

signalbox is taken from PATH, or from SIGNALBOX=/path/to/signalbox.
`;

interface State {
  command: readonly string[];
  /** Reason of all its drains. */
  reason: string;
  done: string[];
  /** The current host. `lifting`: COMMAND has succeeded for it. */
  current?: { host: string; phase: "working" | "lifting" };
}

class RollingMaintenance {
  readonly #line: CommandLine;
  readonly #group: string;
  readonly #file: StateFile<State>;

  constructor(line: CommandLine) {
    [this.#group = ""] = line.args;
    this.#line = line;
    this.#file = new StateFile(`rolling ${this.#group}`);
    if (line.command.length === 0) throw new ScriptError(64, "no command was given; write it after --");
    if (line.values.reset && !line.values.timeout) throw new ScriptError(64, "--reset needs --timeout");
  }

  async run(): Promise<void> {
    this.#file.acquire();
    const state = this.#readState();
    const { answer } = await runSignalbox("drain", "group", this.#group, "--dry-run");
    const hosts = answer.hosts ?? [];
    if (state.done.length > 0) printMessage(`continuing; already done: ${state.done.join(", ")}`);
    await this.#finishStray(state, hosts);
    const left = hosts.filter((host) => !state.done.includes(host));
    const omitted: string[] = [];
    for (const [index, host] of left.entries()) {
      printMessage(`${host} (${index + 1} of ${left.length})`);
      if (!(await this.#maintain(state, host))) omitted.push(host);
    }
    if (omitted.length > 0)
      throw new ScriptError(
        75,
        `skipped: ${omitted.join(", ")}; run the same line again for the skipped hosts only`,
      );
    this.#file.remove();
    printMessage(`all ${hosts.length} hosts of ${this.#group} are done`);
  }

  #readState(): State {
    const { values, command } = this.#line;
    const fresh = { command, reason: createReason(this.#getReason()), done: [] };
    const known = values.restart ? undefined : this.#file.load();
    if (known === undefined) return fresh;
    if (!values.continue && known.command.join("\0") !== command.join("\0"))
      throw new ScriptError(
        64,
        `the unfinished maintenance of ${this.#group} has a different command (${known.command.join(" ")}); done: ` +
          `${known.done.join(", ") || "none"}. Use --continue to continue with this command, or --restart to start again`,
      );
    return { ...known, command };
  }

  #getReason(): string {
    const { reason } = this.#line.values;
    return typeof reason === "string" ? reason : `rolling maintenance of ${this.#group}`;
  }

  /** Reports the drain of the last host if the host has left the group since, because nothing else would. */
  async #finishStray(state: State, hosts: readonly string[]): Promise<void> {
    const { host } = state.current ?? {};
    if (host === undefined || hosts.includes(host)) return;
    printMessage(`${host} is no longer in the group; it stays drained: signalbox undrain host ${host}`);
    delete state.current;
    this.#file.save(state);
  }

  /** @returns false if somebody else has drained the host */
  async #maintain(state: State, host: string): Promise<boolean> {
    const drain = new OwnDrain(["host", host], state.reason);
    const isWorkedOn = state.current?.host === host && state.current.phase === "lifting";
    if (!isWorkedOn) {
      const { own, other } = await drain.readDrains();
      if (own === undefined && other !== undefined) {
        printMessage(`${host} is skipped: drained by ${formatDrainOwner(other)}`);
        return false;
      }
      await this.#runOnHost(state, host, drain);
    }
    this.#file.save(Object.assign(state, { current: { host, phase: "lifting" } }));
    if (!(await drain.lift())) printMessage(`${host}: the drain was already lifted`);
    delete state.current;
    state.done.push(host);
    this.#file.save(state);
    return true;
  }

  async #runOnHost(state: State, host: string, drain: OwnDrain): Promise<void> {
    const { timeout, reset } = this.#line.values;
    this.#file.save(Object.assign(state, { current: { host, phase: "working" } }));
    const howOn = `${host} stays drained; run the same line again to continue, or give up with: signalbox undrain host ${host}`;
    try {
      await drain.drainAndWait({ timeout: timeout as string | undefined, reset: reset === true });
    } catch (error) {
      if (error instanceof ScriptError) printMessage(howOn);
      throw error;
    }
    const code = await runCommand(this.#line.command, { HOST: host });
    if (code !== 0) throw new ScriptError(code, `the command failed on ${host} (exit ${code}). ${howOn}`);
  }
}

await runScript(
  {
    help: HELP,
    takes: 1,
    options: {
      timeout: { type: "string" },
      reset: { type: "boolean" },
      reason: { type: "string" },
      restart: { type: "boolean" },
      continue: { type: "boolean" },
    },
  },
  async (line) => await new RollingMaintenance(line).run(),
);
