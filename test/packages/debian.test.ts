/** The Debian package on a host with nothing but Debian: no network, no Node.js, no compiler. */
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { BareRoot, OWN_ARCHITECTURE } from "../../fixtures/packages/bare-root.ts";
import { OLD_VERSION } from "../../fixtures/packages/build-packages.ts";
import { explainNoBareRoot, explainNoEmulation } from "../../fixtures/packages/requirements.ts";
import type { ProcessResult } from "../../fixtures/signalbox.ts";
import manifest from "../../package.json" with { type: "json" };
import { EXIT } from "../../src/core/base/errors.ts";

const EMULATED = OWN_ARCHITECTURE === "amd64" ? "arm64" : "amd64";
const TARGETS = [
  { architecture: OWN_ARCHITECTURE, obstacle: explainNoBareRoot() },
  { architecture: EMULATED, obstacle: explainNoEmulation() },
] as const;
const SOCKET_LINK = "/etc/systemd/system/sockets.target.wants/signalbox-agent.socket";
const SUITE = process.env.DEBIAN_SUITE || "bookworm";

/** @returns the path of the only package in a folder whose name ends so */
function findPackage(folder: string, ending: string) {
  const [name = "none"] = readdirSync(folder).filter((one) => one.endsWith(ending));
  return join(folder, name);
}

