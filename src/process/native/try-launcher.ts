import { spawn } from "node:child_process";
import { EXIT } from "../../base/errors.ts";
import { explainUnstartable } from "./unstartable.ts";

/** A call that no agent can serve: no socket can be below a file. The launcher then ends at once. */
const UNSERVED_CALL = [
  "--agent",
  "always",
  "--agent-socket",
  "/dev/null/agent.sock",
  "--lock",
  "check",
  "--",
  "true",
];

/**
 * Starts the launcher once, with a call that must end at once and starts nothing.
 * @param patience  ms after which it is killed
 * @returns why it cannot run on this host; undefined if it can
 */
export function tryLauncher(path: string, patience: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(path, ["run", ...UNSERVED_CALL], {
      env: {},
      stdio: "ignore",
      timeout: patience,
      killSignal: "SIGKILL",
    });
    child.once("error", (error) => resolve(`${path}: ${explainUnstartable(path) ?? error.message}`));
    child.once("exit", (code, signal) => resolve(explainEnd(path, code, signal)));
  });
}

function explainEnd(path: string, code: number | null, signal: NodeJS.Signals | null): string | undefined {
  if (code === EXIT.unreachable) return undefined;
  if (signal === "SIGSYS") return `${path}: a seccomp filter forbids one of its system calls`;
  if (signal !== null) return `${path}: it was ended by ${signal}`;
  return `${path}: it ended with code ${code}, not ${EXIT.unreachable}; it is damaged, or of another version`;
}
