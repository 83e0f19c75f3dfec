/** The standard streams of a command that are not those of its runner. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/** Runs a command in a runner that may not open its ends of the pipes. */
const RUNNER = `
  import fs from "node:fs";
  import { syncBuiltinESMExports } from "node:module";
  const { openSync } = fs;
  fs.openSync = (path, ...rest) => {
    if (/^\\/proc\\/\\d+\\/fd\\//.test(path)) throw new Error("EACCES: permission denied");
    return openSync(path, ...rest);
  };
  syncBuiltinESMExports();
  const { createGuardianHost } = await import("./src/core/process/host.ts");
  const { createRealClock } = await import("./src/core/process/clock.ts");
  const host = createGuardianHost(createRealClock());
  const ended = Promise.withResolvers();
  const streams = { input: "", onOutput() {}, onEnd: ended.resolve };
  await host.prepare({ file: "touch", args: [process.argv[1]], env: process.env, streams }).then(
    async (command) => {
      command.arm({ termAt: 1e15, killAt: 1e15 });
      await command.start({}).catch((error) => console.log(error.exitCode, error.message));
      await command.gone;
    },
    (error) => console.log(error.exitCode, error.message),
  );
  await ended.promise;
  console.log(fs.existsSync(process.argv[1]));
`;

test("if they cannot be opened, the command is not started, and its runner is told", () => {
  const words = ["--input-type=module", "--eval", RUNNER, `/tmp/signalbox-not-started-${process.pid}`];
  expect(execFileSync(process.execPath, words, { encoding: "utf8", timeout: 60_000 })).toBe(
    "78 cannot open the standard streams of the command in /proc: EACCES: permission denied\nfalse\n",
  );
});