for (const { architecture, obstacle } of TARGETS)
  describe.skipIf(obstacle !== undefined)(
    `Debian package for ${architecture}${obstacle ? ` (${obstacle})` : ""}`,
    () => {
      const ending = `_${architecture}.deb`;
      let root: BareRoot;
      let before: Map<string, string>;
      beforeAll(async () => {
        root = await BareRoot.create(SUITE, architecture);
        before = root.describeFiles();
      });
      afterAll(() => root?.close());

      function listLinks() {
        const list = "find /etc/systemd/system -name 'signalbox*'"; // the folder is made with the first link
        return root.run(list).stdout.split("\n").filter(Boolean);
      }

      function startAgent() {
        void startHangable("agent", "signalbox agent 2>>/tmp/agent.log");
        root.require("until [ -S /run/signalbox/agent.sock ]; do sleep 0.1; done");
      }

      /** nsenter stops itself when its own child is stopped, and does not go on with it: so the program is a child of a shell. */
      function startHangable(name: string, line: string) {
        return root.start(`${line} & echo $! >/tmp/${name}.pid; wait $!`);
      }

      function stopAgent() {
        root.require(
          "kill $(cat /tmp/agent.pid); while kill -0 $(cat /tmp/agent.pid) 2>&-; do sleep 0.1; done",
        );
      }

      test("the host has no Node.js, no compiler and no network", () => {
        expect(root.run("command -v node npm cc gcc").stdout).toBe("");
        expect(root.run("cat /proc/net/route").stdout.trim().split("\n")).toHaveLength(1); // only the title
      });

      test("installs, and enables no unit but the agent's socket", () => {
        root.require(`dpkg --install ${root.addFile(findPackage(inject("oldPackages"), ending))}`);
        expect(root.require("signalbox --version")).toBe(`signalbox ${OLD_VERSION}\n`);
        expect(root.require("id -un signalbox")).toBe("signalbox\n");
        expect(root.require("stat -c '%U %a' /var/lib/signalbox")).toBe("signalbox 755\n");
        expect(listLinks()).toEqual([SOCKET_LINK]);
      });

      test("finds nothing wrong with the host", () => {
        expect(root.require("signalbox init")).toMatch(/^ok +guardian: it starts/m);
      });

      test("runs a locked job", () => {
        const { code, stdout } = root.run(`signalbox run --lock job -- sh -c 'echo "$SIGNALBOX_TOKEN"'`);
        expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\n$/) });
        expect(root.run("signalbox run --lock job -- sh -c 'exit 3'").code).toBe(3);
        expect(root.require("signalbox ls history job --json")).toContain('"job"');
      });

      test("a guardian ends its command when the run hangs", async () => {
        const run = startHangable("run", renderEndlessRun("never"));
        await expectEndWhenStopped("/tmp/run.pid", run);
      });

      test("a launcher ends its command when the agent hangs", async () => {
        startAgent();
        await expectEndWhenStopped("/tmp/agent.pid", root.start(renderEndlessRun("always")));
        stopAgent();
      });

      function renderEndlessRun(agent: string) {
        return `signalbox run --agent ${agent} --ttl 10s --termination-timeout 1s --lock endless -- sh -c 'echo $$ >/tmp/endless; exec sleep 999'`;
      }

      /** Stops a process until the command of the run has ended. @param file  the process's id */
      async function expectEndWhenStopped(file: string, run: Promise<ProcessResult>) {
        root.require("until [ -s /tmp/endless ]; do sleep 0.1; done");
        root.require(`kill -STOP $(cat ${file})`);
        root.require("while kill -0 $(cat /tmp/endless) 2>&-; do sleep 0.1; done; rm /tmp/endless");
        root.require(`kill -CONT $(cat ${file})`);
        expect(await run).toMatchObject({ code: EXIT.lost });
      }

      test("uses gRPC, and links named after other tools", () => {
        root.require("signalbox run --transport grpc --lock job -- true");
        root.require("ln -s /usr/bin/signalbox /tmp/golock && /tmp/golock --help >/dev/null");
      });

      test("shows the console", async () => {
        expect(root.require("signalbox console --once --view locks --size 100x30")).toContain("job");
        expect(await root.typeInto("signalbox", "job", "q")).toMatchObject({ code: 0 });
      });

      test("has a manual page, and completion", () => {
        expect(root.require("MANWIDTH=100 man signalbox")).toMatch(/^NAME\n +signalbox/m);
        expect(root.require("MANWIDTH=100 man signalbox-schedule-add")).toMatch(
          /^NAME\n +signalbox-schedule-add/m,
        );
        const complete = "source /usr/share/bash-completion/completions/signalbox && complete -p signalbox";
        expect(root.require(`bash -c '${complete}'`)).toMatch(/^complete .*signalbox$/m);
      });

      test("has the maintenance scripts: they freeze, thaw, evacuate and go from host to host", () => {
        const folder = "/usr/lib/signalbox/maintenance";
        root.require(`${folder}/freeze.mjs --timeout 1m`);
        expect(root.run("signalbox run --lock job -- true").code).toBe(75);
        root.require(`${folder}/thaw.mjs && signalbox run --lock job -- true`);
        root.require("signalbox resource set db 2 --yes && signalbox group set web web1 web2 --yes");
        expect(root.require(`${folder}/evacuate.mjs db -- 'echo "$RESOURCE"'`)).toBe("db\n");
        expect(root.require(`${folder}/rolling.mjs web -- 'echo "$HOST"'`)).toBe("web1\nweb2\n");
      });

      test("its configuration of logrotate is valid, and rotates what a run logs", () => {
        root.require("signalbox run -v --log-file /var/log/signalbox/run.log --lock job -- true");
        root.require("logrotate --state /tmp/logrotate.state --force /etc/logrotate.d/signalbox");
        expect(root.require("stat -c %s /var/log/signalbox/run.log /var/log/signalbox/run.log.1")).toMatch(
          /^0\n[1-9]\d*\n$/,
        );
        root.require("rm /var/log/signalbox/run.log*");
      });

      test("runs a job through an agent, without systemd", () => {
        startAgent();
        root.require("test -f /usr/lib/systemd/system/signalbox-agent.socket");
        const { code, stdout } = root.run(
          `signalbox run --agent always --lock job -- sh -c 'echo "$SIGNALBOX_TOKEN"; exit 3'`,
        );
        expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(/^\d+\n$/) });
        root.require("ln -s /usr/bin/signalbox /tmp/zoo-locked && /tmp/zoo-locked --help >/dev/null");
        stopAgent();
      });

      test("is upgraded while one job runs and one waits: both end as usual", async () => {
        root.require("mkfifo /tmp/go");
        const job = root.start("signalbox run --lock long -- sh -c 'echo $$ >/tmp/up; cat /tmp/go'");
        root.require("until [ -s /tmp/up ]; do sleep 0.1; done");
        const next = root.start("signalbox run --lock long --wait -- echo next");
        root.require("until signalbox ls queues | grep -q waiting; do sleep 0.1; done");
        root.require(`dpkg --install ${root.addFile(findPackage(inject("packages"), ending))}`);
        expect(root.require("signalbox --version")).toBe(`signalbox ${manifest.version}\n`);
        expect(root.run("signalbox run --lock long -- true").code).toBe(75);
        root.require("echo finished >/tmp/go");
        expect(await job).toMatchObject({ code: 0, stdout: "finished\n", stderr: "" });
        expect(await next).toMatchObject({ code: 0, stdout: "next\n", stderr: "" });
        root.require("signalbox run --lock long -- true");
      });

      test("a job of an agent goes on when the package is upgraded and the agent is restarted", async () => {
        root.require(`dpkg --install ${root.addFile(findPackage(inject("oldPackages"), ending))}`);
        startAgent();
        root.require("mkfifo /tmp/go-agent");
        const script = "echo $$ >/tmp/up-agent; cat /tmp/go-agent";
        const job = root.start(`signalbox run --agent always --lock served -- sh -c '${script}'`);
        root.require("until [ -s /tmp/up-agent ]; do sleep 0.1; done");
        root.require(`dpkg --install ${root.addFile(findPackage(inject("packages"), ending))}`);
        stopAgent();
        startAgent();
        expect(root.run("signalbox run --agent always --lock served -- true").code).toBe(75);
        root.require("echo finished >/tmp/go-agent");
        expect(await job).toMatchObject({ code: 0, stdout: "finished\n", stderr: "" });
        root.require("signalbox run --agent always --lock served -- true");
      });

      test("keeps its configuration when it is removed, and leaves nothing when it is purged, also with an agent", () => {
        root.require("echo 'concurrency: 8' >>/etc/signalbox/worker.yaml; echo >/var/log/signalbox/run.log");
        root.require("dpkg --remove signalbox");
        expect(root.run("command -v signalbox; ls /usr/lib/signalbox").stdout).toBe("");
        expect(root.require("tail -1 /etc/signalbox/worker.yaml")).toBe("concurrency: 8\n");
        root.require("dpkg --purge signalbox");
        expect(root.run("test -e /run/signalbox").code).toBe(1);
        stopAgent(); // without systemd, the package cannot stop it
        expect(root.run("test -e /run/signalbox").code).toBe(1);
        expect(listDifferences(before, root.describeFiles())).toEqual([]);
      });
    },
  );

test.skipIf(explainNoBareRoot() !== undefined)("the tarball has the files of the Debian package", () => {
  const folder = inject("packages");
  const tarball = execFileSync("tar", ["-tf", findPackage(folder, `-linux-${OWN_ARCHITECTURE}.tar.gz`)], {
    encoding: "utf8",
  });
  const debian = execFileSync(
    "sh",
    ["-c", 'dpkg-deb --fsys-tarfile "$1" | tar -t', "sh", findPackage(folder, `_${OWN_ARCHITECTURE}.deb`)],
    {
      encoding: "utf8",
    },
  );
  const list = (text: string) =>
    text
      .split("\n")
      .map((path) => path.replace(/^\.\//, ""))
      .filter(Boolean);
  expect(list(tarball).sort()).toEqual(list(debian).sort());
});

/** @returns the paths that were added, removed or changed */
function listDifferences(before: Map<string, string>, after: Map<string, string>) {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths.filter((path) => before.get(path) !== after.get(path));
}
