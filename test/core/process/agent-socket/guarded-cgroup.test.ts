import { chownSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { createFolder } from "../../../../fixtures/process/agent-socket.ts";
import { findWritableCgroup } from "../../../../fixtures/process/guarded-processes.ts";
import { findGuardedCgroup } from "../../../../src/core/process/agent-socket/launched-command.ts";
import { CommandCgroup } from "../../../../src/core/process/guarded-command/cgroup.ts";

const NAME = `signalbox-run-${process.pid}-f00`;
const own = process.getuid?.() ?? -1;

const home = findWritableCgroup();

test.runIf(home)("the cgroup of a command is found, if it belongs to the guardian's user", () => {
  const path = `${home}/${NAME}`;
  mkdirSync(path);
  onTestFinished(() => rmdirSync(path));
  const find = (uid: number) => findGuardedCgroup(path, process.pid, uid);
  expect([find(own), find(12_345)]).toEqual([path, ""]);
  if (own !== 0) return;
  chownSync(path, 12_345, 12_345);
  expect([find(own), find(12_345)]).toEqual(["", path]);
});

test.runIf(home)("other cgroups are refused, and paths that lead elsewhere", () => {
  const [path, nested] = [`${home}/${NAME}`, `${home}/other-${process.pid}`];
  for (const folder of [path, nested, `${nested}/${NAME}`]) {
    mkdirSync(folder);
    onTestFinished(() => rmdirSync(folder));
  }
  for (const foreign of [
    nested,
    `${nested}/${NAME}`,
    `${home}/../${NAME}`,
    `${home}/x/../${NAME}`,
    `${home}//${NAME}`,
    `${path}/`,
    `${path}/.`,
    `${path}\0`,
    `${home}`,
    "",
    "/",
    NAME,
  ])
    expect(findGuardedCgroup(foreign, process.pid, own), JSON.stringify(foreign)).toBe("");
  expect(findGuardedCgroup(path, -1, own)).toBe("");
});

test("a directory that is no cgroup is refused", () => {
  const folder = createFolder();
  mkdirSync(`${folder}/${NAME}`);
  expect(findGuardedCgroup(`${folder}/${NAME}`, process.pid, own)).toBe("");
});

test("a cgroup that meanwhile belongs to another user is neither read nor killed", () => {
  const folder = createFolder(); // an ordinary directory shows what is written
  const foreign = new CommandCgroup(folder, own + 1);
  foreign.kill();
  foreign.remove();
  expect(() => readFileSync(`${folder}/cgroup.kill`)).toThrow("ENOENT");
  new CommandCgroup(folder, own).kill();
  expect(readFileSync(`${folder}/cgroup.kill`, "utf8")).toBe("1");
});
