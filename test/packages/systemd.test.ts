/** The units of the Debian package under systemd, as the first process of a Debian in namespaces. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { BareRoot, OWN_ARCHITECTURE } from "../../fixtures/packages/bare-root.ts";
import { explainNoBareRoot } from "../../fixtures/packages/requirements.ts";
import type { ProcessResult } from "../../fixtures/signalbox.ts";

const obstacle = explainNoBareRoot();
const SUITE = process.env.DEBIAN_SUITE || "bookworm";
const AGENT = "signalbox-agent.service";
const SOCKET = "signalbox-agent.socket";

describe.skipIf(obstacle !== undefined)(`units of systemd${obstacle ? ` (${obstacle})` : ""}`, () => {
  let root: BareRoot;
  let job: Promise<ProcessResult>;
  beforeAll(async () => {
    root = await BareRoot.boot(SUITE);
    install();
  });
  afterAll(() => root?.close());

  function install() {
    const folder = inject("packages");
    const [name = "none"] = readdirSync(folder).filter((one) => one.endsWith(`_${OWN_ARCHITECTURE}.deb`));
    root.require(`dpkg --install ${root.addFile(join(folder, name))}`);
  }

  function readProperty(unit: string, name: string) {
    return root.require(`systemctl show --property ${name} --value ${unit}`).trim();
  }

  function waitForNewAgent(pid: string) {
    root.require(
      `until systemctl is-active --quiet ${AGENT} && [ $(systemctl show -p MainPID --value ${AGENT}) != ${pid} ]; do sleep 0.1; done`,
    );
  }

  /** Reads whether a unit is started with the host, and whether it is started. */
  function readState(unit: string) {
    return ["is-enabled", "is-active"].map((verb) => root.run(`systemctl ${verb} ${unit}`).stdout.trim());
  }

  test("the installation enables and starts the agent's socket, and no other unit", () => {
    expect(readState(SOCKET)).toEqual(["enabled", "active"]);
    for (const unit of [AGENT, "signalbox-worker", "signalbox-serve"])
      expect(readState(unit)).toEqual(["disabled", "inactive"]);
  });

  test("the first call starts the agent", () => {
    const { code, stderr } = root.run("signalbox run --agent always --lock a -- sh -c 'exit 3'");
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    expect(readProperty(AGENT, "ActiveState")).toBe("active");
  });

  test("the agent finds nothing wrong in its sandbox, goes before jobs, and reports what it does", () => {
    root.require(`until systemctl show -p StatusText ${AGENT} | grep '1 served before'; do sleep 0.1; done`);
    expect(root.require(`journalctl --unit ${AGENT} --output cat`)).not.toMatch(/warn|error/i);
    expect(readProperty(AGENT, "CPUWeight")).toBe("1000");
  });

  test("the worker and the page become ready in their sandboxes", () => {
    root.require("systemctl enable --now signalbox-worker signalbox-serve");
    expect(root.run("systemctl is-active signalbox-worker signalbox-serve").stdout).toBe("active\nactive\n");
  });

  test.each([
    ["was killed", "KILL"],
    ["hangs", "STOP"],
  ])("systemd starts an agent that %s again, and its job goes on", (_, signal) => {
    if (job === undefined)
      job = root.start("mkfifo /run/go; signalbox run --agent always --lock b -- cat /run/go");
    root.require(
      "until signalbox run --agent never --lock b --busy-exit-code 9 -- true; [ $? = 9 ]; do sleep 0.1; done",
    );
    const pid = readProperty(AGENT, "MainPID");
    root.require(`systemctl kill --signal=${signal} --kill-who=main ${AGENT}`);
    waitForNewAgent(pid);
    expect(root.run("signalbox run --agent always --lock b -- true").code).toBe(75);
  });

  test("an upgrade restarts the services, and the job goes on", async () => {
    const [agent, worker] = [readProperty(AGENT, "MainPID"), readProperty("signalbox-worker", "MainPID")];
    install();
    waitForNewAgent(agent);
    root.require(
      `until [ $(systemctl show -p MainPID --value signalbox-worker) != ${worker} ]; do sleep 0.1; done`,
    );
    // Until the job's launcher has found the new agent; its end would otherwise be left to the session's time to live.
    root.require(`until systemctl show -p StatusText ${AGENT} | grep -q '=1 calls'; do sleep 0.1; done`);
    root.require("echo finished >/run/go");
    expect(await job).toMatchObject({ code: 0, stdout: "finished\n", stderr: "" });
  });

  test("a service as docs/systemd.md has it is active on one host, and on the next one when it is killed or restarted", () => {
    const docs = readFileSync(resolve(import.meta.dirname, "../../docs/systemd.md"), "utf8");
    const [, unit = ""] = /```ini\n(.*?)```/s.exec(docs) ?? [];
    root.require(
      "printf '#!/bin/sh\\nsystemd-notify --ready; exec sleep 1000\\n' >/usr/bin/mydaemon; chmod +x /usr/bin/mydaemon",
    );
    for (const host of ["one", "two"])
      root.require(`cat >/etc/systemd/system/${host}.service <<'END'\n${unit}END`);
    const waitUntilActive = (active: string, waiting: string) =>
      root.require(
        `until [ "$(systemctl is-active ${active} ${waiting} | xargs)" = "active activating" ]; do sleep 0.1; done`,
      );
    root.require("systemctl daemon-reload; systemctl start --no-block one");
    root.require("until [ $(systemctl is-active one) = active ]; do sleep 0.1; done");
    root.require("systemctl start --no-block two");
    waitUntilActive("one", "two");
    root.require("systemctl kill --signal=KILL one");
    waitUntilActive("two", "one");
    root.require("until signalbox show lock mydaemon | grep -q waiting; do sleep 0.1; done");
    root.require("systemctl restart --no-block two");
    waitUntilActive("one", "two");
    root.require("systemctl stop one two");
  });

  test("an agent that cannot start is started once for a call, and the call falls back", () => {
    root.require(`systemctl stop ${AGENT} 2>&1 && echo '{' >/etc/signalbox/config.json`);
    const { code, stderr } = root.run("signalbox run --agent always --lock a -- true");
    expect({ code, stderr }).toEqual({
      code: 69,
      stderr: expect.stringContaining("has ended the connection"),
    });
    root.require(`until [ $(systemctl is-active ${AGENT}) = failed ]; do sleep 0.1; done`);
    root.require("rm /etc/signalbox/config.json && signalbox run --agent always --lock a -- true");
  });

  test("a socket that the administrator has disabled stays so when the package is upgraded, or removed and installed", () => {
    root.require(`systemctl disable --now ${SOCKET} ${AGENT}`);
    install();
    expect(readState(SOCKET)).toEqual(["disabled", "inactive"]);
    root.require("dpkg --remove signalbox");
    install();
    expect(readState(SOCKET)).toEqual(["disabled", "inactive"]);
  });

  test("a socket that is enabled is enabled and started again after the package was removed", () => {
    root.require(`systemctl enable --now ${SOCKET}`);
    root.require("signalbox run --agent always --lock a -- true");
    root.require("dpkg --remove signalbox");
    expect(root.require("systemctl list-units --no-legend 'signalbox*'")).toBe("");
    install();
    expect(readState(SOCKET)).toEqual(["enabled", "active"]);
  });

  test("a purge stops and removes all units, and what is known of them", () => {
    root.require("dpkg --purge signalbox");
    expect(root.require("systemctl list-units --all --no-legend 'signalbox*'")).toBe("");
    expect(root.run("ls /run/signalbox").stdout).toBe("");
    expect(root.require("find /etc/systemd /var/lib/systemd -name 'signalbox*'")).toBe("");
  });
});
