/** The image of `containers/Containerfile`, and the site of `containers/compose.yaml`. */
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ContainerSite, explainNoSite, getContainer } from "../../fixtures/packages/container-site.ts";

const obstacle = explainNoSite();
const DEBIAN_SUITE = process.env.DEBIAN_SUITE || "bookworm";
const PAGE = "http://127.0.0.1:9465";

describe.skipIf(obstacle !== undefined)(`the image${obstacle ? ` (${obstacle})` : ""}`, () => {
  let site: ContainerSite;
  beforeAll(async () => {
    site = await ContainerSite.create(DEBIAN_SUITE, inject("packages"));
    await site.waitFor(
      "the workers",
      `podman exec ${getContainer("worker1")} signalbox ls workers --json | grep worker2`,
    );
  });
  afterAll(() => site?.close());

  test("is signalbox for its own user, and a worker without words", () => {
    const { User, Entrypoint, Cmd } = JSON.parse(
      site.require("podman image inspect localhost/signalbox --format '{{json .Config}}'"),
    );
    expect({ User, Entrypoint, Cmd }).toEqual({
      User: "signalbox",
      Entrypoint: ["signalbox"],
      Cmd: ["worker"],
    });
    expect(site.require(`podman exec ${getContainer("worker1")} id -un`)).toBe("signalbox\n");
    expect(site.require("podman run --rm localhost/signalbox --version")).toMatch(/^signalbox \d/);
  });

  test("a run in a container ends with the code of its job, which has the lock", () => {
    const options = "--network site_default --env SIGNALBOX_ENDPOINTS=http://etcd1:2379";
    const job = "run --lock job -- sh -c 'echo $SIGNALBOX_TOKEN; exit 3'";
    const { code, stdout } = site.run(`podman run --rm ${options} localhost/signalbox ${job}`);
    expect({ code, stdout }).toEqual({ code: 3, stdout: expect.stringMatching(/^\d+\n$/) });
  });

  test("the page answers at its published port, and shows both workers", () => {
    const page = site.require(`curl --silent --show-error --fail ${PAGE}/workers`);
    for (const name of ["worker1", "worker2"]) expect(page).toContain(name);
  });

  test("its workers run schedules, also without one of three members of etcd", async () => {
    site.signalbox("worker1", "schedule at now --id hello -- echo hello");
    await site.waitFor("a run", searchHistory("hello state:ok"));
    site.require(`podman kill ${getContainer("etcd2")}`);
    site.signalbox("worker1", "schedule at now --id later -- echo later");
    await site.waitFor("a run without one member", searchHistory("later state:ok"));
  });

  test("a stopped worker, a first process, lets its task end, and leaves with 0", async () => {
    const [task, other] = ["worker2", "worker1"].map(getContainer);
    site.require(`podman stop --time 60 ${other}`);
    const script = "touch /tmp/started; sleep 3; echo done";
    site.signalbox("worker2", `schedule at now --id slow -- sh -c '${script}'`);
    await site.waitFor("the task", `podman exec ${task} test -e /tmp/started`);
    site.require(`podman stop --time 60 ${task}`);
    expect(site.require(`podman inspect ${task} --format '{{.State.ExitCode}}'`)).toBe("0\n");
    site.require(`podman start ${other}`);
    await site.waitFor("its end", searchHistory("slow state:ok"));
  });
});

/** @returns the line of shell that succeeds once the history has such a run */
function searchHistory(filter: string): string {
  return `podman exec ${getContainer("worker1")} signalbox ls history ${filter} --json | grep -q '"exit": *0'`;
}
