/** The package for rpm, in a bare root. No Fedora is at hand: the root is a Debian, whose programs the scripts find too. */
import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { BareRoot, OWN_ARCHITECTURE } from "../../fixtures/packages/bare-root.ts";
import { explainNoBareRoot, hasProgram } from "../../fixtures/packages/requirements.ts";
import manifest from "../../package.json" with { type: "json" };

const SUITE = process.env.DEBIAN_SUITE || "bookworm";
const CPU = OWN_ARCHITECTURE === "arm64" ? "aarch64" : "x86_64";
const obstacle =
  explainNoBareRoot() ?? (hasProgram("rpmbuild") ? undefined : "needs rpmbuild (apt-get install rpm)");

describe.skipIf(obstacle !== undefined)(`rpm package${obstacle ? ` (${obstacle})` : ""}`, () => {
  let root: BareRoot;
  beforeAll(async () => {
    root = await BareRoot.create(SUITE, OWN_ARCHITECTURE);
  });
  afterAll(() => root?.close());

  const findFile = () =>
    globSync(join(inject("packages"), `signalbox-${manifest.version}-1.${CPU}.rpm`))[0] ?? "none";
  const query = (...words: string[]) =>
    execFileSync("rpm", ["--query", "--package", ...words, findFile()], { encoding: "utf8" });
  const rpm = (...words: string[]) =>
    execFileSync("rpm", ["--root", root.folder, ...words], { stdio: "pipe" });

  test("names what it is, and needs nothing that rpm has found by itself", () => {
    expect(query("--queryformat", "%{NAME} %{VERSION} %{ARCH} %{LICENSE}")).toBe(
      `signalbox ${manifest.version} ${CPU} MIT`,
    );
    const needed = query("--requires").trim().split("\n");
    expect(
      needed.filter((one) => !/^(rpmlib\(.*|\/bin\/sh$|glibc |libstdc\+\+ |shadow-utils$)/.test(one)),
    ).toEqual([]);
  });

  test("has the files of the Debian package", () => {
    const [deb = "none"] = globSync(join(inject("packages"), `*_${OWN_ARCHITECTURE}.deb`));
    const debian = execFileSync("sh", ["-c", 'dpkg-deb --fsys-tarfile "$1" | tar -t', "sh", deb], {
      encoding: "utf8",
    });
    const files = debian.split("\n").filter((path) => path !== "" && !path.endsWith("/"));
    const folders = execFileSync("sh", ["-c", 'rpm -qplv "$1" | grep ^d', "sh", findFile()], {
      encoding: "utf8",
    });
    const own = folders
      .trim()
      .split("\n")
      .map((line) => line.replace(/^[^/]*/, ""));
    const listed = query("--list").trim().split("\n");
    expect(listed.filter((path) => !own.includes(path)).sort()).toEqual(
      files.map((path) => path.slice(1)).sort(),
    );
  });

  test("is installed, runs a job, and is installed over itself", () => {
    for (const how of [["--install"], ["--upgrade", "--force"]]) {
      rpm(...how, "--nodeps", findFile());
      root.require("signalbox init && signalbox run --lock job -- true");
      expect(root.require("stat -c '%U %a' /var/lib/signalbox")).toBe("signalbox 755\n");
    }
  });

  test("when it is removed, what the administrator has changed and the user stay, and nothing else", () => {
    root.require("echo 'concurrency: 8' >>/etc/signalbox/worker.yaml");
    rpm("--erase", "signalbox");
    const left = root.require(
      "find / -xdev -path /proc -prune -o -path /root -prune -o -name '*signalbox*' -print",
    );
    expect(left.trim().split("\n").sort()).toEqual(["/etc/signalbox", "/var/lib/signalbox-clusters"]);
    expect(root.require("ls /etc/signalbox")).toBe("worker.yaml.rpmsave\n");
    expect(root.require("id -un signalbox")).toBe("signalbox\n");
  });
});
