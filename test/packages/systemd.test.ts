/** The units of the Debian package under systemd, as the first process of a Debian in namespaces. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { ProcessResult } from "../../fixtures/signalbox.ts";
import { BareRoot, OWN_ARCHITECTURE } from "./bare-root.ts";
import { explainNoBareRoot } from "./requirements.ts";

const obstacle = explainNoBareRoot();
const SUITE = process.env.DEBIAN_SUITE || "bookworm";
const AGENT = "signalbox-agent.service";

describe.skipIf(obstacle !== undefined)(`units of systemd${obstacle ? ` (${obstacle})` : ""}`, () => {
  let root: BareRoot;
  let job: Promise<ProcessResult>;
  beforeAll(async () => {
    root = await BareRoot.boot(SUITE);
    install();
  });
  afterAll(() => root?.close());

  function install(): void {
    const folder = inject("packages");
    const [name = "none"] = readdirSync(folder).filter((one) => one.endsWith(`_${OWN_ARCHITECTURE}.deb`));
    root.require(`dpkg --install ${root.addFile(join(folder, name))}`);
  }

  function readProperty(unit: string, name: string): string {
    return root.require(`systemctl show --property ${name} --value ${unit}`).trim();
  }

  function waitForNewAgent(pid: string): void {
    root.require(
      `until systemctl is-active --quiet ${AGENT} && [ $(systemctl show -p MainPID --value ${AGENT}) != ${pid} ]; do sleep 0.1; done`,
    );
  }

  test("the installation starts no unit", () => {
    const units = "signalbox-agent.socket signalbox-agent signalbox-worker signalbox-exporter";
    expect(root.run(`systemctl is-active ${units}`).stdout).toBe("inactive\n".repeat(4));
  });

  test("the first call starts the agent", () => {
    root.require("systemctl enable --now signalbox-agent.socket");
    expect(readProperty(AGENT, "ActiveState")).toBe("inactive");
    const { code, stderr } = root.run("signalbox run --agent always --lock a -- sh -c 'exit 3'");
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    expect(readProperty(AGENT, "ActiveState")).toBe("active");
  });

  test("the agent finds nothing wrong in its sandbox, goes before jobs, and reports what it does", () => {
    root.require(`until systemctl show -p StatusText ${AGENT} | grep '1 served before'; do sleep 0.1; done`);
    expect(root.require(`journalctl --unit ${AGENT} --output cat`)).not.toMatch(/warn|error/i);
    expect(readProperty(AGENT, "CPUWeight")).toBe("1000");
  });

  test("the worker and the exporter become ready in their sandboxes", () => {
    root.require("systemctl enable --now signalbox-worker signalbox-exporter");
    expect(root.run("systemctl is-active signalbox-worker signalbox-exporter").stdout).toBe(
      "active\nactive\n",
    );
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

  test("a purge stops and removes all units", () => {
    root.require("dpkg --purge signalbox");
    expect(root.require("systemctl list-units --all --no-legend 'signalbox*'")).toBe("");
    expect(root.run("ls /run/signalbox /etc/systemd/system/*/signalbox*").stdout).toBe("");
  });
});
