import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  buildUsersScript,
  computeClusterId,
} from "../../../../../src/cli/commands/configure/setup-etcd-scripts.ts";

const PAGE = readFileSync(new URL("../../../../../docs/etcd.md", import.meta.url), "utf8");

/** The commands for roles, with one space between words. The script repeats what etcd did not answer in time. */
function listRoleCommands(text: string) {
  const commands = text.replace(/^(call|grant) "role \S+" (?=etcdctl role )/gm, "");
  return [...commands.matchAll(/^etcdctl role .*$/gm)].map(([line]) => line.replace(/ +/g, " "));
}

test("the id of a cluster is the one that etcd computes", () => {
  // that of every etcd which was started without flags, see docs/etcd.md
  expect(computeClusterId(["http://localhost:2380"], "etcd-cluster")).toBe("cdf818194e3a8c32");
});

test("the order of the members does not change the id", () => {
  const peers = ["https://a:2380", "https://b:2380", "https://c:2380"];
  expect(computeClusterId(peers.toReversed(), "x")).toBe(computeClusterId(peers, "x"));
});

test("the roles are those of docs/etcd.md", () => {
  const script = buildUsersScript({ hosts: ["host1"], prefix: "/signalbox/" });
  // The page also has a role that a site makes for authors of its own.
  const page = listRoleCommands(PAGE).filter((command) => / signalbox-/.test(command));
  expect(listRoleCommands(script)).toEqual(page);
});

test("another prefix is protected instead, quoted for the shell", () => {
  const script = buildUsersScript({ hosts: ["host1"], prefix: "/team a/" });
  expect(script).toContain("signalbox-runner --prefix=true readwrite '/team a/locks/'\n");
  expect(script).not.toContain("/signalbox/");
});
