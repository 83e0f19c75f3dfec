/** docs/systemd: systemd and signalbox accept the units. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { ALL_COMMANDS } from "../../../src/bin/commands.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import { EXIT } from "../../../src/core/base/errors.ts";
import { readWorkerFile } from "../../../src/worker/file/worker-file.ts";

const FOLDER = resolve(import.meta.dirname, "../../../docs/systemd");
const units = readdirSync(FOLDER).filter((name) => name.endsWith(".service"));
const sockets = readdirSync(FOLDER).filter((name) => name.endsWith(".socket"));
const textOf = (name: string) => readFileSync(join(FOLDER, name), "utf8");

/** Values by `Section.Key`. */
function settingsOf(name: string): Record<string, string> {
  const settings: Record<string, string> = {};
  let section = "";
  for (const line of textOf(name).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const [, head] = /^\[(Unit|Service|Socket|Install)\]$/.exec(line) ?? [];
    const [, key, value] = /^([A-Z][A-Za-z]+)=(.*)$/.exec(line) ?? [];
    section = head ?? section;
    if (head === undefined && key === undefined) throw new Error(`${name}: ${line} is no line of a unit`);
    if (key !== undefined) settings[`${section}.${key}`] = value ?? "";
  }
  return settings;
}

test("there are units for an agent, a worker and the page", () => {
  expect(units.sort()).toEqual(["agent", "serve", "worker"].map((name) => `signalbox-${name}.service`));
});

test.each(units)("%s starts a command that there is, with flags that it has", (name) => {
  const [program, id = "", ...args] = (settingsOf(name)["Service.ExecStart"] ?? "").split(" ");
  expect(program).toBe("/usr/bin/signalbox");
  const command = ALL_COMMANDS.find((one) => one.id === id);
  if (command === undefined) throw new Error(`there is no command ${id}`);
  expect(() => parseCall(command, args)).not.toThrow();
});

test.each(units)("%s is started again but for what that does not mend, and told by the messenger", (name) => {
  const settings = settingsOf(name);
  const { usage, permission, config } = EXIT;
  expect(settings).toMatchObject({
    "Service.RestartPreventExitStatus": [usage, permission, config].join(" "),
    "Service.Type": "notify",
    "Service.NotifyAccess": "all",
    ...(name.includes("worker") && { "Service.KillMode": "mixed" }),
  });
  expect(Object.keys(settings)).not.toContain("Service.MemoryDenyWriteExecute"); // Node.js would not start
});

test("the agent finds its socket and its key after a restart, and can look at the processes of all users", () => {
  const settings = settingsOf("signalbox-agent.service");
  expect(settings).toMatchObject({
    "Service.RuntimeDirectory": "signalbox",
    "Service.RuntimeDirectoryPreserve": "yes",
    "Service.ProtectHome": "read-only",
  });
  for (const hidden of ["ProtectProc", "ProcSubset", "PrivatePIDs", "PrivateTmp", "ProtectControlGroups"])
    expect(Object.keys(settings)).not.toContain(`Service.${hidden}`);
  expect(sockets).toEqual(["signalbox-agent.socket"]);
  expect(settingsOf("signalbox-agent.socket")).toMatchObject({
    "Socket.ListenStream": "/run/signalbox/agent.sock",
    "Socket.SocketMode": "0666",
    "Socket.DirectoryMode": "0755",
  });
});

test("as packaged, the worker has a sandbox and runs no commands of schedules, and only this host reaches the exporter", () => {
  const settings = settingsOf("signalbox-worker.service");
  expect(settings).toMatchObject({ "Service.ProtectSystem": "strict", "Service.NoNewPrivileges": "yes" });
  expect(Object.keys(settings)).not.toContain("Service.LoadCredential"); // systemd starts no unit whose file is missing
  const file = resolve(FOLDER, "../../scripts/package/debian/worker.yaml");
  expect(readWorkerFile(file)).toMatchObject({ commands: false, handlers: [] });
  expect(settingsOf("signalbox-exporter.service")["Service.ExecStart"]).toMatch(" --listen 127.0.0.1:");
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.runIf(hasSystemd)("systemd finds no fault with them", () => {
  const folder = createTestFolder();
  const paths = [...units, ...sockets].map((name) => {
    const path = join(folder, name);
    writeFileSync(path, textOf(name).replaceAll("/usr/bin/signalbox", "/bin/true")); // it looks whether that is there
    return path;
  });
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", ...paths], {
    encoding: "utf8",
  });
  const said = stderr.split("\n").filter((line) => line.includes("signalbox-"));
  expect([status, said]).toEqual([0, []]);
});
