import { EXIT } from "../base/errors.ts";
import { generateRunId } from "../base/ids.ts";
import { clean } from "../base/text.ts";
import { VERSION } from "../base/version.ts";
import { executeCommand } from "../commands/command-line/execute-command.ts";
import type { LaunchedIo, LaunchedRun } from "../commands/run/call-note.ts";
import { parseCallNote } from "../commands/run/call-note.ts";
import { runCommand } from "../commands/run/run.ts";
import type { Command, CommandIo } from "../commands/spec.ts";
import { zooLocked } from "../compat/zoo-locked/zoo-locked.ts";
import type { LaunchedCall } from "../process/agent-socket/launched-call.ts";
import type { AgentContext } from "./agent-context.ts";
import { CallDeclined, ServedRun } from "./served-run.ts";

/** What a call may name. Other front ends read and write files in the name of their caller. */
const SERVED: readonly Command[] = [runCommand, zooLocked];

/** Asks for the version of the agent. */
const VERSION_WORD = "--version";

/** How a call ended. `asked`: it was the question of somebody who checks whether an agent answers. */
type CallEnd = { kind: "served"; code: number } | { kind: "declined"; why: string } | { kind: "asked" };

/** Ids of the calls that are being served, by their connections. */
type ServedCalls = Map<string, LaunchedCall>;

/**
 * Serves one call: does what the program would do in a process of its own, with the words, settings and streams of the
 * launcher. Never throws.
 */
export async function serveCall(
  context: AgentContext,
  served: ServedCalls,
  call: LaunchedCall,
): Promise<CallEnd> {
  const output = new CallOutput(call);
  if (call.words.length === 1 && call.words[0] === VERSION_WORD) return tellVersion(call);
  try {
    const note = readNote(context, served, call);
    const id = note?.id ?? generateRunId(context.random);
    const [name = "", ...words] = call.words;
    const command = SERVED.find((one) => one.id === name);
    if (command === undefined) throw new CallDeclined("command", `the agent does not serve ${name}`);
    served.set(id, call);
    try {
      const launched = new ServedRun(context, call, { id, note, output });
      const code = await executeCommand(command, words, createIo(call, output, launched));
      if (output.declined !== undefined) throw output.declined;
      if (call.state === "running" && !launched.hasBegun)
        throw new CallDeclined("fault", "the run cannot be resumed with the present settings");
      output.accept();
      call.end(code);
      return { kind: "served", code };
    } finally {
      served.delete(id);
    }
  } catch (error) {
    const declined = error instanceof CallDeclined ? error : new CallDeclined("fault", String(error));
    call.decline(declined.message);
    return { kind: "declined", why: declined.kind };
  }
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
  if (call.state === "new") return undefined;
  const note = parseCallNote(seal.unseal(call.note, call.peer.uid));
  if (note === undefined) throw new CallDeclined("note", "its note is not one of an agent of this host");
  if (served.has(note.id)) throw new CallDeclined("twice", "its former connection is still served");
  return note;
}

/** The output of a call. Nothing is sent before it is certain that the agent serves it. */
class CallOutput {
  /** Why the call turned out to be none for this agent. */
  declined: CallDeclined | undefined;
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

  readonly writeError = (text: string): void => this.write(2, text);

  write(descriptor: 1 | 2, text: string): void {
    const send = () => this.#call.writeOutput(descriptor, text);
    if (this.#kept === undefined) send();
    else this.#kept.push(send);
  }
}

function createIo(call: LaunchedCall, output: CallOutput, run: ServedRun): LaunchedIo {
  const launched: LaunchedRun = {
    identity: run.identity,
    createPorts: () => run.createPorts(),
    onAttempt: (attempt) => run.onAttempt(attempt),
    openConnection: (...args) =>
      run.openConnection(...args).catch((error) => {
        if (error instanceof CallDeclined) output.declined = error;
        throw error;
      }),
  };
  return {
    env: call.settings,
    launched,
    writeOutput: (text) => {
      output.write(1, text);
      return true;
    },
    writeError: output.writeError,
    writeMessage: (line) => output.write(2, `signalbox: ${clean(line)}\n`),
    onSignal: (listener) => listenForSignals(call, listener),
    readInput: async () => "",
    terminal: NO_TERMINAL,
  };
}

/** A launcher that dies before its command is started ends its run as a hangup does. */
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
