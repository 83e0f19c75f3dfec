import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished, test } from "vitest";
import { createMark, waitUntilDead } from "../../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";

/** Searches for the processes of the run MARK, and prints each pause. */
const SEARCH = `
import { CommandCgroup } from "./src/core/process/guarded-command/cgroup.ts";
import { killOrphans } from "./src/core/process/guarded-command/orphans.ts";
const [runId] = process.argv.slice(1);
process.stdin.once("data", async () => {
  const mark = { session: -1, runId, startTimes: new Map(), cgroup: new CommandCgroup(""), owner: undefined };
  await killOrphans(mark, () => { console.log("pause"); return new Promise((resolve) => setTimeout(resolve, 1)); });
  console.log("over");
  process.exit();
});
console.log("ready");
`;

test("without free descriptors, the search goes on until there are some, and then finds the processes", async () => {
  const mark = createMark();
  const search = spawn(process.execPath, ["--input-type=module", "-e", SEARCH, mark], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  onTestFinished(() => void search.kill("SIGKILL"));
  const lines: string[] = [];
  createInterface(search.stdout).on("line", (line) => lines.push(line));
  await waitUntil("the program", () => lines.includes("ready"));
  const orphan = spawn("sleep", ["1000"], { env: { SIGNALBOX_RUN: mark, TEST_MARK: mark }, stdio: "ignore" });
  const limitDescriptors = (soft: number) =>
    execFileSync("prlimit", [`--pid=${search.pid}`, `--nofile=${soft}:`]);
  limitDescriptors(3);
  search.stdin.write("go\n");
  await waitUntil("scans enough for a result", () => lines.filter((line) => line === "pause").length > 60);
  limitDescriptors(1_000);
  await once(orphan, "exit");
  await waitUntil("the end of the search", () => lines.includes("over"));
  await waitUntilDead(mark, 1_000);
});
